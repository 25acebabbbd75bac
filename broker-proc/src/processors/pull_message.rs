//! `PULL_MESSAGE`, `LITE_PULL_MESSAGE`: checks in Apache's order, the read, and the wait when there is nothing yet.

mod check;

use crate::broker_context::BrokerContext;
use crate::consumer_manager::Subscription;
use crate::processor::{Processor, Refusal};
use crate::remoting::headers::{PullMessageRequestHeader, PullMessageResponseHeader, pull_sys_flag};
use crate::remoting::{Body, Channel, RemotingCommand, Reply, response_code};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use store_core::{GetMessageStatus, GetRequest, GetResult, MessageFilter};

/// Longest wait for a message, whatever a client asks for: its own request times out after 30 s.
const MAX_SUSPEND_MILLIS: u64 = 25_000;

/// The processor.
pub struct PullMessageProcessor {
    context: Arc<BrokerContext>,
}

/// A pull that has passed the checks.
struct Pull {
    context: Arc<BrokerContext>,
    header: PullMessageRequestHeader,
    subscription: Arc<Subscription>,
    topic_sys_flag: i32,
    group_sys_flag: i32,
    /// The answer without its result.
    response: RemotingCommand,
}

impl PullMessageProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }
}

impl Processor for PullMessageProcessor {
    fn process(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: PullMessageRequestHeader = request.decode_header()?;
        let checked = match check::check(&self.context, request, &header, channel.peer()) {
            Ok(checked) => checked,
            Err(refused) => return Ok(refused.answer(request).into()),
        };
        let pull = Pull {
            context: Arc::clone(&self.context),
            header,
            subscription: checked.subscription,
            topic_sys_flag: checked.topic.topic_sys_flag,
            group_sys_flag: checked.group.group_sys_flag,
            response: RemotingCommand::response_to(request, response_code::SUCCESS),
        };
        if let Some(offset) = pull.take_reset() {
            return Ok(pull.reset_answer(offset).into());
        }
        pull.commit_offset();
        let result = pull.read();
        if pull.may_wait(&result) {
            return Ok(Reply::later(pull.wait()));
        }
        Ok(pull.answer(result).into())
    }
}

impl Pull {
    /// A reset of the group's offset that waits for this pull.
    fn take_reset(&self) -> Option<i64> {
        if !self.context.config.use_server_side_reset_offset {
            return None;
        }
        let header = &self.header;
        self.context.offsets.take_reset_offset(&header.topic, &header.consumer_group, header.queue_id)
    }

    fn commit_offset(&self) {
        let header = &self.header;
        if header.sys_flag & pull_sys_flag::COMMIT_OFFSET != 0 {
            self.context.offsets.commit_offset(
                &header.consumer_group,
                &header.topic,
                header.queue_id,
                header.commit_offset,
                self.context.now(),
            );
        }
    }

    fn read(&self) -> GetResult {
        let filter = TagFilter(&self.subscription);
        self.context.store.get(&GetRequest {
            topic: &self.header.topic,
            queue_id: self.header.queue_id,
            offset: self.header.queue_offset,
            max_messages: u32::try_from(self.header.max_msg_nums).unwrap_or(0).max(1),
            filter: Some(&filter),
        })
    }

    fn may_wait(&self, result: &GetResult) -> bool {
        let asked = self.header.sys_flag & pull_sys_flag::SUSPEND != 0;
        asked
            && self.header.suspend_timeout_millis > 0
            && self.code_of(result.status) == response_code::PULL_NOT_FOUND
    }

    /// Waits for a message or the end of the client's patience, then reads again, whatever is there by then.
    async fn wait(self) -> RemotingCommand {
        let config = &self.context.config;
        let asked = u64::try_from(self.header.suspend_timeout_millis).unwrap_or(0).min(MAX_SUSPEND_MILLIS);
        let patience =
            if config.long_polling_enable { asked } else { asked.min(config.short_polling_time_mills) };
        let offset = u64::try_from(self.header.queue_offset).unwrap_or(0);
        let subscription = Arc::clone(&self.subscription);
        let held = self.context.hold.hold(&self.header.topic, self.header.queue_id, offset, subscription);
        // A message may have arrived between the read and the hold.
        if self.context.store.offsets(&self.header.topic, self.header.queue_id).max <= offset {
            let _ = tokio::time::timeout(Duration::from_millis(patience), held).await;
        }
        let result = self.read();
        self.answer(result)
    }

    fn code_of(&self, status: GetMessageStatus) -> i32 {
        match status {
            GetMessageStatus::Found => response_code::SUCCESS,
            GetMessageStatus::NoMatchedMessage | GetMessageStatus::MessageWasRemoving => {
                response_code::PULL_RETRY_IMMEDIATELY
            }
            GetMessageStatus::NoMatchedLogicQueue | GetMessageStatus::NoMessageInQueue => {
                if self.header.queue_offset == 0 {
                    response_code::PULL_NOT_FOUND
                } else {
                    response_code::PULL_OFFSET_MOVED
                }
            }
            GetMessageStatus::OffsetFoundNull | GetMessageStatus::OffsetOverflowOne => {
                response_code::PULL_NOT_FOUND
            }
            GetMessageStatus::OffsetOverflowBadly | GetMessageStatus::OffsetTooSmall => {
                response_code::PULL_OFFSET_MOVED
            }
        }
    }

    fn answer(mut self, result: GetResult) -> RemotingCommand {
        let next = i64::try_from(result.next_begin_offset).unwrap_or(i64::MAX);
        let header = &self.header;
        self.context.offsets.commit_pull_offset(&header.consumer_group, &header.topic, header.queue_id, next);
        self.response.code = self.code_of(result.status);
        self.response.remark = Some(result.status.name().to_owned());
        let fields = self.response_header(next, result.min_offset, result.max_offset);
        let records = result.messages.into_iter().map(Bytes::from_owner).collect();
        self.response.with_header(&fields).with_body(Body::from_parts(records))
    }

    fn reset_answer(mut self, offset: i64) -> RemotingCommand {
        let range = self.context.store.offsets(&self.header.topic, self.header.queue_id);
        self.response.code = response_code::PULL_OFFSET_MOVED;
        self.response.remark = Some("OFFSET_RESET".to_owned());
        let fields = self.response_header(offset, range.min, range.max);
        self.response.with_header(&fields)
    }

    fn response_header(&self, next: i64, min: u64, max: u64) -> PullMessageResponseHeader {
        PullMessageResponseHeader {
            suggest_which_broker_id: 0,
            next_begin_offset: next,
            min_offset: i64::try_from(min).unwrap_or(i64::MAX),
            max_offset: i64::try_from(max).unwrap_or(i64::MAX),
            offset_delta: None,
            topic_sys_flag: Some(self.topic_sys_flag),
            group_sys_flag: Some(self.group_sys_flag),
            forbidden_type: None,
        }
    }
}

/// A subscription's tags as the store asks for them.
struct TagFilter<'a>(&'a Subscription);

impl MessageFilter for TagFilter<'_> {
    fn matches_tags_code(&self, tags_code: i64) -> bool {
        self.0.matches_tags_code(Some(tags_code))
    }
}
