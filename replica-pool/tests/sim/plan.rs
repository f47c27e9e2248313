//! What goes wrong in a world, and when.

use std::time::Duration;

use fastrand::Rng;

use crate::truth::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Node(Node),
    Gateway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Connections are refused, packets of others are lost.
    Partition,
    /// Packets are kept, and come when it is over.
    Hold,
    /// Every packet takes that long.
    Lag(Duration),
    /// Nobody is there; afterwards the host starts anew.
    Crash,
    Mute,
    Fails,
    Slow(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// `client`: whose way to the target it is; of all of them if there is none.
    Begin {
        target: Target,
        fault: Fault,
        client: Option<usize>,
    },
    End {
        target: Target,
        fault: Fault,
        client: Option<usize>,
    },
    /// A member's place is taken by a node that was none.
    Move,
    /// The gateway learns who the members are.
    Learn,
}

fn secs(rng: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(rng.u64(range.start * 1_000..range.end * 1_000))
}

fn fault(rng: &mut Rng) -> Fault {
    match rng.u8(..8) {
        0 | 1 => Fault::Partition,
        2 => Fault::Hold,
        3 => Fault::Lag(secs(rng, 1..3)),
        4 => Fault::Crash,
        5 => Fault::Mute,
        6 => Fault::Fails,
        _ => Fault::Slow(secs(rng, 1..6)),
    }
}

/// What happens until `end`, at which everything is well again.
pub(crate) fn plan(rng: &mut Rng, nodes: u8, clients: usize, end: Duration) -> Vec<(Duration, Act)> {
    let mut acts = Vec::new();
    for target in (0..nodes).map(|node| Target::Node(Node(node))).chain([Target::Gateway]) {
        let mut at = secs(rng, 20..300);
        while at < end {
            let fault = fault(rng);
            let one = matches!(fault, Fault::Partition | Fault::Hold | Fault::Lag(_)) && rng.bool();
            let client = one.then(|| rng.usize(..clients));
            let over = (at + secs(rng, 2..150)).min(end);
            acts.push((at, Act::Begin { target, fault, client }));
            acts.push((over, Act::End { target, fault, client }));
            at = over + secs(rng, 20..400);
        }
    }
    let mut at = secs(rng, 100..600);
    while at < end {
        acts.push((at, Act::Move));
        acts.push(((at + secs(rng, 0..40)).min(end), Act::Learn));
        at += secs(rng, 60..600);
    }
    acts.push((end, Act::Learn));
    acts.sort_by_key(|(at, _)| *at);
    acts
}
