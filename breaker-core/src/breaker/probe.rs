//! Probes: test requests by which an open circuit learns that its remote is well again.

use super::{Breaker, Settlement};
use crate::{Circuit, Mode, ProbePlan};

/// A probe that has begun. It remembers the epoch, so that a verdict that comes late counts for nothing.
/// Dropping it takes nothing away.
#[derive(Debug)]
#[must_use = "a probe counts only when it is finished"]
pub struct ProbeTicket {
    epoch: u64,
}

impl Breaker {
    /// How the circuit wants to be probed; `None` when it wants no probe now.
    pub fn probe_plan(&self) -> Option<ProbePlan> {
        self.wanted_probe().map(|(plan, _)| plan)
    }

    /// Begins a probe; `None` when the circuit wants none. A probe takes no permit and is no entry in the
    /// window.
    pub fn begin_probe(&self) -> Option<ProbeTicket> {
        self.wanted_probe().map(|(_, epoch)| ProbeTicket { epoch })
    }

    fn wanted_probe(&self) -> Option<(ProbePlan, u64)> {
        if let Some((word, deadline)) = self.gate.read()
            && word.circuit() != Circuit::Open
            && deadline.is_none_or(|at| self.setup.clock.now() < at)
        {
            return None;
        }
        self.locked(|core, now| {
            core.advance(now);
            let open = core.circuit() == Circuit::Open;
            let wanted = open && matches!(core.mode, Mode::Automatic | Mode::ObserveOnly);
            Some((core.strategy.probe_plan().filter(|_| wanted)?, core.epoch))
        })
    }

    /// Gives a probe's verdict. [`Settlement::Stale`] when the circuit has changed its state since it began.
    #[expect(clippy::needless_pass_by_value, reason = "a probe is finished once")]
    pub fn finish_probe(&self, probe: ProbeTicket, healthy: bool) -> Settlement {
        let ProbeTicket { epoch } = probe;
        self.locked(|core, now| {
            core.advance(now);
            if core.epoch != epoch {
                return Settlement::Stale;
            }
            core.probed(healthy, now);
            Settlement::Counted
        })
    }
}
