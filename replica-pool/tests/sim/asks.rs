//! How often the gateway and the map are asked, and who is probed.

use std::time::Duration;

use crate::{
    laws::{Ledger, now},
    store::KEYS,
    truth::{Host, Node},
};

/// Nothing has happened for that long: whoever had a reason to ask has asked.
const QUIET: Duration = Duration::from_secs(300);
const MINUTE: Duration = Duration::from_secs(60);

/// Questions in a minute that bring nothing new: the pauses between them are at least 0.8, 1.6, 3.2, 6.4 and then 12 s, so that
/// nine fit; and once it was quiet for as long as the last pause, the short ones come again: four more.
const VAIN_IN_A_MINUTE: usize = 9 + 4;
/// A map that is newer makes the pauses short again.
const MORE_FOR_NEWS: usize = 4;

impl Ledger {
    pub(crate) fn asks_for_addresses(&self) {
        self.book().sums.questions += 1;
        if !self.settings().asks_by_itself() {
            self.is_asked_for_a_reason("addresses");
        }
    }

    pub(crate) fn asks_for_map(&self) {
        self.is_asked_for_a_reason("map");
        let now = now();
        let since = |at: &&Duration, span| **at + span > now;
        let (in_a_minute, all) = {
            let mut book = self.book();
            book.maps.push(now);
            (book.maps.iter().rev().take_while(|at| since(at, MINUTE)).count(), book.maps.clone())
        };
        let news = self.truth.lock().told_maps.iter().filter(|at| since(at, 2 * MINUTE)).count();
        if in_a_minute > VAIN_IN_A_MINUTE + MORE_FOR_NEWS * news {
            let how = format_args!("{in_a_minute} times in a minute, in which {news} were told");
            self.breaks("the map is asked for no more often than its pauses allow", how);
        }
        let Some(told) = self.sudden_news() else { return };
        let asked = all.iter().filter(|at| **at > told).count();
        if asked > 1 {
            let how = format_args!("{asked} times for that of {told:?}");
            self.breaks("a new map is fetched once", how);
        }
    }

    /// When the map changed last, if it was all of a sudden, a short while ago, and in a time in which nothing else was
    /// moving.
    fn sudden_news(&self) -> Option<Duration> {
        let (truth, now) = (self.truth.lock(), now());
        let (last, before) = truth.touches.split_last()?;
        let made = last.made.filter(|made| last.of_map && *made == last.from)?;
        let quiet = |since: Option<Duration>, span| since.is_some_and(|since| since + span <= made);
        let calm = (0..KEYS).all(|key| quiet(truth.told_since(key), MINUTE))
            && before.iter().all(|touch| quiet(touch.made, MINUTE))
            && [Host::Gateway, Host::Map].into_iter().all(|host| {
                quiet(truth.well_since(self.number(), host), self.settings().questions_settled())
            });
        (calm && now <= made + Duration::from_secs(10)).then_some(made)
    }

    fn is_asked_for_a_reason(&self, what: &str) {
        let quiet_since = self.truth.lock().quiet_since;
        // In a list, those behind the first that is well are asked late.
        if self.settings().shuffled && quiet_since + QUIET <= now() {
            let how = format_args!("the {what}, and nothing has happened since {quiet_since:?}");
            self.breaks("nobody is asked without a reason", how);
        }
    }

    pub(crate) fn probes(&self, node: Node) {
        let mut book = self.book();
        // A round of three probes may be under way.
        let is_gone = |left: &Duration| *left + self.settings().longest_round() < now();
        if let Some(left) = book.left.get(&node).copied().filter(is_gone) {
            book.strangers.push((node, left));
        }
    }

    /// Whoever was probed had better be in a set by now.
    pub(crate) fn check_strangers(&self) {
        let strangers = std::mem::take(&mut self.book().strangers);
        for (node, left) in strangers {
            // Unless it came back before it was seen there.
            if self.book().left.get(&node) == Some(&left) {
                self.breaks("who has left is probed no more", format_args!("{node} left at {left:?}"));
            }
        }
    }
}
