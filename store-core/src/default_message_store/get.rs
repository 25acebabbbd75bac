//! Reading a queue (`DefaultMessageStore.getMessage`).

use super::Shared;
use crate::config::BrokerRole;
use crate::get_result::{GetMessageStatus, GetResult};
use crate::message_store::GetRequest;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::consume_queue::Unit;
use store_logic::message::properties::{self, names};
use store_logic::message::tags_code;
use store_logic::{CqUnit, Queue};

/// Bytes of a message's queue unit, for the limit of how much is looked through.
const UNIT_SIZE: u64 = 20;

impl Shared {
    pub(crate) fn get(&self, request: &GetRequest<'_>) -> GetResult {
        let began = self.env.clock().monotonic();
        let result = self.find(request);
        let took = self.env.clock().monotonic().saturating_sub(began);
        self.stats.count_get(result.message_count, took);
        result
    }

    fn find(&self, request: &GetRequest<'_>) -> GetResult {
        let Some(handle) = self.queues.get(request.topic, request.queue_id) else {
            return empty(GetMessageStatus::NoMessageInQueue, 0, 0, 0);
        };
        let queue = &handle.queue;
        let (min, max) = (queue.min_offset(), queue.max_offset());
        let refused = |status, next| empty(status, self.next_for_reader(request, next), min, max);
        if max == 0 {
            return refused(GetMessageStatus::NoMessageInQueue, 0);
        }
        let Ok(offset) = u64::try_from(request.offset) else {
            return refused(GetMessageStatus::OffsetTooSmall, min);
        };
        if offset < min {
            refused(GetMessageStatus::OffsetTooSmall, min)
        } else if offset == max {
            refused(GetMessageStatus::OffsetOverflowOne, offset)
        } else if offset > max {
            refused(GetMessageStatus::OffsetOverflowBadly, max)
        } else {
            Collector::new(self, queue, request, offset).collect()
        }
    }

    /// Where a reader outside the queue goes on. A slave may lack what its master holds, and sends nobody away.
    fn next_for_reader(&self, request: &GetRequest<'_>, corrected: u64) -> u64 {
        let corrects = self.config.broker_role != BrokerRole::Slave || self.config.read.offset_check_in_slave;
        if corrects { corrected } else { u64::try_from(request.offset).unwrap_or(corrected) }
    }

    /// True when the record at `phy_offset` is likely still in the page cache.
    fn is_hot(&self, phy_offset: u64) -> bool {
        self.log.max_offset().saturating_sub(phy_offset) <= self.hot_bytes
    }
}

fn empty(status: GetMessageStatus, next_begin_offset: u64, min_offset: u64, max_offset: u64) -> GetResult {
    GetResult {
        status,
        messages: Vec::new(),
        message_count: 0,
        total_bytes: 0,
        next_begin_offset,
        min_offset,
        max_offset,
        suggest_pulling_from_slave: false,
    }
}

/// One read under way.
struct Collector<'a> {
    shared: &'a Shared,
    queue: &'a Queue,
    request: &'a GetRequest<'a>,
    first: u64,
    result: GetResult,
    /// Records below are in a log file that is gone.
    skip_until: u64,
    last_phy: u64,
}

/// Whether the next unit may be looked at.
enum Go {
    On,
    Stop,
}

impl<'a> Collector<'a> {
    fn new(shared: &'a Shared, queue: &'a Queue, request: &'a GetRequest<'a>, first: u64) -> Self {
        let result = empty(GetMessageStatus::NoMatchedMessage, first, queue.min_offset(), queue.max_offset());
        Self { shared, queue, request, first, result, skip_until: 0, last_phy: 0 }
    }

