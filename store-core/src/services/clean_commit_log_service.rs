//! Deletes expired log files and watches how full the disk is (`CleanCommitLogService`, the level table of Apache).

use crate::config::CleanConfig;
use crate::default_message_store::Shared;
use crate::service::{Service, Step};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store_logic::{local_hour, used_percent};

const HOUR_MILLIS: i64 = 3_600_000;

/// What the disk's level asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Nothing.
    Fine,
    /// Expired files may go at any hour.
    Clean,
    /// Young files go too.
    Forced,
    /// … and writes are refused.
    Full,
}

fn level(percent: u32, config: &CleanConfig) -> Level {
    let warning = config.disk_space_warning_level_ratio.clamp(35, 90);
    let forced = config.disk_space_clean_forcibly_ratio.clamp(30, 85);
    let used = config.disk_max_used_space_ratio.clamp(10, 95);
    if percent > warning {
        Level::Full
    } else if percent > forced {
        Level::Forced
    } else if percent > used {
        Level::Clean
    } else {
        Level::Fine
    }
}

/// How full the file system of a directory is.
struct Used<'a> {
    directory: &'a Path,
    percent: u32,
    available: u64,
    level: Level,
}

/// The cleaner.
pub(crate) struct CleanCommitLogService {
    shared: Arc<Shared>,
    /// Files still to go in this round.
    round_left: u32,
}

impl CleanCommitLogService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, round_left: 0 }
    }

    /// Level of the fuller of the store's disks: the one of the root, and the emptiest of those the log may grow on.
    /// Log directories that are too full take no new files.
    fn check_disk(&self) -> Level {
        let directories = self.shared.paths.commit_logs();
        let log: Vec<_> = directories.writable().iter().filter_map(|path| self.used(path)).collect();
        let forced = |used: &&Used<'_>| used.level >= Level::Forced;
        directories.set_full(log.iter().filter(forced).map(|used| used.directory.to_owned()).collect());
        let log = log.into_iter().min_by_key(|used| used.percent);
        let root = self.used(self.shared.paths.root());
        let Some(worst) = log.into_iter().chain(root).max_by_key(|used| used.level) else {
            return Level::Fine;
        };
        if worst.level == Level::Full {
            self.shared.flags.set_disk_full(format!(
                "disk full: {} % of the file system of {} used, limit diskSpaceWarningLevelRatio={}; {} B available",
                worst.percent,
                worst.directory.display(),
                self.shared.config.clean.disk_space_warning_level_ratio.clamp(35, 90),
                worst.available
            ));
        } else {
            self.shared.flags.clear_disk_full();
        }
        worst.level
    }

    /// `None` when the file system does not say.
    fn used<'a>(&self, directory: &'a Path) -> Option<Used<'a>> {
        let space = self.shared.env.disk().space(directory).ok()?;
        let percent = used_percent(space);
        let level = level(percent, &self.shared.config.clean);
        Some(Used { directory, percent, available: space.available, level })
    }

    /// Deletes the first file when it may go.
    fn delete_one(&self, immediately: bool) -> bool {
        let shared = &self.shared;
        let now = shared.env.now_millis();
        let kept_for = i64::from(shared.config.clean.file_reserved_time) * HOUR_MILLIS;
        let deleted = shared.log.files().expire_first(|file| {
            let modified = shared.log.files().modified_millis(file).unwrap_or(i64::MAX);
            let dispatched = file.file_from_offset() + file.file_size() <= shared.dispatched_offset();
            dispatched && (immediately || now >= modified.saturating_add(kept_for))
        });
        match deleted {
            Ok(deleted) => deleted,
            Err(error) => {
                tracing::warn!(%error, "could not delete an expired log file");
                false
            }
        }
    }
}

impl Service for CleanCommitLogService {
    fn name(&self) -> &'static str {
        "CleanCommitLog"
    }

    fn step(&mut self) -> Step {
        let config = &self.shared.config.clean;
        let level = self.check_disk();
        let on_time = config.delete_when.contains(&local_hour(self.shared.env.now_millis()));
        let immediately = config.clean_file_forcibly_enable && matches!(level, Level::Forced | Level::Full);
        let may_delete = on_time || level != Level::Fine;
        if self.round_left == 0 {
            self.round_left = config.delete_file_batch_max;
        }
        if may_delete && self.round_left > 0 && self.delete_one(immediately) {
            self.round_left -= 1;
            tracing::info!(
                log_min = self.shared.log.min_offset(),
                immediately,
                "deleted an expired log file"
            );
            if self.round_left > 0 {
                return Step::Wait(Duration::from_millis(config.delete_commit_log_files_interval));
            }
        }
        self.round_left = 0;
        Step::Wait(Duration::from_millis(config.clean_resource_interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_the_table() {
        let config = CleanConfig::default();
        for (percent, expected) in
            [(0, Level::Fine), (75, Level::Fine), (76, Level::Clean), (86, Level::Forced), (91, Level::Full)]
        {
            assert_eq!(level(percent, &config), expected, "{percent} %");
        }
        // Out of range settings are clamped as Apache clamps them.
        let wild = CleanConfig { disk_space_warning_level_ratio: 100, ..config };
        assert_eq!(level(95, &wild), Level::Full);
    }
}
