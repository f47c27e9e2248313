//! Gathers what is wrong with the keys of a block.

use std::{fmt, num::NonZeroU32};

use breaker_core::config::{IsoDuration, Violation, Violations};

use super::rate::Rate;

/// All faults that were found so far. A faulty value yields a stand-in, so that checking can go on.
#[derive(Debug, Default)]
pub(super) struct Checks(Vec<Violation>);

impl Checks {
    pub(super) fn fault(&mut self, key: &'static str, value: impl fmt::Display, allowed: impl Into<String>) {
        self.0.push(Violation { key, value: value.to_string(), allowed: allowed.into() });
    }

    pub(super) fn percent(&mut self, key: &'static str, percent: f64) -> Rate {
        Rate::new(percent).unwrap_or_else(|| {
            self.fault(key, percent, "a number greater than 0 and at most 100");
            Rate::HUNDRED
        })
    }

    pub(super) fn one_to(&mut self, most: u32, key: &'static str, value: u32) -> NonZeroU32 {
        match NonZeroU32::new(value).filter(|value| value.get() <= most) {
            Some(value) => value,
            None => {
                let allowed =
                    if most == u32::MAX { "at least 1".into() } else { format!("from 1 to {most}") };
                self.fault(key, value, format!("an integer {allowed}"));
                NonZeroU32::MIN
            }
        }
    }

    pub(super) fn positive(&mut self, key: &'static str, span: IsoDuration) -> IsoDuration {
        if span == IsoDuration::default() {
            self.fault(key, span, "more than PT0S");
        }
        span
    }

    pub(super) fn done<T>(self, value: T) -> Result<T, Violations> {
        if self.0.is_empty() { Ok(value) } else { Err(Violations(self.0)) }
    }
}
