//! How many probes, validations and questions go on at a time.

use std::{thread::available_parallelism, time::Duration};

use crate::{
    laws::{Ledger, now},
    settings::CANARY_TIMEOUT,
    truth::Node,
};

/// What a pool does in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Crowd {
    Probes,
    Openings,
    Questions,
}

impl Crowd {
    /// How many may go on at a time.
    fn cap(self) -> usize {
        match self {
            Self::Probes => 64,
            Self::Openings => available_parallelism().map_or(1, usize::from),
            Self::Questions => 1,
        }
    }
}

impl Ledger {
    /// One more of them.
    pub(crate) fn enter(&self, crowd: Crowd, node: Node) -> impl Drop + use<> {
        self.write(format_args!("{crowd:?} {node}"));
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
                |(_, since): &&(Node, Duration)| crowd != Crowd::Probes || *since + CANARY_TIMEOUT > now;
            let twice = all.iter().filter(live).any(|(other, _)| *other == node);
            let most = all.iter().filter(live).count() + 1;
            all.push((node, now));
            (twice, most)
        };
        if twice || most > crowd.cap() {
            self.breaks(
                "probes, validations and refreshes stay under their caps",
                format_args!("{crowd:?} of {node}"),
            );
        }
        Leaves { ledger: self.clone(), crowd, began: (node, now) }
    }
}

/// One of a crowd, until it is dropped.
struct Leaves {
    ledger: Ledger,
    crowd: Crowd,
    began: (Node, Duration),
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let mut book = self.ledger.book();
        let nodes = book.crowds.entry(self.crowd).or_default();
        if let Some(at) = nodes.iter().position(|began| *began == self.began) {
            nodes.swap_remove(at);
        }
    }
}
