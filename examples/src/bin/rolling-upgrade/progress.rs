//! Progress bars on stderr, one for each run; nothing at all when it is not a terminal.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::{kind::RunKind, plan::Plan};

/// The bar of one run.
#[derive(Clone, Debug)]
pub struct RunBar(ProgressBar);

/// The bars of all runs.
#[derive(Debug)]
pub struct Progress {
    bars: MultiProgress,
    length: Duration,
}

impl Progress {
    /// Bars for runs of this plan.
    pub fn new(plan: &Plan) -> Self {
        Self { bars: MultiProgress::new(), length: plan.length() }
    }

    /// A bar that waits for its run.
    pub fn add(&self, kind: RunKind) -> RunBar {
        let style = ProgressStyle::with_template("{prefix:<28} {bar:40.cyan/dim} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸─");
        let length = u64::try_from(self.length.as_millis()).unwrap_or(u64::MAX);
        let bar = self.bars.add(ProgressBar::new(length)).with_style(style);
        bar.set_prefix(kind.title());
        bar.tick();
        RunBar(bar)
    }
}

impl RunBar {
    /// The run has come to `micros` after its start.
    pub fn at(&self, micros: u64) {
        let total = self.0.length().unwrap_or_default();
        self.0.set_position((micros / 1_000).min(total));
        self.0.set_message(format!("{:4.1} of {:.1} s", micros as f64 / 1e6, total as f64 / 1e3));
    }

    /// The run is over; says how it went.
    pub fn done(&self, message: String) {
        self.0.finish_with_message(message);
    }
}
