//! The status codes that callers of partitioned stores know. Everything else in this crate speaks of reasons.

use crate::Gone;

/// Try again later.
pub(crate) const SERVICE_UNAVAILABLE: u16 = 503;

/// The sub-status that tells callers what was unavailable.
pub(crate) const fn sub_status(gone: Gone) -> u32 {
    match gone {
        Gone::Partition => 21_002,
        Gone::Splitting => 21_003,
        Gone::Migrating => 21_004,
        Gone::Replica => 21_005,
    }
}
