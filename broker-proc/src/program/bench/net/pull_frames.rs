//! Pulls encoded ahead.

use super::link::{encoded, set_opaque};
use crate::remoting::headers::{PullMessageRequestHeader, pull_sys_flag};
use crate::remoting::{RemotingCommand, request_code};
use anyhow::{Context as _, Result};

/// Messages of one pull, as official push consumers ask for.
pub(in super::super) const PULLED_AT_ONCE: i32 = 32;
/// How long a pull may be held, as official push consumers ask for.
const SUSPEND_MILLIS: i64 = 15_000;
/// An offset of 19 digits, which is what the largest one has. Readers take leading zeros.
const OFFSET: i64 = 8_888_888_888_888_888_888;
const OFFSET_DIGITS: usize = 19;

/// The encoded pull of one queue.
#[derive(Debug)]
pub(in super::super) struct PullFrame {
    bytes: Vec<u8>,
    offset_at: usize,
}

impl PullFrame {
    /// For one queue; `opaque` tells its answers from those of other queues. The broker holds a pull that finds nothing
    /// when it `may_wait`.
    ///
    /// # Errors
    ///
    /// A request that does not fit into a frame.
    pub(in super::super) fn new(topic: &str, queue: u32, opaque: u32, may_wait: bool) -> Result<Self> {
        let waits = if may_wait { pull_sys_flag::SUSPEND } else { 0 };
        let header = PullMessageRequestHeader {
            consumer_group: "stratamq-bench".to_owned(),
            topic: topic.to_owned(),
            queue_id: i32::try_from(queue)?,
            queue_offset: OFFSET,
            max_msg_nums: PULLED_AT_ONCE,
            sys_flag: pull_sys_flag::SUBSCRIPTION | waits,
            suspend_timeout_millis: SUSPEND_MILLIS,
            subscription: Some("*".to_owned()),
            expression_type: Some("TAG".to_owned()),
            ..Default::default()
        };
        let mut bytes = encoded(RemotingCommand::request_with(request_code::PULL_MESSAGE, &header))?;
        set_opaque(&mut bytes, opaque);
        let digits = OFFSET.to_string();
        let begin = bytes.windows(OFFSET_DIGITS).position(|window| window == digits.as_bytes());
        Ok(Self { bytes, offset_at: begin.context("a pull without offset")? })
    }

    /// The frame that pulls from an offset.
    pub(in super::super) fn at(&mut self, mut offset: u64) -> &[u8] {
        for digit in self.bytes[self.offset_at..][..OFFSET_DIGITS].iter_mut().rev() {
            *digit = b'0' + (offset % 10) as u8;
            offset /= 10;
        }
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remoting::{FrameLimits, frame};
    use bytes::BytesMut;

    #[test]
    fn offsets_are_patched_in_place() {
        let mut pull = PullFrame::new("T", 3, 7, true).unwrap();
        for offset in [0, 31, 9_223_372_036_854_775_807] {
            let mut bytes = BytesMut::from(pull.at(offset));
            let command = frame::decode(&mut bytes, FrameLimits::SERVER).unwrap().unwrap();
            assert_eq!(command.opaque, 7);
            let header: PullMessageRequestHeader = command.decode_header().unwrap();
            assert_eq!((header.queue_id, header.queue_offset), (3, offset as i64));
            assert_eq!(header.sys_flag, pull_sys_flag::SUBSCRIPTION | pull_sys_flag::SUSPEND);
        }
    }
}
