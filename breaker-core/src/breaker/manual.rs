//! Manual control, which belongs to the breaker and not to its strategy. Each act starts a new epoch.

use super::{Breaker, core::Core};
use crate::{Circuit, EventKind, Mode, Timestamp};

impl Breaker {
    /// Rejects every call until [`release`](Self::release).
    pub fn force_open(&self) {
        self.enter(Mode::ForcedOpen);
    }

    /// Admits every call and records nothing until [`release`](Self::release).
    pub fn disable(&self) {
        self.enter(Mode::Disabled);
    }

    /// Admits every call, records results, and tells by events and in [snapshots](Self::snapshot) what it
    /// would have done, until [`release`](Self::release).
    pub fn observe_only(&self) {
        self.enter(Mode::ObserveOnly);
    }

    /// Ends manual control. The strategy goes on in the state that it was in, with what its window held;
    /// half-open starts over, since calls admitted before no longer count.
    pub fn release(&self) {
        self.enter(Mode::Automatic);
    }

    /// Who decides whether calls pass.
    pub fn mode(&self) -> Mode {
        self.gate.word().mode()
    }

    fn enter(&self, mode: Mode) {
        self.locked(|core, now| {
            if core.mode == mode {
                return;
            }
            core.advance(now);
            let at = now.get();
            // A fresh strategy with the old one's evidence: half-open places that were out are free again.
            let mut strategy = self.setup.blueprint.build(at);
            strategy.adopt(&core.strategy.evidence(at), at);
            let from = std::mem::replace(&mut core.mode, mode);
            core.replace(strategy, at);
            core.push(at, EventKind::ModeChanged { from });
        });
    }

    /// Puts the strategy into its start state and forgets everything it has seen. A manual mode stays.
    pub fn reset(&self) {
        self.locked(|core, now| {
            core.advance(now);
            self.reset_core(core, now.get());
        });
    }

    /// [Resets](Self::reset) the circuit if its strategy opened it in epoch `epoch` and it has been open since. Circuits
    /// that are closed, half-open, or under manual control stay as they are. Says whether it did.
    ///
    /// For pools whose address source confirms a replica: read the [epoch](Self::epoch) before asking, and what
    /// opened the circuit was seen before the answer.
    pub fn reset_if_open_since(&self, epoch: u64) -> bool {
        let word = self.gate.word();
        if word.circuit() != Circuit::Open || word.epoch() != epoch {
            return false;
        }
        self.locked(|core, now| {
            core.advance(now);
            let reset = core.epoch == epoch
                && core.tripped
                && core.mode == Mode::Automatic
                && core.circuit() == Circuit::Open;
            if reset {
                self.reset_core(core, now.get());
            }
            reset
        })
    }

    /// The number of the present epoch. It grows with every change of state or of the mode, with a reset, and
    /// when a strategy starts its state over.
    pub fn epoch(&self) -> u64 {
        self.gate.word().epoch()
    }

    fn reset_core(&self, core: &mut Core, at: Timestamp) {
        let from = core.circuit();
        core.replace(self.setup.blueprint.build(at), at);
        core.tripped = false;
        let to = core.circuit();
        core.push(at, EventKind::Reset { from, to });
    }
}
