use std::{fmt, time::Duration};

use crate::{forward::Forwarder, upstream::Transport};

/// What there is to say at the end.
pub(crate) struct Summary<'a>(pub(crate) &'a Forwarder);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (answered, [half, most, all]) = self.0.stats.latencies();
        let [unanswered, turned_away, unfit] = self.0.stats.failures();
        let (half, most, all) = (Millis(half), Millis(most), Millis(all));
        writeln!(
            f,
            "{answered} queries answered: half of them within {half}, 99 % within {most}, all within {all}"
        )?;
        writeln!(f, "{unanswered} that nobody answered, {turned_away} too many at a time, {unfit} unfit\n")?;
        writeln!(f, "{:<24} {:>10} {:>10} {:>10}  circuits", "server", "answered", "failed", "given up")?;
        let route = self.0.route();
        let pools = [Transport::Udp, Transport::Tcp].map(|transport| route.pool(transport).snapshot());
        for (address, server) in route.servers() {
            let [answered, failed, given_up] = server.tally.counts();
            let address = address.to_string();
            let circuit = |pool: &replica_pool::PoolSnapshot| {
                let replica = pool.replicas.iter().find(|replica| replica.address == address);
                replica.map_or_else(String::new, |replica| replica.circuit.state.circuit().to_string())
            };
            let [udp, tcp] = pools.each_ref().map(circuit);
            writeln!(f, "{address:<24} {answered:>10} {failed:>10} {given_up:>10}  UDP {udp}, TCP {tcp}")?;
        }
        Ok(())
    }
}

struct Millis(Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ms", self.0.as_secs_f64() * 1_000.0)
    }
}
