//! From a request code to the one who serves it: one table.

use crate::broker_context::BrokerContext;
use crate::processors::{
    AdminBrokerProcessor, ClientManageProcessor, ConsumerManageProcessor, ConsumerSendMsgBackProcessor,
    EndTransactionProcessor, GroupAdminProcessor, PullMessageProcessor, QueryMessageProcessor,
    QueueLockProcessor, QueueOffsetProcessor, ReplyMessageProcessor, ResumeCheckHalfMessageProcessor,
    SendMessageProcessor, TopicAdminProcessor,
};
use crate::remoting::headers::HeaderError;
use crate::remoting::{
    Channel, RemotingCommand, Reply, RequestHandler, mq_version, request_code as code, response_code,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store_core::java_json::JavaJsonError;

/// Serves some request codes.
pub trait Processor: Send + Sync {
    /// Serves one request. Must not block for long: it runs where frames are read.
    ///
    /// # Errors
    ///
    /// The refusal to answer with.
    fn process(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal>;
}

/// An answer that says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Response code.
    pub code: i32,
    /// Why, for people.
    pub remark: String,
}

impl Refusal {
    /// A refusal with a reason.
    pub fn new(code: i32, remark: impl Into<String>) -> Self {
        Self { code, remark: remark.into() }
    }

    /// The answer to `request`.
    pub fn answer(self, request: &RemotingCommand) -> RemotingCommand {
        RemotingCommand::response_to(request, self.code).with_remark(self.remark)
    }
}

impl From<HeaderError> for Refusal {
    fn from(error: HeaderError) -> Self {
        Self::new(response_code::SYSTEM_ERROR, error.to_string())
    }
}

impl From<JavaJsonError> for Refusal {
    fn from(error: JavaJsonError) -> Self {
        Self::new(response_code::SYSTEM_ERROR, format!("request body: {error}"))
    }
}

/// An empty answer of success.
pub fn success(request: &RemotingCommand) -> RemotingCommand {
    RemotingCommand::response_to(request, response_code::SUCCESS)
}

/// All processors of a broker.
pub struct ProcessorTable {
    context: Arc<BrokerContext>,
    /// The "fast" port: no pulls, so that nothing there is ever held.
    fast: bool,
    send_message: SendMessageProcessor,
    send_back: ConsumerSendMsgBackProcessor,
    reply_message: ReplyMessageProcessor,
    end_transaction: EndTransactionProcessor,
    resume_check: ResumeCheckHalfMessageProcessor,
    pull_message: PullMessageProcessor,
    query_message: QueryMessageProcessor,
    client_manage: ClientManageProcessor,
    consumer_manage: ConsumerManageProcessor,
    queue_lock: QueueLockProcessor,
    queue_offset: QueueOffsetProcessor,
    topic_admin: TopicAdminProcessor,
    group_admin: GroupAdminProcessor,
    admin_broker: AdminBrokerProcessor,
}

impl ProcessorTable {
    /// The table of the main port, or of the fast one.
    pub fn new(context: &Arc<BrokerContext>, fast: bool) -> Self {
        let context = Arc::clone(context);
        Self {
            fast,
            send_message: SendMessageProcessor::new(&context),
            send_back: ConsumerSendMsgBackProcessor::new(&context),
            reply_message: ReplyMessageProcessor::new(&context),
            end_transaction: EndTransactionProcessor::new(&context),
            resume_check: ResumeCheckHalfMessageProcessor::new(&context),
            pull_message: PullMessageProcessor::new(&context),
            query_message: QueryMessageProcessor::new(&context),
            client_manage: ClientManageProcessor::new(&context),
            consumer_manage: ConsumerManageProcessor::new(&context),
            queue_lock: QueueLockProcessor::new(&context),
            queue_offset: QueueOffsetProcessor::new(&context),
            topic_admin: TopicAdminProcessor::new(&context),
            group_admin: GroupAdminProcessor::new(&context),
            admin_broker: AdminBrokerProcessor::new(&context),
            context,
        }
    }

    /// Who serves a code; `None`: nobody.
    fn find(&self, request_code: i32) -> Option<&dyn Processor> {
        let processor: &dyn Processor = match request_code {
            code::SEND_MESSAGE | code::SEND_MESSAGE_V2 | code::SEND_BATCH_MESSAGE => &self.send_message,
            code::CONSUMER_SEND_MSG_BACK => &self.send_back,
            code::SEND_REPLY_MESSAGE | code::SEND_REPLY_MESSAGE_V2 => &self.reply_message,
            code::END_TRANSACTION => &self.end_transaction,
            code::RESUME_CHECK_HALF_MESSAGE => &self.resume_check,
            code::PULL_MESSAGE | code::LITE_PULL_MESSAGE if !self.fast => &self.pull_message,
            code::QUERY_MESSAGE | code::VIEW_MESSAGE_BY_ID => &self.query_message,
            code::HEART_BEAT | code::UNREGISTER_CLIENT | code::CHECK_CLIENT_CONFIG => &self.client_manage,
            code::GET_CONSUMER_LIST_BY_GROUP | code::QUERY_CONSUMER_OFFSET | code::UPDATE_CONSUMER_OFFSET => {
                &self.consumer_manage
            }
            code::LOCK_BATCH_MQ | code::UNLOCK_BATCH_MQ => &self.queue_lock,
            code::GET_MAX_OFFSET
            | code::GET_MIN_OFFSET
            | code::SEARCH_OFFSET_BY_TIMESTAMP
            | code::GET_EARLIEST_MSG_STORETIME => &self.queue_offset,
            code::UPDATE_AND_CREATE_TOPIC
            | code::UPDATE_AND_CREATE_TOPIC_LIST
            | code::DELETE_TOPIC_IN_BROKER
            | code::GET_ALL_TOPIC_CONFIG
            | code::GET_TOPIC_CONFIG
            | code::GET_TOPIC_STATS_INFO
            | code::GET_SYSTEM_TOPIC_LIST_FROM_BROKER
            | code::QUERY_TOPIC_CONSUME_BY_WHO => &self.topic_admin,
            code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
            | code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST
            | code::DELETE_SUBSCRIPTIONGROUP
            | code::GET_ALL_SUBSCRIPTIONGROUP_CONFIG
            | code::GET_SUBSCRIPTIONGROUP_CONFIG
            | code::GET_CONSUMER_CONNECTION_LIST
            | code::GET_PRODUCER_CONNECTION_LIST
            | code::GET_ALL_PRODUCER_INFO
            | code::GET_CONSUME_STATS
            | code::QUERY_TOPICS_BY_CONSUMER
            | code::QUERY_SUBSCRIPTION_BY_CONSUMER
            | code::INVOKE_BROKER_TO_RESET_OFFSET => &self.group_admin,
            code::GET_BROKER_RUNTIME_INFO
            | code::GET_BROKER_CONFIG
            | code::GET_ALL_CONSUMER_OFFSET
            | code::CLEAN_EXPIRED_CONSUMEQUEUE
            | code::CLEAN_UNUSED_TOPIC
            | code::DELETE_EXPIRED_COMMITLOG => &self.admin_broker,
            _ => return None,
        };
        Some(processor)
    }
}

impl RequestHandler for ProcessorTable {
    fn handle(&self, channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        if self.context.stopping.load(Ordering::Acquire) && request.version > mq_version::GO_AWAY {
            return Refusal::new(response_code::GO_AWAY, "please go away").answer(&request).into();
        }
        let Some(processor) = self.find(request.code) else {
            return RemotingCommand::not_supported(&request).into();
        };
        processor.process(channel, &request).unwrap_or_else(|refusal| refusal.answer(&request).into())
    }

    fn channel_closed(&self, channel: &Arc<Channel>) {
        for change in self.context.consumers.on_channel_closed(channel.id()) {
            self.context.notify_consumer_ids_changed(&change);
        }
        self.context.producers.on_channel_closed(channel.id());
    }
}
