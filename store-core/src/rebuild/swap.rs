//! The new parts into their places, the old ones aside.

use super::RebuildOptions;
use crate::inspectors::StoreInspection;
use crate::tool_error::ToolError;
use std::path::PathBuf;
use store_logic::file_name;

/// Renames; returns where the old parts are. The names are durable when this returns.
pub(super) fn put_in_place(
    store: &StoreInspection,
    options: &RebuildOptions,
) -> Result<Option<PathBuf>, ToolError> {
    let (disk, paths) = (store.env().disk(), store.paths());
    // Counts of the last stop are those of the old parts.
    store.forget_clean_stop()?;
    let replaced = paths.replaced().join(file_name::human_time_name(store.env().now_millis()));
    let parts =
        [(options.queues, paths.consume_queue(), "consumequeue"), (options.index, paths.index(), "index")];
    let mut has_old = false;
    for (_, path, name) in parts.into_iter().filter(|part| part.0) {
        if disk.stat(&path)?.is_some() {
            disk.create_dir_all(&replaced)?;
            disk.rename(&path, &replaced.join(name))?;
            has_old = true;
        }
        disk.rename(&paths.rebuild_work().join(name), &path)?;
        if has_old {
            disk.sync_dir(&replaced)?;
        }
        disk.sync_dir(paths.root())?;
    }
    store_logic::remove_tree(disk, &paths.rebuild_work())?;
    disk.sync_dir(paths.root())?;
    Ok(has_old.then_some(replaced))
}
