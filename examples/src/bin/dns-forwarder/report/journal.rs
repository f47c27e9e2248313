use std::{fmt, io::Write as _};

use breaker_core::{Clock as _, Event, MonotonicClock, Timestamp};

use crate::upstream::Transport;

/// Tells what happens, a line each, with the seconds since the start.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    clock: MonotonicClock,
}

impl Journal {
    /// Something to know.
    pub(crate) fn note(&self, what: impl fmt::Display) {
        let at = self.clock.now().since(Timestamp::ZERO).as_secs_f64();
        // Nobody reads along: no reason to stop.
        let _ = writeln!(std::io::stdout().lock(), "[{at:9.3} s] {what}");
    }

    /// A circuit changed.
    pub(crate) fn event(&self, event: &Event, transport: Transport) {
        let server = event.name.as_deref().unwrap_or_default();
        self.note(format_args!("{server} over {}: {event}", transport.name()));
    }
}
