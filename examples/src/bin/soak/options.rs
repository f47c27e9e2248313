//! The command line.

use std::time::Duration;

use clap::Parser;

/// Random faults on real sockets, for as long as you like: is everything as it was when they are over?
///
/// Twelve replicas and a gateway on the loopback device are asked by four pools: one pool and one that is divided into
/// partitions, each with either strategy. Replicas stop, hang, answer late and come back at the same address; at times all
/// of a group at once. The gateway hangs, closes connections, and names addresses where nobody lives. First it warms up, for a
/// tenth of the time, with faults like those that follow; what is there then is compared with what is there at the end.
#[derive(Debug, Parser)]
#[command(
    name = "soak",
    after_help = "Exit status: 0 when everything holds, 1 when not, 2 for a wrong command line."
)]
pub struct Options {
    /// How long faults come, in minutes; fractions are allowed
    #[arg(long, value_name = "N", default_value = "3", value_parser = minutes)]
    pub minutes: Duration,

    /// Requests per second, of all pools together
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(4..=5_000))]
    pub rate: u32,

    /// Decides the faults and the keys
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
}

fn minutes(written: &str) -> Result<Duration, String> {
    let allowed = || "a number of minutes, more than 0, at most 10000".to_owned();
    let minutes: f64 = written.parse().map_err(|_| allowed())?;
    if minutes > 0.0 && minutes <= 10_000.0 {
        Ok(Duration::from_secs_f64(minutes * 60.0))
    } else {
        Err(allowed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_may_have_fractions_and_must_be_some() {
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        for wrong in ["0", "-1", "NaN", "inf", "10001", "long"] {
            assert!(minutes(wrong).is_err(), "{wrong}");
        }
    }
}
