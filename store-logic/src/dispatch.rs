//! What one record tells the objects that are derived from the log.

use crate::commit_log::format::MessageView;
use crate::message::properties::{self, names};
use crate::message::{sys_flag, tags_code};
use crate::multi_dispatch;

/// Topic of delayed messages; its queue units hold the deliver time in place of the tag code.
pub const SCHEDULE_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";

/// Facts about one record, borrowed from the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchRequest<'a> {
    /// Topic.
    pub topic: &'a str,
    /// Queue of the topic.
    pub queue_id: i32,
    /// Position of the record.
    pub phy_offset: u64,
    /// Bytes of the record.
    pub msg_size: u32,
    /// Hash of the tags, or the deliver time of a delayed message.
    pub tags_code: i64,
    /// When it was stored.
    pub store_timestamp: i64,
    /// Position in the queue.
    pub consume_queue_offset: u64,
    /// Messages in the record: more than 1 in an inner batch alone.
    pub batch_size: u16,
    /// Keys, separated by blanks.
    pub keys: Option<&'a str>,
    /// The client's unique id.
    pub uniq_key: Option<&'a str>,
    /// Tags.
    pub tags: Option<&'a str>,
    /// Bits of [`sys_flag`].
    pub sys_flag: i32,
    /// Names of its light queues.
    pub multi_dispatch: Option<&'a str>,
    /// Its offsets there.
    pub multi_queue_offset: Option<&'a str>,
    /// The property string, for filters that look further.
    pub properties: &'a str,
}

/// A place of a record in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitPlace<'a> {
    /// Topic of the queue; the name of a light queue is one.
    pub topic: &'a str,
    /// Queue of the topic.
    pub queue_id: i32,
    /// Position in the queue.
    pub queue_offset: u64,
    /// Queue offsets that the record takes there: 1, but for inner batches.
    pub count: u16,
}

impl UnitPlace<'_> {
    /// Queue offset behind the record's last message.
    pub fn next_offset(&self) -> u64 {
        self.queue_offset.saturating_add(u64::from(self.count))
    }
}

/// Deliver time of a delayed message, from its level and its store time (both as in `messageDelayLevel`).
pub trait DeliverTime {
    /// Epoch milliseconds.
    fn deliver_timestamp(&self, level: i32, store_timestamp: i64) -> i64;
    /// Largest level; greater ones count as this one.
    fn max_level(&self) -> i32;
}

/// What a record says outside of its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHead {
    /// Position of the record.
    pub phy_offset: u64,
    /// Bytes of the record.
    pub msg_size: u32,
    /// Queue of the topic.
    pub queue_id: i32,
    /// Position in the queue, as the record says.
    pub queue_offset: i64,
    /// Bits of [`sys_flag`].
    pub sys_flag: i32,
    /// When it was stored.
    pub store_timestamp: i64,
}

impl RecordHead {
    /// Of the record at `phy_offset`.
    pub fn new(phy_offset: u64, view: &MessageView<'_>) -> Self {
        Self {
            phy_offset,
            msg_size: view.total_size,
            queue_id: view.queue_id,
            queue_offset: view.queue_offset,
            sys_flag: view.sys_flag,
            store_timestamp: view.store_timestamp,
        }
    }
}

impl<'a> DispatchRequest<'a> {
    /// The facts of the record at `phy_offset`.
    pub fn new(phy_offset: u64, view: &MessageView<'a>, delay: &dyn DeliverTime) -> Self {
        Self::of_parts(&RecordHead::new(phy_offset, view), view.topic, view.properties, delay)
    }

    /// The facts of a record of which only these parts are at hand.
    pub fn of_parts(head: &RecordHead, topic: &'a str, properties: &'a str, delay: &dyn DeliverTime) -> Self {
        let mut request = Self {
            topic,
            queue_id: head.queue_id,
            phy_offset: head.phy_offset,
            msg_size: head.msg_size,
            tags_code: 0,
            store_timestamp: head.store_timestamp,
            // A negative one is damaged, and must not look like the first of a queue.
            consume_queue_offset: u64::try_from(head.queue_offset).unwrap_or(u64::MAX),
            batch_size: 1,
            keys: None,
            uniq_key: None,
            tags: None,
            sys_flag: head.sys_flag,
            multi_dispatch: None,
            multi_queue_offset: None,
            properties,
        };
        let mut level = 0;
        let (mut inner_num, mut inner_base) = (None, None);
        for (name, value) in properties::pairs(properties) {
            match name {
                names::KEYS => request.keys = Some(value),
                names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX => request.uniq_key = Some(value),
                names::TAGS => request.tags = Some(value),
                names::INNER_MULTI_DISPATCH => request.multi_dispatch = Some(value),
                names::INNER_MULTI_QUEUE_OFFSET => request.multi_queue_offset = Some(value),
                names::INNER_NUM => inner_num = Some(value),
                names::INNER_BASE => inner_base = Some(value),
                names::DELAY_TIME_LEVEL => level = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        if head.sys_flag & sys_flag::INNER_BATCH != 0 {
            // Both or none, as Apache reads them.
            if let (Some(count), Some(base)) = (inner_num.and_then(inner_count), inner_base.and_then(offset))
            {
                (request.batch_size, request.consume_queue_offset) = (count, base);
            }
        }
        request.tags_code = tags_code::tags_code(request.tags);
        if topic == SCHEDULE_TOPIC && level > 0 {
            let level = level.min(delay.max_level());
            request.tags_code = delay.deliver_timestamp(level, head.store_timestamp);
        }
        request
    }

    /// True when the record gets a place in a queue.
    pub fn is_visible(&self) -> bool {
        sys_flag::is_visible(self.sys_flag)
    }

    /// The record's place in the queue of its topic.
    pub fn own_place(&self) -> UnitPlace<'a> {
        UnitPlace {
            topic: self.topic,
            queue_id: self.queue_id,
            queue_offset: self.consume_queue_offset,
            count: self.batch_size,
        }
    }

    /// The record's places in light queues.
    pub fn light_places(&self) -> impl Iterator<Item = UnitPlace<'a>> + use<'a> {
        let places = multi_dispatch::assigned(self.topic, self.multi_dispatch, self.multi_queue_offset);
        places.map(|(topic, queue_offset)| UnitPlace {
            topic,
            queue_id: multi_dispatch::LMQ_QUEUE_ID,
            queue_offset,
            count: 1,
        })
    }
}

/// Messages that a value of [`names::INNER_NUM`] tells of; `None` for anything a queue unit cannot say.
pub fn inner_count(value: &str) -> Option<u16> {
    value.parse::<i16>().ok().filter(|count| *count > 0).map(i16::unsigned_abs)
}

fn offset(value: &str) -> Option<u64> {
    value.parse::<i64>().ok().and_then(|offset| u64::try_from(offset).ok())
}
