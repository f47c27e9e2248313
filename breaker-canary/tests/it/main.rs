//! The strategy from outside: traces with known answers, everybody's laws, and a model that keeps all history.

mod conformance;
mod golden;
mod model;
