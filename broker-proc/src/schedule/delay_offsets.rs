use crate::config_store::{ConfigManager, ConfigStore};
use crate::log_backed_progress::LogBackedProgress;
use crate::remoting::protocol::{DataVersion, DelayOffsetSerializeWrapper};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store_core::LogPositions;
use store_core::java_json::{self, JavaJsonError};

/// Which message of each level is delivered next (`delayOffset.json`).
///
/// Saved is only what counts on deliveries that are durable: after a power cut a message that the progress has passed is
/// in its own topic.
#[derive(Debug, Default)]
pub struct DelayOffsets {
    state: Mutex<State>,
}

/// Queue offset of the next message, by level.
type Offsets = BTreeMap<i32, i64>;

#[derive(Debug, Default)]
struct State {
    /// As delivered.
    delivered: Offsets,
    /// As delivered and durable: what the file gets.
    durable: Offsets,
    held: LogBackedProgress<Offsets>,
    data_version: DataVersion,
    /// Whether the file is behind `durable`.
    changed: bool,
}

impl DelayOffsets {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queue offset of the next message of a level.
    pub fn next(&self, level: i32) -> i64 {
        self.lock().delivered.get(&level).copied().unwrap_or(0)
    }

    pub(super) fn set(&self, level: i32, offset: i64) {
        self.lock().delivered.insert(level, offset);
    }

    /// Lets progress be saved whose deliveries are durable by `positions`, which are asked for after the deliveries.
    pub fn settle(&self, positions: LogPositions) {
        let mut state = self.lock();
        if state.delivered == state.durable && !state.held.is_waiting() {
            return;
        }
        let delivered = state.delivered.clone();
        let ready = state.held.advance(delivered, positions);
        if let Some(ready) = ready.filter(|ready| *ready != state.durable) {
            state.durable = ready;
            state.changed = true;
        }
    }

    /// Writes the file if there is progress that may be saved. A failure is logged, and the next call tries again.
    pub fn save(&self, files: &ConfigStore, now: i64) {
        {
            let mut state = self.lock();
            if !state.changed {
                return;
            }
            state.data_version = state.data_version.next(now);
            state.changed = false;
        }
        if let Err(error) = files.persist(self) {
            self.lock().changed = true;
            tracing::error!(%error, "the progress of delayed messages could not be saved");
        }
    }
}

impl ConfigManager for DelayOffsets {
    fn config_file_name(&self) -> &'static str {
        "delayOffset.json"
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        let state = self.lock();
        java_json::to_string_pretty(&DelayOffsetSerializeWrapper {
            data_version: state.data_version,
            offset_table: state.durable.clone(),
        })
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        let wrapper: DelayOffsetSerializeWrapper = java_json::from_slice(bytes)?;
        let mut state = self.lock();
        state.delivered.clone_from(&wrapper.offset_table);
        state.durable = wrapper.offset_table;
        state.data_version = wrapper.data_version;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a start after a crash would go on with.
    fn saved(offsets: &DelayOffsets, level: i32) -> i64 {
        let read = DelayOffsets::default();
        read.decode(offsets.encode().unwrap().as_bytes()).unwrap();
        read.next(level)
    }

    #[test]
    fn progress_is_saved_once_its_deliveries_are_durable() {
        let offsets = DelayOffsets::default();
        offsets.set(1, 5);
        offsets.settle(LogPositions { end: 100, durable: 99 });
        assert_eq!((offsets.next(1), saved(&offsets, 1)), (5, 0));
        offsets.set(1, 7);
        offsets.set(2, 1);
        offsets.settle(LogPositions { end: 200, durable: 100 });
        assert_eq!((saved(&offsets, 1), saved(&offsets, 2)), (5, 0));
        offsets.settle(LogPositions { end: 200, durable: 200 });
        assert_eq!((saved(&offsets, 1), saved(&offsets, 2)), (7, 1));
    }
}
