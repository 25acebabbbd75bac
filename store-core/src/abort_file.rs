//! `abort`: there while the store runs, so that its presence at a start means the last stop was none.

use crate::store_paths::StorePaths;
use store_logic::{DiskError, Env, atomic_file};

/// True when the last stop was clean (or there was none).
pub(crate) fn last_stop_was_clean(env: &Env, paths: &StorePaths) -> Result<bool, DiskError> {
    Ok(env.disk().stat(&paths.abort())?.is_none())
}

/// Marks the store as running. Only the file's presence counts; the process id is for people.
pub(crate) fn create(env: &Env, paths: &StorePaths) -> Result<(), DiskError> {
    atomic_file::write_whole(env.disk(), &paths.abort(), std::process::id().to_string().as_bytes())
}

/// Marks the stop as clean.
pub(crate) fn remove(env: &Env, paths: &StorePaths) -> Result<(), DiskError> {
    atomic_file::remove(env.disk(), &paths.abort())
}
