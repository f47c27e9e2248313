//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Replays recorded calls through a real circuit breaker: as a check where the recording says what is
/// expected, as a timeline where it does not.
///
/// Use it to try a configuration on outcomes of your own before it guards anything: write down your calls,
/// one scenario a line, change its "config", and look at what would have been rejected.
///
/// A file holds JSON lines, each a scenario:
///
///   {"name": "a short outage",
///    "config": {"strategy": "STATIC_THRESHOLD", "failureThreshold": 2, "testDelay": "PT10S"},
///    "steps": [{"op": "acquire", "call": 1}, {"op": "failure", "call": 1},
///              {"op": "acquire", "call": 2}, {"op": "failure", "call": 2},
///              {"op": "advance", "ms": 10000}, {"op": "acquire", "call": 3}]}
///
/// (on one line). "config" is a circuitBreaker block as in a settings file. Time starts at 0 and moves only by
/// "advance". Results of calls that were not admitted are passed over.
#[derive(Debug, Parser)]
#[command(
    name = "replay",
    verbatim_doc_comment,
    after_help = "\
Steps (\"op\", and what goes with it):
  acquire                                  call       asks for a permit
  success, failure                         call, and latency_ms if it matters
  cancel                                   call       gives the permit back without a result
  advance                                  ms         moves the clock
  probe_success, probe_failure                        a probe's verdict, if one is wanted
  reset, force_open                                   manual control
  wall_clock_jump                          ms         changes nothing, and shows it
  state, count, stale, events                         do nothing: places for expectations

Expectations, in any step:
  state        closed, open or half_open
  calls        results in the present window
  failures     failures among them
  transitions  every change of state so far, as in [\"closed>open\", \"open>half_open\"]
and in some:
  permitted    of acquire: true or false
  stale        of success, failure, cancel: true when the call belongs to an older epoch
  count        of stale: how many such results there were so far

Output: a line for each mismatch, then `N scenarios, M steps, K mismatches`.

Exit status: 0 when nothing differs, 1 when something does, 2 when a file cannot be read or makes no sense."
)]
pub struct Options {
    /// Files of scenarios, one a line
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Show the timeline also of scenarios that carry expectations
    #[arg(long)]
    pub timeline: bool,
}
