//! After the walk: cutting what the log does not back, and setting all positions.

use crate::default_message_store::Shared;
use crate::error::StoreError;
use crate::log_damage::KnownDurable;
use crate::lost_places::LostPlaces;
use crate::sync::Ordering;
use std::collections::BTreeSet;
use store_logic::commit_log::LogEnd;
use store_logic::commit_log::format::store_timestamp;
use store_logic::store_checkpoint::CheckpointFields;

impl Shared {
    /// Cuts everything behind the last good record and sets all positions.
    pub(super) fn settle(&self, end: &LogEnd, scanned_from: u64, clean: bool) -> Result<(), StoreError> {
        self.log.truncate(end.offset)?;
        if !clean {
            // What a killed process had written may stand in the page cache alone.
            self.log.sync_from(scanned_from)?;
            self.log.rewrite_from(self.doubtful_from(self.believed_mark()?).max(scanned_from))?;
        }
        if let Some(index) = &self.index {
            index.truncate(end.offset)?;
        }
        let log_min = self.log.min_offset();
        let queues = self.queues.all();
        let mut new_in = BTreeSet::new();
        for handle in &queues {
            handle.queue.truncate(end.offset)?;
            // As above. What stands before was synced: else the checkpoint would have let the walk begin earlier.
            if !clean && handle.queue.rewrite_records_from(scanned_from)? {
                new_in.insert(handle.queue.topic());
            }
            handle.queue.correct_min_offset(log_min);
            handle.set_next_offset(handle.queue.max_offset());
        }
        self.queues.sync_names_of(new_in)?;
        self.keep_lost_places()?;
        self.settle_checkpoint(end)?;
        if !clean && (end.records > 0 || end.offset == log_min) {
            self.lower_checkpoint(end)?;
            self.raise_to_end(end)?;
        }
        self.log.lock_tail(|| self.env.now_millis()).0.raise_store_timestamp(end.last_store_timestamp);
        self.dispatched.store(end.offset, Ordering::Release);
        self.dispatched_timestamp.store(end.last_store_timestamp, Ordering::Release);
        self.dispatched_record.store(end.last_record.unwrap_or(0), Ordering::Release);
        self.notes.settle(log_min, end.offset, self.count_units());
        Ok(())
    }

    /// Log and queues are durable now: a crash from here on need not do it again.
    fn raise_to_end(&self, end: &LogEnd) -> Result<(), StoreError> {
        let Some(record) = end.last_record else { return Ok(()) };
        // The log may have been cut below the mark.
        let mark = self.believed_mark()?.min(end.offset);
        Ok(self.raise_checkpoint(mark, record, end.last_store_timestamp)?)
    }

    /// Position up to which the log was synced in the last run; 0 when unknown.
    fn believed_mark(&self) -> Result<u64, StoreError> {
        Ok(KnownDurable::read(&self.env, &self.paths, Some(&self.notes), false)?.mark)
    }

    /// Where bytes begin that a sync of the last run may have failed for: behind the flushed mark, or in the last file
    /// when there is none.
    pub(super) fn doubtful_from(&self, mark: u64) -> u64 {
        let last = self.log.files().last().map_or(0, |file| file.file_from_offset());
        if mark > 0 { mark } else { last }
    }

    /// Messages that were lost with the end of their queue keep their queue offsets to themselves.
    fn keep_lost_places(&self) -> Result<(), StoreError> {
        let mut lost = LostPlaces::read(&self.env, &self.paths)?;
        let end =
            |topic: &str, queue_id| self.queues.get(topic, queue_id).map_or(0, |handle| handle.next_offset());
        if lost.retain(|topic, queue_id, next| end(topic, queue_id) < next) {
            lost.write(&self.env, &self.paths)?;
        }
        for (topic, queue_id, next) in lost.iter() {
            self.queues.get_or_create(topic, queue_id)?.set_next_offset(next);
        }
        Ok(())
    }

    /// The checkpoint must not speak of records that were cut: others will stand in their places, and Apache 5.5.0 takes
    /// everything before its position for dispatched.
    fn settle_checkpoint(&self, end: &LogEnd) -> Result<(), StoreError> {
        self.checkpoint.set_confirm_phy_offset(end.offset)?;
        let known = u64::try_from(self.checkpoint.fields()?.logics_physical_offset).unwrap_or(0);
        if known > 0 && known >= end.offset {
            let last = end.last_record.map_or((0, 0), |record| (end.last_store_timestamp, record));
            self.checkpoint.set_logics(last.0, last.1)?;
        }
        Ok(())
    }

    /// Queues and index may have been durable further than the log is: what the checkpoint says of records that are lost
    /// must not hold for those that take their places, whatever the clock says then.
    fn lower_checkpoint(&self, end: &LogEnd) -> Result<(), StoreError> {
        let fields = self.checkpoint.fields()?;
        let newest = end.last_store_timestamp;
        if fields.physic_msg_timestamp > newest {
            self.checkpoint.set_physic_msg_timestamp(newest)?;
        }
        if fields.logics_msg_timestamp > newest || self.is_torn(&fields) {
            self.checkpoint.set_logics(newest, end.last_record.unwrap_or(0))?;
        }
        if fields.index_msg_timestamp > newest {
            self.checkpoint.set_index_msg_timestamp(newest)?;
        }
        Ok(self.checkpoint.flush()?)
    }

    /// True when the checkpoint's queue time and position are of two writes: a power cut came between them. Both were true,
    /// but a position must have its own record's time.
    fn is_torn(&self, fields: &CheckpointFields) -> bool {
        let Some(at) = u64::try_from(fields.logics_physical_offset).ok().filter(|at| *at > 0) else {
            return false;
        };
        let record = self.log.record_at(at);
        record.is_some_and(|record| store_timestamp(&record) != Some(fields.logics_msg_timestamp))
    }
}
