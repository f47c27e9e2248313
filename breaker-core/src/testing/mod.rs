//! A conformance suite that any strategy can be put through, and what tests of strategies share.
//!
//! A strategy's own tests say that it keeps its rules. This suite says that it keeps everybody's: the [`Law`]s that a
//! [`Breaker`](crate::Breaker) and its users rely on whatever the rules are. It drives real breakers, on a clock that
//! only the suite moves, through random sequences that a seed determines. A law that does not hold is shown by the
//! shortest sequence that was found, as a line that the program `replay` takes.
//!
//! ```toml
//! [dev-dependencies]
//! breaker-core = { version = "0.1", features = ["testing"] }
//! ```
//!
//! ```
//! use breaker_core::{config::NonResilient, testing};
//!
//! testing::check(NonResilient {});
//! ```
//!
//! Beside it: [`replay`] for traces with known answers, and [`Bench`] for a model to be compared with a circuit.

mod act;
mod bench;
mod golden;
mod law;
mod plan;
mod random;
mod run;
mod shrink;
mod suite;

#[cfg(all(test, not(loom)))]
mod tests;

pub use act::{Act, Trace};
pub use bench::{Bench, Seen};
pub use golden::replay;
pub use law::Law;
pub use suite::{Report, Suite, Violation};

use crate::config::Blueprint;

/// Checks the circuits of `blueprint` against every [`Law`], with the defaults of a [`Suite`].
///
/// # Panics
///
/// When a law does not hold: with its name, and the shortest sequence that was found to show it.
pub fn check(blueprint: impl Into<Blueprint>) {
    if let Err(violation) = Suite::new(blueprint).run() {
        panic!("{violation}");
    }
}
