//! State of the store in Apache's keys.

use super::Shared;
use std::collections::BTreeMap;
use store_logic::used_percent;

impl Shared {
    pub(crate) fn runtime_info(&self) -> BTreeMap<String, String> {
        let mut info = BTreeMap::new();
        self.stats.runtime_info(&self.env, &mut info);
        let mut log_ratio = None;
        for directory in self.paths.commit_logs().all() {
            let ratio = self.disk_ratio(directory);
            info.insert(format!("commitLogDiskRatio_{}", directory.display()), ratio.to_string());
            // Apache's key without a path tells of the emptiest directory, where new files go.
            let least = log_ratio.map_or(ratio, |least: f64| least.min(ratio));
            log_ratio = Some(least);
        }
        let log_ratio = log_ratio.unwrap_or(-1.0).to_string();
        let held = self.log.tail_held_millis(|| self.env.now_millis());
        let rows = [
            ("commitLogDiskRatio", log_ratio),
            ("consumeQueueDiskRatio", self.disk_ratio(&self.paths.consume_queue()).to_string()),
            ("commitLogMinOffset", self.log.min_offset().to_string()),
            ("commitLogMaxOffset", self.log.max_offset().to_string()),
            ("commitLogFlushedWhere", self.log.flushed_where().to_string()),
            ("dispatchBehindBytes", self.dispatch_behind_bytes().to_string()),
            ("pageCacheLockTimeMills", held.to_string()),
            ("earliestMessageTimeStamp", self.log.earliest_store_timestamp().unwrap_or(-1).to_string()),
            ("remainHowManyDataToCommit", format!("{} B", self.log.files().uncommitted_bytes())),
            ("remainHowManyDataToFlush", format!("{} B", self.log.files().dirty_bytes())),
            ("remainTransientStoreBufferNumbs", self.remaining_buffers().to_string()),
            ("commitLogDirCapacity", self.capacity()),
            ("storeWriteRefusal", self.flags.write_refusal().unwrap_or_default()),
        ];
        info.extend(rows.map(|(key, value)| (key.to_owned(), value)));
        info
    }

    /// Write buffers that could be lent now; without a pool as many as Java's `int` holds.
    fn remaining_buffers(&self) -> usize {
        self.pool.as_ref().map_or(i32::MAX as usize, |pool| pool.available())
    }

    /// Used share of the file system, 0…1; −1 when it cannot be told.
    fn disk_ratio(&self, path: &std::path::Path) -> f64 {
        match self.env.disk().space(path) {
            Ok(space) => f64::from(used_percent(space)) / 100.0,
            Err(_) => -1.0,
        }
    }

    fn capacity(&self) -> String {
        const GIB: f64 = (1_u64 << 30) as f64;
        match self.env.disk().space(self.paths.root()) {
            Ok(space) => {
                format!(
                    "Total : {:.1} GiB, Free : {:.1} GiB.",
                    space.total as f64 / GIB,
                    space.available as f64 / GIB
                )
            }
            Err(error) => format!("unknown: {error}"),
        }
    }
}
