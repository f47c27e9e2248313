//! Faults that the network really has: packets that are dropped, lost or answered with a reset, a link that is down, a process
//! that is stopped, answers that are delayed.
//!
//! Where there is root, with `ip` and `iptables`, each replica lives in a network namespace of its own. Elsewhere only the
//! tests in [`anywhere`] run, and it is said why.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod anywhere;
mod client;
mod faults;
mod net;
mod proxy;
mod replica;