    fn collect(mut self) -> GetResult {
        let mut files_left = self.shared.config.read.travel_cq_file_num_when_get_message.max(1);
        while self.result.messages.is_empty()
            && self.result.next_begin_offset < self.result.max_offset
            && files_left > 0
        {
            files_left -= 1;
            let Some(units) = self.queue.units_from(self.result.next_begin_offset) else {
                self.result.status = GetMessageStatus::OffsetFoundNull;
                self.result.next_begin_offset = self.queue.roll_next(self.result.next_begin_offset);
                break;
            };
            for found in units {
                if found.queue_offset >= self.result.max_offset || matches!(self.look_at(&found), Go::Stop) {
                    break;
                }
            }
        }
        let behind = self.shared.log.max_offset().saturating_sub(self.last_phy);
        self.result.suggest_pulling_from_slave = self.last_phy > 0 && behind > self.shared.hot_bytes;
        self.result
    }

    fn look_at(&mut self, found: &CqUnit) -> Go {
        let unit = &found.unit;
        let read = &self.shared.config.read;
        let scan_limit =
            u64::from(read.max_filter_message_size).max(u64::from(self.request.max_messages) * UNIT_SIZE);
        // The first record of a batch queue may begin before what was asked for.
        let looked_through = found.queue_offset.saturating_sub(self.first) * UNIT_SIZE;
        if looked_through >= scan_limit || self.is_full(found) {
            return Go::Stop;
        }
        self.result.next_begin_offset = found.next_offset();
        self.last_phy = unit.phy_offset;
        if unit.is_blank() || unit.phy_offset < self.skip_until {
            return Go::On;
        }
        if self.is_filtered_out(unit) {
            return Go::On;
        }
        let Some(record) = self.shared.log.record_named(unit.phy_offset, unit.size) else {
            if self.shared.is_unreadable(unit.phy_offset) {
                // The message may be there again after a restart: the reader must not be led past it.
                self.result.next_begin_offset = found.queue_offset.max(self.first);
                if self.result.messages.is_empty() {
                    self.result.status = GetMessageStatus::OffsetFoundNull;
                }
                return Go::Stop;
            }
            if self.result.messages.is_empty() {
                self.result.status = GetMessageStatus::MessageWasRemoving;
            }
            // Only what the log has left behind goes file by file; a damaged unit says nothing about others.
            if unit.phy_offset < self.shared.log.min_offset() {
                self.skip_until = self.shared.log.files().roll_next(unit.phy_offset);
            }
            return Go::On;
        };
        if self.request.filter.is_some_and(|filter| !filter.matches_record(&record)) {
            return Go::On;
        }
        self.result.total_bytes += record.len() as u64;
        self.result.messages.push(record);
        self.result.message_count += u64::from(found.count);
        self.result.status = GetMessageStatus::Found;
        self.skip_until = 0;
        Go::On
    }

    /// True when the filter refuses the unit by its tag code. A unit of Apache's that only says where the code is has it
    /// taken from the record.
    fn is_filtered_out(&self, unit: &Unit) -> bool {
        let Some(filter) = self.request.filter else { return false };
        if !unit.has_ext_address() {
            return !filter.matches_tags_code(unit.tags_code);
        }
        let record = self.shared.log.slice(unit.phy_offset, unit.size);
        match record.as_deref().map(|record| decode(record, false)) {
            Some(Ok(Decoded::Record(view))) => {
                let tags = properties::get(view.properties, names::TAGS);
                !filter.matches_tags_code(tags_code::tags_code(tags))
            }
            // Not there: what follows says so.
            _ => false,
        }
    }

    /// True when the unit's record would be too much. The first record always fits.
    fn is_full(&self, found: &CqUnit) -> bool {
        let (unit, count) = (&found.unit, self.result.message_count);
        if count == 0 {
            return false;
        }
        let read = &self.shared.config.read;
        let (bytes, messages) = if self.shared.is_hot(unit.phy_offset) {
            (read.max_transfer_bytes_on_message_in_memory, read.max_transfer_count_on_message_in_memory)
        } else {
            (read.max_transfer_bytes_on_message_in_disk, read.max_transfer_count_on_message_in_disk)
        };
        count + u64::from(found.count) > u64::from(self.request.max_messages)
            || count >= u64::from(messages)
            || self.result.total_bytes + u64::from(unit.size) > bytes
    }
}
