//! Finding messages by key and by time.

use super::Shared;
use crate::message_store::QueryRequest;
use crate::query_result::QueryResult;
use std::ops::ControlFlow;
use store_logic::MappedSlice;
use store_logic::commit_log::format::{Decoded, decode};
use store_logic::consume_queue::{BoundaryType, Unit};
use store_logic::message::properties::{self, names};

impl Shared {
    pub(crate) fn query(&self, request: &QueryRequest<'_>) -> QueryResult {
        let Some(index) = &self.index else { return QueryResult::default() };
        let max = request.max_messages.min(self.config.index.max_msgs_num_batch as usize);
        let mut messages = Vec::new();
        if max == 0 {
            return QueryResult::default();
        }
        let found = index.query(request.topic, request.key, request.begin, request.end, |phy_offset| {
            // The index knows hashes only.
            messages.extend(self.log.record_at(phy_offset).filter(|record| carries(record, request)));
            if messages.len() < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        messages.reverse();
        match found {
            Ok(end) => QueryResult {
                messages,
                index_last_update_timestamp: end.timestamp,
                index_last_update_phy_offset: end.phy_offset,
            },
            Err(error) => {
                tracing::error!(%error, "the index cannot be read");
                QueryResult::default()
            }
        }
    }

    pub(super) fn offset_by_time(&self, topic: &str, queue_id: i32, at: i64, boundary: BoundaryType) -> u64 {
        let Some(handle) = self.queues.get(topic, queue_id) else { return 0 };
        let store_time = |unit: &Unit| self.log.store_timestamp(unit.phy_offset, unit.size);
        handle.queue.offset_by_time(at, boundary, store_time)
    }
}

/// True when the record is of the topic, carries the key and was stored in time.
fn carries(record: &MappedSlice, request: &QueryRequest<'_>) -> bool {
    let Ok(Decoded::Record(view)) = decode(record, false) else { return false };
    if view.topic != request.topic
        || view.store_timestamp < request.begin
        || view.store_timestamp > request.end
    {
        return false;
    }
    properties::pairs(view.properties).any(|(name, value)| match name {
        names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX => value == request.key,
        names::KEYS => value.split(' ').any(|key| key == request.key),
        _ => false,
    })
}
