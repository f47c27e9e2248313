//! The rows, side by side.

use crate::run::Row;

type Line = (&'static str, fn(&Row) -> String);

const LINES: [Line; 16] = [
    ("memory for each replica, STATIC_THRESHOLD", |row| bytes(row.static_bytes)),
    ("memory for each replica, with canaries", |row| bytes(row.bytes)),
    ("start: all addresses found after", |row| seconds(row.found)),
    ("start: then, until all circuits are closed", |row| seconds(row.start)),
    ("start: most probes at a time", |row| row.start_in_flight.to_string()),
    ("idle: processor time per second", |row| span(row.idle)),
    ("a request, routed by its key", |row| span(row.call)),
    ("a pick: route, acquire, finish", |row| span(row.pick)),
    ("a refresh that changes nothing, per partition", |row| span(row.refresh)),
    ("a new routing map, per partition", |row| span(row.map)),
    ("outage: circuits opened", |row| row.victims.to_string()),
    ("outage: a request", |row| span(row.call_in_outage)),
    ("outage: processor time per probe", |row| span(row.probe)),
    ("outage: most probes at a time", |row| row.outage_in_flight.to_string()),
    ("return: all circuits closed after", |row| seconds(row.recovery)),
    ("return: most probes at a time", |row| row.recovery_in_flight.to_string()),
];

pub fn print(rows: &[Row]) {
    let width = LINES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let cells = |name: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!(" {cell:>10}")).collect();
        println!("{name:<width$}{cells}");
    };
    cells("replicas", rows.iter().map(|row| row.replicas.to_string()).collect());
    for (name, cell) in LINES {
        cells(name, rows.iter().map(cell).collect());
    }
}

fn bytes(bytes: Option<f64>) -> String {
    bytes.map_or("unknown".to_owned(), |bytes| format!("{bytes:.0} B"))
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.2} s")
}

fn span(nanos: f64) -> String {
    match nanos {
        nanos if nanos < 10_000.0 => format!("{nanos:.0} ns"),
        nanos if nanos < 10_000_000.0 => format!("{:.0} us", nanos / 1e3),
        nanos => format!("{:.0} ms", nanos / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit_that_suits_them() {
        assert_eq!(span(312.4), "312 ns");
        assert_eq!(span(45_600.0), "46 us");
        assert_eq!(span(12_000_000.0), "12 ms");
    }
}
