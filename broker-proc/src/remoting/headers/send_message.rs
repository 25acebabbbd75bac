//! Sending messages: `SEND_MESSAGE`, `SEND_MESSAGE_V2`, `SEND_BATCH_MESSAGE`, `CONSUMER_SEND_MSG_BACK`,
//! `RECALL_MESSAGE`. The reply codes 324 and 325 use the same request headers.

use super::{HeaderField, remoting_header};
use crate::remoting::{CommandHeader, ExtFields, HeaderError, request_code};

remoting_header! {
    /// Header of a send. [`CommandHeader`] reads and writes the long names of `SEND_MESSAGE`; for the
    /// one-letter names of the other codes see [`SendMessageRequestHeader::decode_v2`], and for the choice
    /// between them [`SendMessageRequestHeader::decode_for`].
    pub struct SendMessageRequestHeader {
        /// Group of the producer.
        "producerGroup" producer_group: String,
        /// Topic, its namespace already applied.
        "topic" topic: String,
        /// Topic whose settings a new topic inherits; normally `TBW102`.
        "defaultTopic" default_topic: String,
        /// Number of queues the client wishes for a new topic.
        "defaultTopicQueueNums" default_topic_queue_nums: i32,
        /// Queue, or −1 to leave the choice to the broker.
        "queueId" queue_id: i32,
        /// Bits of the message: compression and transaction.
        "sysFlag" sys_flag: i32,
        /// When the client made the message, in milliseconds since 1970.
        "bornTimestamp" born_timestamp: i64,
        /// The user's own flag.
        "flag" flag: i32,
        /// Property string.
        "properties" properties: Option<String>,
        /// How often the message was consumed in vain; set when a consumer re-sends to its retry topic.
        "reconsumeTimes" reconsume_times: i32 = 0,
        /// Whether the client works in unit mode.
        "unitMode" unit_mode: bool = false,
        /// Retries before the dead letter topic; only with a retry topic.
        "maxReconsumeTimes" max_reconsume_times: Option<i32>,
        /// Whether the body is a batch. This alone decides, not the request code.
        "batch" batch: bool = false,
    }
}

/// Wire names of the compact form in the order of the struct, each with the long name for messages.
mod v2 {
    pub(super) const HEADER: &str = "SendMessageRequestHeaderV2";
    pub(super) const PRODUCER_GROUP: &str = "a";
    pub(super) const TOPIC: &str = "b";
    pub(super) const DEFAULT_TOPIC: &str = "c";
    pub(super) const DEFAULT_TOPIC_QUEUE_NUMS: &str = "d";
    pub(super) const QUEUE_ID: &str = "e";
    pub(super) const SYS_FLAG: &str = "f";
    pub(super) const BORN_TIMESTAMP: &str = "g";
    pub(super) const FLAG: &str = "h";
    pub(super) const PROPERTIES: &str = "i";
    pub(super) const RECONSUME_TIMES: &str = "j";
    pub(super) const UNIT_MODE: &str = "k";
    pub(super) const MAX_RECONSUME_TIMES: &str = "l";
    pub(super) const BATCH: &str = "m";
}

impl SendMessageRequestHeader {
    /// Reads the header of a send request with the names that its code goes with.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] naming the field by its wire name.
    pub fn decode_for(code: i32, fields: &ExtFields) -> Result<Self, HeaderError> {
        match code {
            request_code::SEND_MESSAGE | request_code::SEND_REPLY_MESSAGE => Self::decode(fields),
            _ => Self::decode_v2(fields),
        }
    }

    /// Writes the header of a send request with the names that its code goes with.
    #[must_use]
    pub fn encode_for(&self, code: i32) -> ExtFields {
        match code {
            request_code::SEND_MESSAGE | request_code::SEND_REPLY_MESSAGE => self.encode(),
            _ => self.encode_v2(),
        }
    }

