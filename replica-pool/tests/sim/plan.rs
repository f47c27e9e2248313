//! What goes wrong in a world, and when.

use std::time::Duration;

use fastrand::Rng;

use crate::{store::Change, truth::Host};

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
        target: Host,
        fault: Fault,
        client: Option<usize>,
    },
    End {
        target: Host,
        fault: Fault,
        client: Option<usize>,
    },
    /// Replicas say that their partition is about to change.
    Announce(Change),
    /// What was announced comes to pass.
    Change {
        /// The gateway and the map tell it at once.
        told: bool,
    },
    TellAddresses,
    TellMap,
    /// The gateway and the map tell what was so a few changes ago.
    TellOld(usize),
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

/// What goes wrong with `hosts` until `end`, at which everything is well again: each for up to `ill` seconds, after having
/// been well for up to `well`.
fn faults(
    rng: &mut Rng,
    hosts: impl IntoIterator<Item = Host>,
    clients: usize,
    [ill, well]: [u64; 2],
    end: Duration,
) -> Vec<(Duration, Act)> {
    let mut acts = Vec::new();
    for target in hosts {
        let mut at = secs(rng, 20..well);
        while at < end {
            let fault = fault(rng);
            let one = matches!(fault, Fault::Partition | Fault::Hold | Fault::Lag(_)) && rng.bool();
            let client = one.then(|| rng.usize(..clients));
            // Longer than a mark counts, now and then, so that no answer clears it before.
            let is_long = !matches!(target, Host::Node(_)) && rng.u8(..6) == 0;
            let lasts = if is_long { secs(rng, 150..400) } else { secs(rng, 2..ill) };
            let over = (at + lasts).min(end);
            acts.push((at, Act::Begin { target, fault, client }));
            acts.push((over, Act::End { target, fault, client }));
            at = over + secs(rng, 20..well);
        }
    }
    acts
}

fn sorted(mut acts: Vec<(Duration, Act)>, end: Duration) -> Vec<(Duration, Act)> {
    acts.extend([(end, Act::TellAddresses), (end, Act::TellMap)]);
    acts.sort_by_key(|(at, _)| *at);
    acts
}

/// What happens until `end` to a store that is not divided.
pub(crate) fn whole(rng: &mut Rng, hosts: &[Host], clients: usize, end: Duration) -> Vec<(Duration, Act)> {
    let mut acts = faults(rng, hosts.iter().copied(), clients, [150, 400], end);
    let mut at = secs(rng, 100..600);
    while at < end {
        acts.push((at, Act::Announce(Change::Replace)));
        acts.push((at, Act::Change { told: false }));
        acts.push(((at + secs(rng, 0..40)).min(end), Act::TellAddresses));
        at += secs(rng, 60..600);
    }
    sorted(acts, end)
}

/// What happens until `end` to a store that is divided into partitions.
pub(crate) fn divided(rng: &mut Rng, hosts: &[Host], clients: usize, end: Duration) -> Vec<(Duration, Act)> {
    let (nodes, services): (Vec<_>, Vec<_>) = hosts.iter().partition(|host| matches!(host, Host::Node(_)));
    let mut acts = faults(rng, nodes, clients, [150, 800], end);
    // A question that hangs says nothing for long after that.
    acts.extend(faults(rng, services, clients, [60, 1_000], end));
    let mut at = secs(rng, 20..60);
    while at + Duration::from_secs(60) < end {
        let change = match rng.u8(..8) {
            0..3 => Change::Split,
            3..5 => Change::Merge,
            5..7 => Change::Migrate,
            _ => Change::Replace,
        };
        acts.push((at, Act::Announce(change)));
        at += if rng.bool() { secs(rng, 1..10) } else { Duration::ZERO };
        let told = rng.u8(..3) > 0;
        acts.push((at, Act::Change { told }));
        if !told {
            acts.push((at + secs(rng, 0..40), Act::TellAddresses));
            acts.push((at + secs(rng, 0..40), Act::TellMap));
        }
        at += secs(rng, 10..60);
        if rng.u8(..6) == 0 {
            acts.push((at, Act::TellOld(rng.usize(..3))));
            at += secs(rng, 1..30);
            acts.extend([(at, Act::TellAddresses), (at, Act::TellMap)]);
        }
    }
    sorted(acts, end)
}
