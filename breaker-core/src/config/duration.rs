//! Spans of time as people write them.

use std::{borrow::Cow, fmt, str::FromStr, time::Duration};

use jiff::{Span, fmt::temporal::SpanPrinter};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A span of time as a settings file writes it: ISO-8601 in any case (`"PT20S"`, `"pt0.5s"`, `"P1D"`), a
/// number of seconds (`20`, `0.5`), or friendly (`"20s"`, `"1m 30s"`).
///
/// A day has 24 hours and a week 7 days; months and years have no fixed length and are refused, as are
/// negative spans and those of more than 100 years (36 525 days). Zero is a span like any other. The finest
/// unit is the nanosecond.
///
/// Serialises, and displays, as ISO-8601 with hours as the largest unit: `PT0S`, `PT0.5S`, `PT1M30S`, `PT24H`.
///
/// ```
/// use std::time::Duration;
/// use breaker_core::config::IsoDuration;
///
/// let delay: IsoDuration = "1m 30s".parse()?;
/// assert_eq!(delay.get(), Duration::from_secs(90));
/// assert_eq!(delay.to_string(), "PT1M30S");
/// # Ok::<(), breaker_core::config::DurationError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IsoDuration(Duration);

/// The longest span that a file may hold: 100 years of 365.25 days.
const LONGEST: Duration = Duration::from_secs(36_525 * 86_400);

/// What each written span matches, so that an editor can tell a span from a slip. Looser than the parser.
const PATTERN: &str = "^[+]?([Pp][Tt]?)?[0-9]";

impl IsoDuration {
    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// The span.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// The span of a number of seconds.
    ///
    /// # Errors
    ///
    /// When the number is negative, not finite, or more than 100 years.
    pub fn try_from_secs_f64(secs: f64) -> Result<Self, DurationError> {
        if secs.is_nan() {
            return Err(DurationError::NotADuration);
        }
        if secs < 0.0 {
            return Err(DurationError::Negative);
        }
        let span = Duration::try_from_secs_f64(secs).map_err(|_| DurationError::TooLong)?;
        Self::bounded(span)
    }

    fn bounded(span: Duration) -> Result<Self, DurationError> {
        if span > LONGEST { Err(DurationError::TooLong) } else { Ok(Self(span)) }
    }
}

/// Why something written is no span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// It has none of the accepted forms.
    #[error("not a duration")]
    NotADuration,
    /// It is less than zero.
    #[error("a negative duration")]
    Negative,
    /// It counts in months or years.
    #[error("months and years have no fixed length; write days, hours, minutes or seconds")]
    NoFixedLength,
    /// It is longer than 100 years.
    #[error("longer than 100 years (36525 days)")]
    TooLong,
}

impl FromStr for IsoDuration {
    type Err = DurationError;

    fn from_str(written: &str) -> Result<Self, DurationError> {
        let unsigned = written.strip_prefix('+').unwrap_or(written);
        let number = match unsigned.strip_prefix(['P', 'p']) {
            Some(iso) => iso.strip_prefix(['T', 't']).unwrap_or(iso),
            None => unsigned,
        };
        let negative = number.starts_with('-');
        if !negative && !number.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(DurationError::NotADuration);
        }
        let span: Span = written.parse().map_err(|_| DurationError::NotADuration)?;
        if negative || span.is_negative() {
            return Err(DurationError::Negative);
        }
        if span.get_years() != 0 || span.get_months() != 0 {
            return Err(DurationError::NoFixedLength);
        }
        let days = i128::from(span.get_weeks()) * 7 + i128::from(span.get_days());
        let hours = days * 24 + i128::from(span.get_hours());
        let minutes = hours * 60 + i128::from(span.get_minutes());
        let seconds = minutes * 60 + i128::from(span.get_seconds());
        let millis = seconds * 1_000 + i128::from(span.get_milliseconds());
        let micros = millis * 1_000 + i128::from(span.get_microseconds());
        let nanos = micros * 1_000 + i128::from(span.get_nanoseconds());
        let secs = u64::try_from(nanos / 1_000_000_000).map_err(|_| DurationError::TooLong)?;
        let rest = u32::try_from(nanos % 1_000_000_000).map_err(|_| DurationError::TooLong)?;
        Self::bounded(Duration::new(secs, rest))
    }
}

impl fmt::Display for IsoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&SpanPrinter::new().unsigned_duration_to_string(&self.0))
    }
}

impl From<Duration> for IsoDuration {
    fn from(span: Duration) -> Self {
        Self(span)
    }
}

impl From<IsoDuration> for Duration {
    fn from(span: IsoDuration) -> Self {
        span.0
    }
}

impl Serialize for IsoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IsoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl de::Visitor<'_> for Written {
    type Value = IsoDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"PT20S\" or \"1m 30s\", or a number of seconds")
    }

    fn visit_str<E: de::Error>(self, written: &str) -> Result<IsoDuration, E> {
        written.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, secs: u64) -> Result<IsoDuration, E> {
        IsoDuration::bounded(Duration::from_secs(secs)).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, secs: i64) -> Result<IsoDuration, E> {
        let secs = u64::try_from(secs).map_err(|_| E::custom(DurationError::Negative))?;
        self.visit_u64(secs)
    }

    fn visit_f64<E: de::Error>(self, secs: f64) -> Result<IsoDuration, E> {
        IsoDuration::try_from_secs_f64(secs).map_err(E::custom)
    }
}

impl JsonSchema for IsoDuration {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "number"],
            "minimum": 0,
            "pattern": PATTERN,
            "x-duration": true,
            "examples": ["PT20S", "1m 30s", 0.5],
        })
    }
}

#[cfg(test)]
mod tests;