    /// Reads the one-letter names.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] naming the field by its letter.
    pub fn decode_v2(fields: &ExtFields) -> Result<Self, HeaderError> {
        fn read<T: HeaderField>(fields: &ExtFields, name: &'static str) -> Result<T, HeaderError> {
            T::read(fields, v2::HEADER, name)
        }
        Ok(Self {
            producer_group: read(fields, v2::PRODUCER_GROUP)?,
            topic: read(fields, v2::TOPIC)?,
            default_topic: read(fields, v2::DEFAULT_TOPIC)?,
            default_topic_queue_nums: read(fields, v2::DEFAULT_TOPIC_QUEUE_NUMS)?,
            queue_id: read(fields, v2::QUEUE_ID)?,
            sys_flag: read(fields, v2::SYS_FLAG)?,
            born_timestamp: read(fields, v2::BORN_TIMESTAMP)?,
            flag: read(fields, v2::FLAG)?,
            properties: read(fields, v2::PROPERTIES)?,
            reconsume_times: read::<Option<i32>>(fields, v2::RECONSUME_TIMES)?.unwrap_or(0),
            unit_mode: read::<Option<bool>>(fields, v2::UNIT_MODE)?.unwrap_or(false),
            max_reconsume_times: read(fields, v2::MAX_RECONSUME_TIMES)?,
            batch: read::<Option<bool>>(fields, v2::BATCH)?.unwrap_or(false),
        })
    }

    /// Writes the one-letter names.
    #[must_use]
    pub fn encode_v2(&self) -> ExtFields {
        let mut fields = ExtFields::with_capacity(16, 512);
        self.producer_group.write(&mut fields, v2::PRODUCER_GROUP);
        self.topic.write(&mut fields, v2::TOPIC);
        self.default_topic.write(&mut fields, v2::DEFAULT_TOPIC);
        self.default_topic_queue_nums.write(&mut fields, v2::DEFAULT_TOPIC_QUEUE_NUMS);
        self.queue_id.write(&mut fields, v2::QUEUE_ID);
        self.sys_flag.write(&mut fields, v2::SYS_FLAG);
        self.born_timestamp.write(&mut fields, v2::BORN_TIMESTAMP);
        self.flag.write(&mut fields, v2::FLAG);
        self.properties.write(&mut fields, v2::PROPERTIES);
        self.reconsume_times.write(&mut fields, v2::RECONSUME_TIMES);
        self.unit_mode.write(&mut fields, v2::UNIT_MODE);
        self.max_reconsume_times.write(&mut fields, v2::MAX_RECONSUME_TIMES);
        self.batch.write(&mut fields, v2::BATCH);
        fields
    }
}

remoting_header! {
    /// Answer to a send that stored something.
    pub struct SendMessageResponseHeader {
        /// Offset id of the message; for a batch the ids of all, joined with commas.
        "msgId" msg_id: String,
        /// Queue that took the message.
        "queueId" queue_id: i32,
        /// Offset of the (first) message in the queue.
        "queueOffset" queue_offset: i64,
        /// The message's `UNIQ_KEY`.
        "transactionId" transaction_id: Option<String>,
        /// Id of an inner batch.
        "batchUniqId" batch_uniq_id: Option<String>,
        /// Handle by which a timer message can be recalled.
        "recallHandle" recall_handle: Option<String>,
        /// Region of the broker.
        "MSG_REGION" msg_region: Option<String>,
        /// Whether clients shall trace, as text.
        "TRACE_ON" trace_on: Option<String>,
    }
}

remoting_header! {
    /// `CONSUMER_SEND_MSG_BACK`.
    pub struct ConsumerSendMsgBackRequestHeader {
        /// Position of the message in the commit log.
        "offset" offset: i64,
        /// Group that hands the message back.
        "group" group: String,
        /// Delay level; 0 lets the broker choose, negative means dead letter.
        "delayLevel" delay_level: i32,
        /// Id of the message as the client knows it.
        "originMsgId" origin_msg_id: Option<String>,
        /// Topic the message came from.
        "originTopic" origin_topic: Option<String>,
        /// Whether the client works in unit mode.
        "unitMode" unit_mode: bool = false,
        /// Retries before the dead letter topic.
        "maxReconsumeTimes" max_reconsume_times: Option<i32>,
        /// Broker that holds the message.
        "bname" broker_name: Option<String>,
    }
}

remoting_header! {
    /// `RECALL_MESSAGE`.
    pub struct RecallMessageRequestHeader {
        /// Group of the producer.
        "producerGroup" producer_group: String,
        /// Topic of the timer message.
        "topic" topic: String,
        /// Handle from the answer to the send.
        "recallHandle" recall_handle: String,
        /// Broker that holds the message.
        "bname" broker_name: Option<String>,
    }
}

remoting_header! {
    /// Answer to `RECALL_MESSAGE`.
    pub struct RecallMessageResponseHeader {
        /// `UNIQ_KEY` of the recalled message.
        "msgId" msg_id: String,
    }
}
