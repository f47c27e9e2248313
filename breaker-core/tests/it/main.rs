//! The breaker under threads that all come at once. No test sleeps or measures time.

mod places;
mod threads;
