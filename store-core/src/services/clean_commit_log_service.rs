//! Deletes expired log files (`CleanCommitLogService`).

use crate::default_message_store::Shared;
use crate::default_message_store::disk_level::DiskLevel;
use crate::service::{Service, Step};
use std::sync::Arc;
use std::time::Duration;
use store_logic::local_hour;

const HOUR_MILLIS: i64 = 3_600_000;

/// The cleaner. A round deletes at most `deleteFileBatchMax` files, one per step with a pause between two, and looks at
/// the disk before each: a round that was asked for by a full disk ends when there is room.
///
/// | what asks for it | which files go |
/// |---|---|
/// | the hour (`deleteWhen`) | expired ones |
/// | an administrator ([`Shared::clean_by_hand`]) | expired ones, for some rounds |
/// | more than `diskMaxUsedSpaceRatio` used | expired ones |
/// | more than `diskSpaceCleanForciblyRatio` used | the oldest, expired or not, if `cleanFileForciblyEnable` |
///
/// The last file always stays, and so does what is not dispatched yet. How far consumers have read does not matter.
pub(crate) struct CleanCommitLogService {
    shared: Arc<Shared>,
    round: Option<Round>,
}

/// A round under way.
struct Round {
    /// Files that may still go.
    left: u32,
    /// An administrator asked for it.
    by_hand: bool,
}

impl CleanCommitLogService {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, round: None }
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
        let mut round = self.round.take().unwrap_or_else(|| Round {
            left: config.delete_file_batch_max,
            by_hand: self.shared.take_round_by_hand(),
        });
        let level = self.shared.watch_disk();
        let on_time = config.delete_when.contains(&local_hour(self.shared.env.now_millis()));
        let immediately =
            config.clean_file_forcibly_enable && matches!(level, DiskLevel::Forced | DiskLevel::Full);
        let may_delete = on_time || round.by_hand || level != DiskLevel::Fine;
        if may_delete && round.left > 0 && self.delete_one(immediately) {
            round.left -= 1;
            tracing::info!(
                log_min = self.shared.log.min_offset(),
                immediately,
                by_hand = round.by_hand,
                "deleted an expired log file"
            );
            if round.left > 0 {
                self.round = Some(round);
                return Step::Wait(Duration::from_millis(config.delete_commit_log_files_interval));
            }
        }
        Step::Wait(Duration::from_millis(config.clean_resource_interval))
    }
}
