//! Switches of the store: `SWITCH_TIMER_ENGINE`, `SET_COMMITLOG_READ_MODE`.

use super::remoting_header;

remoting_header! {
    /// `SWITCH_TIMER_ENGINE`.
    pub struct SwitchTimerEngineRequestHeader {
        /// `F` for files, `R` for RocksDB.
        "E_T" engine_type: String,
    }
}

remoting_header! {
    /// `SET_COMMITLOG_READ_MODE`.
    pub struct SetCommitlogReadModeRequestHeader {
        /// Number of the read-ahead mode.
        "READ_AHEAD_MODE" read_ahead_mode: String,
    }
}
