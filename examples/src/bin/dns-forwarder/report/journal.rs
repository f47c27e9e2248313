use std::{
    fmt,
    io::Write as _,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use breaker_core::{Clock as _, Event, MonotonicClock, Timestamp};

use crate::upstream::Transport;

/// The most that is kept for a reader who is slow. The rest is dropped: no query waits for a terminal.
const BACKLOG: usize = 1_000;

/// Tells what happens, a line each, with the seconds since the start.
#[derive(Debug)]
pub(crate) struct Journal {
    clock: MonotonicClock,
    lines: SyncSender<Line>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
enum Line {
    Text(String),
    End,
}

impl Journal {
    /// One that writes to the standard output.
    pub(crate) fn new() -> Self {
        let (lines, written) = sync_channel(BACKLOG);
        let writer = Mutex::new(Some(thread::spawn(move || write(&written))));
        Self { clock: MonotonicClock::new(), lines, writer }
    }

    /// Something to know.
    pub(crate) fn note(&self, what: impl fmt::Display) {
        let at = self.clock.now().since(Timestamp::ZERO).as_secs_f64();
        self.say(format_args!("[{at:9.3} s] {what}"));
    }

    /// Something to read, as it is.
    pub(crate) fn say(&self, what: impl fmt::Display) {
        let _ = self.lines.try_send(Line::Text(what.to_string()));
    }

    /// A circuit changed.
    pub(crate) fn event(&self, event: &Event, transport: Transport) {
        let server = event.name.as_deref().unwrap_or_default();
        self.note(format_args!("{server} over {}: {event}", transport.name()));
    }

    /// Waits until all of it is written. Nothing is after that.
    pub(crate) fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer
            && self.lines.send(Line::End).is_ok()
        {
            let _ = writer.join();
        }
    }
}

fn write(lines: &Receiver<Line>) {
    while let Ok(Line::Text(line)) = lines.recv() {
        // Nobody reads along: no reason to stop.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}
