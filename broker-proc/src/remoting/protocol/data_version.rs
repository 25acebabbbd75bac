//! Version of a configuration table.

use serde::{Deserialize, Serialize};

/// Version of a table. Equal only when all three parts are; ordered by state version, counter, time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DataVersion {
    /// State of the machine that made the change; 0 outside controller mode.
    pub state_version: i64,
    /// Number of changes.
    pub counter: i64,
    /// Time of the last change, in milliseconds since 1970.
    pub timestamp: i64,
}

impl DataVersion {
    /// Version after one more change at `now`, in milliseconds since 1970.
    #[must_use]
    pub fn next(self, now: i64) -> Self {
        Self { counter: self.counter.wrapping_add(1), timestamp: now, ..self }
    }
}
