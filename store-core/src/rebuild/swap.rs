//! The new parts into their places, the old ones aside.

use super::RebuildOptions;
use crate::inspectors::StoreInspection;
use crate::tool_error::ToolError;
use std::path::{Path, PathBuf};
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
    let aside = |path: &Path, name: &str| -> Result<bool, ToolError> {
        if disk.stat(path)?.is_none() {
            return Ok(false);
        }
        disk.create_dir_all(&replaced)?;
        disk.rename(path, &replaced.join(name))?;
        disk.sync_dir(&replaced)?;
        disk.sync_dir(paths.root())?;
        Ok(true)
    };
    let work = paths.rebuild_work();
    let extensions = paths.consume_queue_ext();
    let new_extensions = work.join("consumequeue_ext");
    let with_extensions = options.queues && disk.stat(&new_extensions)?.is_some();
    // Most stores have no batch queues, and need not get a directory for them.
    let batch = paths.batch_consume_queue();
    let has_batch =
        disk.stat(&batch)?.is_some() || !disk.read_dir(&work.join("batchconsumequeue"))?.is_empty();
    // Gone while queues of one kind or the other stand there: an address must not lead into another queue's extension,
    // and one that leads nowhere does no harm.
    let mut has_old = with_extensions && aside(&extensions, "consumequeue_ext")?;
    let parts = [
        (options.queues, paths.consume_queue(), "consumequeue"),
        (options.queues && has_batch, batch, "batchconsumequeue"),
        (options.index, paths.index(), "index"),
    ];
    for (_, path, name) in parts.into_iter().filter(|part| part.0) {
        has_old |= aside(&path, name)?;
        disk.rename(&work.join(name), &path)?;
        disk.sync_dir(paths.root())?;
    }
    if with_extensions {
        disk.rename(&new_extensions, &extensions)?;
    }
    store_logic::remove_tree(disk, &work)?;
    disk.sync_dir(paths.root())?;
    Ok(has_old.then_some(replaced))
}
