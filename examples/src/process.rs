//! What the process takes.

use std::fs;

/// Bytes of the process that are in memory, where the system tells.
pub fn resident() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix("kB")?;
    Some(kilobytes.trim().parse::<u64>().ok()? * 1_024)
}

/// Files that are open, sockets among them, where the system tells.
pub fn open_files() -> Option<usize> {
    // One is the folder that is read.
    Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1))
}
