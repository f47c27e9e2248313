//! How many probes, validations and questions go on at a time.

use std::{fmt, thread::available_parallelism, time::Duration};

use crate::{
    laws::{Ledger, now},
    settings::CANARY_TIMEOUT,
};

/// What a pool does in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Crowd {
    Probes,
    Openings,
    /// For the addresses of a partition, or for the map.
    Questions,
}

impl Crowd {
    /// How many may go on at a time, one for each subject.
    fn cap(self) -> usize {
        match self {
            Self::Probes => 64,
            Self::Openings => available_parallelism().map_or(1, usize::from),
            Self::Questions => usize::MAX,
        }
    }
}

impl Ledger {
    pub(crate) fn questions_under_way(&self) -> usize {
        self.book().crowds.get(&Crowd::Questions).map_or(0, Vec::len)
    }

    /// One more of them.
    pub(crate) fn enter(&self, crowd: Crowd, subject: impl fmt::Display) -> Leaves {
        let subject = subject.to_string();
        self.write(format_args!("{crowd:?} {subject}"));
        let now = now();
        let (twice, most) = {
            let mut book = self.book();
            match crowd {
                Crowd::Probes => book.sums.probes += 1,
                Crowd::Openings => book.sums.openings += 1,
                Crowd::Questions => {}
            }
            let all = book.crowds.entry(crowd).or_default();
            // A probe past its time has been aborted, but may be dropped a little after the next one has begun.
            let live =
                |(_, since): &&(String, Duration)| crowd != Crowd::Probes || *since + CANARY_TIMEOUT > now;
            let twice = all.iter().filter(live).any(|(other, _)| *other == subject);
            let most = all.iter().filter(live).count() + 1;
            all.push((subject.clone(), now));
            (twice, most)
        };
        if twice || most > crowd.cap() {
            self.breaks(
                "probes, validations and refreshes stay under their caps",
                format_args!("{crowd:?} of {subject}"),
            );
        }
        Leaves { ledger: self.clone(), crowd, began: (subject, now) }
    }
}

/// One of a crowd, until it is dropped.
pub(crate) struct Leaves {
    ledger: Ledger,
    crowd: Crowd,
    began: (String, Duration),
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let mut book = self.ledger.book();
        let subjects = book.crowds.entry(self.crowd).or_default();
        if let Some(at) = subjects.iter().position(|began| *began == self.began) {
            subjects.swap_remove(at);
        }
    }
}
