//! How full the store's disks are, and what that asks for (the level table of Apache).

use super::Shared;
use crate::config::CleanConfig;
use crate::running_flags::Hold;
use std::path::Path;
use store_logic::used_percent;

/// What a disk's level asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DiskLevel {
    /// Nothing.
    Fine,
    /// Expired files may go at any hour.
    Clean,
    /// Young files go too.
    Forced,
    /// … and writes are refused.
    Full,
}

impl DiskLevel {
    /// The level at `percent` used. Limits out of their range are moved into it, as Apache does.
    fn of(percent: u32, config: &CleanConfig) -> Self {
        if percent > warning_limit(config) {
            Self::Full
        } else if percent > config.disk_space_clean_forcibly_ratio.clamp(30, 85) {
            Self::Forced
        } else if percent > config.disk_max_used_space_ratio.clamp(10, 95) {
            Self::Clean
        } else {
            Self::Fine
        }
    }
}

fn warning_limit(config: &CleanConfig) -> u32 {
    config.disk_space_warning_level_ratio.clamp(35, 90)
}

/// How full the file system of a directory is.
struct Used<'a> {
    directory: &'a Path,
    percent: u32,
    available: u64,
    level: DiskLevel,
}

impl Shared {
    /// Level of the fuller of the store's disks: the one of the queues, and the emptiest of those the log may grow on. A
    /// disk that cannot be asked counts as fine. Refuses writes while the level is [`DiskLevel::Full`], and accepts them
    /// again below. Log directories that are too full take no new files.
    pub(crate) fn watch_disk(&self) -> DiskLevel {
        let directories = self.paths.commit_logs();
        let log: Vec<_> = directories.writable().iter().filter_map(|path| self.used(path)).collect();
        let forced = |used: &&Used<'_>| used.level >= DiskLevel::Forced;
        directories.set_full(log.iter().filter(forced).map(|used| used.directory.to_owned()).collect());
        let log = log.into_iter().min_by_key(|used| used.percent);
        let queues = self.paths.consume_queue();
        let worst = log.into_iter().chain(self.used(&queues)).max_by_key(|used| used.level);
        match &worst {
            Some(full) if full.level == DiskLevel::Full => {
                let reason = format!(
                    "disk full: {} % of the file system of {} used, limit diskSpaceWarningLevelRatio={}; \
                     {} B available",
                    full.percent,
                    full.directory.display(),
                    warning_limit(&self.config.clean),
                    full.available
                );
                self.flags.hold(Hold::DiskLevel, reason);
            }
            _ => self.flags.release(Hold::DiskLevel),
        }
        worst.map_or(DiskLevel::Fine, |used| used.level)
    }

    /// `None` when the file system does not say.
    fn used<'a>(&self, directory: &'a Path) -> Option<Used<'a>> {
        let space = self.env.disk().space(directory).ok()?;
        let percent = used_percent(space);
        let level = DiskLevel::of(percent, &self.config.clean);
        Some(Used { directory, percent, available: space.available, level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_the_table() {
        let config = CleanConfig::default();
        let levels = [
            (0, DiskLevel::Fine),
            (75, DiskLevel::Fine),
            (76, DiskLevel::Clean),
            (85, DiskLevel::Clean),
            (86, DiskLevel::Forced),
            (90, DiskLevel::Forced),
            (91, DiskLevel::Full),
        ];
        for (percent, expected) in levels {
            assert_eq!(DiskLevel::of(percent, &config), expected, "{percent} %");
        }
    }

    #[test]
    fn limits_out_of_range_are_moved_into_it() {
        let wild = CleanConfig {
            disk_max_used_space_ratio: 7,
            disk_space_clean_forcibly_ratio: 99,
            disk_space_warning_level_ratio: 100,
            ..CleanConfig::default()
        };
        let levels = [10, 11, 85, 86, 90, 91].map(|percent| DiskLevel::of(percent, &wild));
        use DiskLevel::*;
        assert_eq!(levels, [Fine, Clean, Clean, Forced, Forced, Full]);
    }
}
