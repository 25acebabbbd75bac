use crate::topic_validator::RMQ_SYS_TRANS_HALF_TOPIC;
use std::net::SocketAddr;
use store_core::properties::{Properties, names};
use store_core::record_format::{Decoded, MessageView, decode};
use store_core::{Message, sys_flag};

use super::HALF_QUEUE;

/// Properties of half messages (`MessageConst`) besides those the store knows.
pub mod property_names {
    /// The message's unique key again.
    pub const TRANSACTION_ID: &str = "__transactionId__";
    /// How often the producer was asked.
    pub const TRANSACTION_CHECK_TIMES: &str = "TRANSACTION_CHECK_TIMES";
    /// Seconds that a producer wants to have before it is asked; set by the producer.
    pub const CHECK_IMMUNITY_TIME_IN_SECONDS: &str = "CHECK_IMMUNITY_TIME_IN_SECONDS";
    /// Of a copy made during those seconds: offset of the first half message.
    pub const TRANSACTION_PREPARED_QUEUE_OFFSET: &str = "TRAN_PREPARED_QUEUE_OFFSET";
}

/// Whether a send is one of a half message. A message that a consumer sends again is none: the mark that old clients leave
/// on it is of its first way. (Apache looks at the delay too, and so makes half messages of such dead letters.)
pub fn is_half(properties: &Properties, reconsume_times: i32) -> bool {
    let mark = properties.get(names::TRANSACTION_PREPARED);
    reconsume_times <= 0 && mark.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Sends a half message to the half topic; its own topic and queue go into its properties.
pub fn redirect_half(properties: &mut Properties, topic: &mut String, queue_id: &mut i32) {
    if let Some(id) = properties.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX).map(str::to_owned) {
        properties.set(property_names::TRANSACTION_ID, &id);
    }
    properties.set(names::REAL_TOPIC, topic);
    properties.set(names::REAL_QUEUE_ID, &queue_id.to_string());
    RMQ_SYS_TRANS_HALF_TOPIC.clone_into(topic);
    *queue_id = HALF_QUEUE;
}

/// A stored half message.
#[derive(Debug)]
pub struct HalfMessage<'a> {
    view: MessageView<'a>,
    properties: Properties,
}

impl<'a> HalfMessage<'a> {
    /// The half message that begins at the start of `record`; `None` when that is something else.
    pub fn read(record: &'a [u8]) -> Option<Self> {
        Self::read_from(record, RMQ_SYS_TRANS_HALF_TOPIC)
    }

    /// The same in another topic, where half messages that were given up lie.
    pub fn read_from(record: &'a [u8], topic: &str) -> Option<Self> {
        let Ok(Decoded::Record(view)) = decode(record, false) else { return None };
        if view.topic != topic || view.queue_offset < 0 {
            return None;
        }
        let mut properties = Properties::parse(view.properties);
        // It is of this record, not of those that are made from it.
        properties.remove(names::CRC32);
        Some(Self { view, properties })
    }

