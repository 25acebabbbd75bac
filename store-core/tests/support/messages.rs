//! Messages for tests.

use store_core::Message;

/// A message of a topic and queue, with nothing else to it.
pub fn message<'a>(topic: &'a str, queue_id: i32, body: &'a [u8]) -> Message<'a> {
    Message {
        topic,
        queue_id,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_000,
        born_host: ([127, 0, 0, 1], 40_000).into(),
        store_host: ([127, 0, 0, 1], 10_911).into(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body,
        properties: "",
    }
}
