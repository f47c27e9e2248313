//! What there is of the process.

use std::fmt;

use examples::process;
use tokio::runtime::Handle;

/// What there was at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Bytes in memory; 0 where the system does not tell.
    pub memory: u64,
    pub tasks: usize,
    /// Open files, sockets among them; 0 where the system does not tell.
    pub files: usize,
}

/// What memory may grow by, whatever was done: the allocator keeps what was needed at the worst moment, and that may come
/// after the warm-up.
const SLACK: u64 = 8 << 20;

/// And for each request: less than the smallest thing that could be forgotten.
const EACH: u64 = 16;

impl Reading {
    pub fn now() -> Self {
        Self {
            memory: process::resident().unwrap_or_default(),
            tasks: Handle::current().metrics().num_alive_tasks(),
            files: process::open_files().unwrap_or_default(),
        }
    }

    /// Whether nothing was left behind since `start`, but for memory.
    pub fn is_back(&self, start: &Self) -> bool {
        self.tasks <= start.tasks && self.files <= start.files
    }

    /// What is more than it was, as it may not be after so many requests.
    pub fn faults(&self, start: &Self, requests: u64) -> Vec<String> {
        let mut faults = Vec::new();
        let allowed = SLACK + EACH * requests;
        if self.memory > start.memory + allowed {
            let (grown, allowed) = (Mebibytes(self.memory - start.memory), Mebibytes(allowed));
            faults.push(format!("memory grew by {grown}; {allowed} are allowed"));
        }
        for (what, start, end) in
            [("tasks", start.tasks, self.tasks), ("open files", start.files, self.files)]
        {
            if end > start {
                faults.push(format!("{} {what} were left behind", end - start));
            }
        }
        faults
    }
}

/// A number of bytes, for readers.
pub struct Mebibytes(pub u64);

impl fmt::Display for Mebibytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MiB", self.0 as f64 / f64::from(1 << 20))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_may_grow_a_little_and_tasks_and_files_may_not() {
        let start = Reading { memory: 10 << 20, tasks: 20, files: 30 };
        assert_eq!(Reading { memory: 18 << 20, ..start }.faults(&start, 0), [""; 0]);
        let end = Reading { memory: 20 << 20, tasks: 21, files: 32 };
        let expected = [
            "memory grew by 10.0 MiB; 9.0 MiB are allowed",
            "1 tasks were left behind",
            "2 open files were left behind",
        ];
        assert_eq!(end.faults(&start, (1 << 20) / 16), expected);
    }
}
