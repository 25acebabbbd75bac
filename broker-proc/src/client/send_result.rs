//! What became of a message that was sent.

use std::fmt;

use super::ClientError;
use super::answer::Answer;
use crate::remoting::headers::SendMessageResponseHeader;
use crate::remoting::protocol::MessageQueue;
use crate::remoting::response_code;

/// How safe a stored message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendStatus {
    /// As safe as the broker is configured to make it.
    SendOk,
    /// Stored, but the flush to disk was not confirmed in time.
    FlushDiskTimeout,
    /// Stored, but the replica did not confirm in time.
    FlushSlaveTimeout,
    /// Stored, but there is no replica.
    SlaveNotAvailable,
}

impl SendStatus {
    fn from_code(code: i32) -> Option<Self> {
        match code {
            response_code::SUCCESS => Some(Self::SendOk),
            response_code::FLUSH_DISK_TIMEOUT => Some(Self::FlushDiskTimeout),
            response_code::FLUSH_SLAVE_TIMEOUT => Some(Self::FlushSlaveTimeout),
            response_code::SLAVE_NOT_AVAILABLE => Some(Self::SlaveNotAvailable),
            _ => None,
        }
    }

    /// Name of the status in Java.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SendOk => "SEND_OK",
            Self::FlushDiskTimeout => "FLUSH_DISK_TIMEOUT",
            Self::FlushSlaveTimeout => "FLUSH_SLAVE_TIMEOUT",
            Self::SlaveNotAvailable => "SLAVE_NOT_AVAILABLE",
        }
    }
}

impl fmt::Display for SendStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A stored message. For a batch the ids are those of all its messages, joined with commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendResult {
    /// How safe it is.
    pub status: SendStatus,
    /// Id that the producer gave to the message.
    pub msg_id: String,
    /// Id by which the broker finds the message.
    pub offset_msg_id: String,
    /// Queue that holds it.
    pub queue: MessageQueue,
    /// Its offset in the queue; of the first message of a batch.
    pub queue_offset: i64,
}

impl SendResult {
    /// Reads the answer to a message that was sent to `queue`.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] when it was not stored, [`ClientError::Header`] when the answer lacks something.
    pub(super) fn new(answer: &Answer<'_>, msg_id: String, queue: MessageQueue) -> Result<Self, ClientError> {
        let status = SendStatus::from_code(answer.code()).ok_or_else(|| answer.refused())?;
        let header: SendMessageResponseHeader = answer.header()?;
        Ok(Self {
            status,
            msg_id,
            offset_msg_id: header.msg_id,
            queue: MessageQueue { queue_id: header.queue_id, ..queue },
            queue_offset: header.queue_offset,
        })
    }
}