    /// The record.
    pub fn view(&self) -> &MessageView<'a> {
        &self.view
    }

    /// Its properties.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Its offset in the half topic.
    pub fn offset(&self) -> u64 {
        // Negative ones are refused when it is read.
        self.view.queue_offset.unsigned_abs()
    }

    /// Group of its producer.
    pub fn producer_group(&self) -> Option<&str> {
        self.properties.get(names::PRODUCER_GROUP)
    }

    /// Topic and queue it is meant for.
    pub fn real_queue(&self) -> Option<(&str, i32)> {
        let topic = self.properties.get(names::REAL_TOPIC)?;
        let queue_id = self.properties.get(names::REAL_QUEUE_ID)?.parse().ok()?;
        Some((topic, queue_id))
    }

    /// How often its producer was asked; `None`: never.
    pub fn check_times(&self) -> Option<u32> {
        let text = self.properties.get(property_names::TRANSACTION_CHECK_TIMES)?;
        // Written by brokers only; what is no number does not keep the message for ever.
        Some(text.parse().unwrap_or(u32::MAX))
    }

    /// Of a copy made during the producer's immunity: offset of the first half message.
    pub fn prepared_offset(&self) -> Option<u64> {
        self.properties.get(property_names::TRANSACTION_PREPARED_QUEUE_OFFSET)?.parse().ok()
    }

    /// Milliseconds since its producer made it; negative when the clocks disagree.
    pub fn age(&self, now: i64) -> i64 {
        now.saturating_sub(self.view.born_timestamp)
    }

    /// The same message for another queue and with other properties, outside any transaction.
    pub fn message<'m>(
        &'m self,
        topic: &'m str,
        queue_id: i32,
        properties: &'m str,
        store_host: SocketAddr,
    ) -> Message<'m> {
        let view = &self.view;
        let store_sets = sys_flag::BORN_HOST_V6 | sys_flag::STORE_HOST_V6 | sys_flag::TRANSACTION_MASK;
        Message {
            topic,
            queue_id,
            flag: view.flag,
            sys_flag: view.sys_flag & !store_sets,
            born_timestamp: view.born_timestamp,
            born_host: view.born_host,
            store_host,
            reconsume_times: view.reconsume_times,
            prepared_transaction_offset: 0,
            body: view.body,
            properties,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store_core::record_format::{RecordPlace, encode_whole};

    fn half(properties: &str, reconsume_times: i32) -> bool {
        is_half(&Properties::parse(properties), reconsume_times)
    }

    #[test]
    fn marked_messages_are_half_messages_unless_they_come_again() {
        assert!(half("TRAN_MSG\u{1}true\u{2}", 0));
        assert!(half("TRAN_MSG\u{1}TRUE\u{2}", 0));
        assert!(half("TRAN_MSG\u{1}true\u{2}DELAY\u{1}3\u{2}", 0));
        assert!(!half("TRAN_MSG\u{1}true\u{2}DELAY\u{1}3\u{2}", 1));
        assert!(!half("TRAN_MSG\u{1}true\u{2}DELAY\u{1}-1\u{2}", 17), "a dead letter");
        assert!(!half("TRAN_MSG\u{1}false\u{2}", 0));
        assert!(!half("", 0));
    }

    #[test]
    fn redirected_as_apache_stores_it() {
        let mut properties = Properties::parse("UNIQ_KEY\u{1}7F00\u{2}TRAN_MSG\u{1}true\u{2}");
        let (mut topic, mut queue_id) = ("TopicTx".to_owned(), 1);
        redirect_half(&mut properties, &mut topic, &mut queue_id);
        assert_eq!((topic.as_str(), queue_id), ("RMQ_SYS_TRANS_HALF_TOPIC", 0));
        let expected = "UNIQ_KEY\u{1}7F00\u{2}TRAN_MSG\u{1}true\u{2}__transactionId__\u{1}7F00\u{2}\
                        REAL_TOPIC\u{1}TopicTx\u{2}REAL_QID\u{1}1\u{2}";
        assert_eq!(properties.encode(), expected);
    }

    #[test]
    fn other_records_are_no_half_messages() {
        let message = Message {
            topic: "TopicTx",
            queue_id: 0,
            flag: 0,
            sys_flag: 0,
            born_timestamp: 0,
            born_host: "127.0.0.1:1".parse().unwrap(),
            store_host: "127.0.0.1:2".parse().unwrap(),
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: b"b",
            properties: "REAL_TOPIC\u{1}TopicTx\u{2}REAL_QID\u{1}0\u{2}",
        };
        let place = RecordPlace { queue_offset: 0, phy_offset: 0, store_timestamp: 0 };
        let record = encode_whole(&message, 100, false, &place).unwrap();
        assert!(HalfMessage::read(&record).is_none());
        assert!(HalfMessage::read(&record[..20]).is_none());
        assert!(HalfMessage::read(&[]).is_none());
        let message = Message { topic: RMQ_SYS_TRANS_HALF_TOPIC, ..message };
        let record = encode_whole(&message, 100, false, &place).unwrap();
        assert_eq!(HalfMessage::read(&record).unwrap().real_queue(), Some(("TopicTx", 0)));
    }
}
