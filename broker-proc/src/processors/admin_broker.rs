//! The broker as administrators see it: runtime figures, settings, whole tables for slaves.

use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::GetBrokerConfigResponseHeader;
use crate::remoting::protocol::KvTable;
use crate::remoting::{Channel, RemotingCommand, Reply, request_code, response_code};
use std::sync::Arc;
use store_core::java_json;
use store_core::multi_dispatch::LMQ_PREFIX;

/// The processor.
pub struct AdminBrokerProcessor {
    context: Arc<BrokerContext>,
}

impl AdminBrokerProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    fn runtime_info(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let context = &self.context;
        let mut table = context.store.runtime_info();
        let version = env!("CARGO_PKG_VERSION");
        let mut set = |key: &str, value: String| {
            table.insert(key.to_owned(), value);
        };
        set("brokerActive", "true".to_owned());
        set("brokerVersionDesc", format!("StrataMQ_{version}"));
        set(
            "startAcceptSendRequestTimeStamp",
            context.config.start_accept_send_request_time_stamp.to_string(),
        );
        set("pullRequestsHeld", context.hold.waiting().to_string());
        // Requests are served where they are read: there are no thread pools, and so no queues before them.
        set("EndTransactionQueueSize", "0".to_owned());
        set("EndTransactionThreadPoolQueueCapacity", "0".to_owned());
        for pool in ["send", "pull", "litePull", "query", "ack"] {
            set(&format!("{pool}ThreadPoolQueueSize"), "0".to_owned());
            set(&format!("{pool}ThreadPoolQueueCapacity"), "0".to_owned());
            set(&format!("{pool}ThreadPoolQueueHeadWaitTimeMills"), "0".to_owned());
        }
        Ok(success(request).with_json_body(&KvTable { table })?.into())
    }

    /// Deletes the queues of topics that are not configured: those of a deleted topic that a recovery has brought back.
    fn clean_unused_topics(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let context = &self.context;
        // The store is asked first: a topic is configured before its first message is stored.
        let mut unused = context.store.topics();
        // Light queues have no configuration.
        unused.retain(|topic| {
            context.topics.select_topic_config(topic).is_none()
                && !context.topics.validator().is_system_topic(topic)
                && !topic.starts_with(LMQ_PREFIX)
        });
        tracing::info!(?unused, "deleting the queues of topics that are not configured");
        let unused: Vec<&str> = unused.iter().map(String::as_str).collect();
        context.blocking(|| context.store.delete_topics(&unused)).map_err(|error| {
            Refusal::new(response_code::SYSTEM_ERROR, format!("files of unused topics: {error}"))
        })?;
        Ok(success(request).into())
    }

    fn broker_config(&self, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let version = java_json::to_vec(&self.context.topics.data_version())?;
        let fields =
            GetBrokerConfigResponseHeader { version: String::from_utf8_lossy(&version).into_owned() };
        let body = self.context.effective_properties.clone();
        Ok(success(request).with_header(&fields).with_body(body).into())
    }
}

impl Processor for AdminBrokerProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        match request.code {
            request_code::GET_BROKER_RUNTIME_INFO => self.runtime_info(request),
            request_code::GET_BROKER_CONFIG => self.broker_config(request),
            request_code::GET_ALL_CONSUMER_OFFSET => {
                Ok(success(request).with_json_body(&self.context.offsets.snapshot())?.into())
            }
            request_code::CLEAN_UNUSED_TOPIC => self.clean_unused_topics(request),
            request_code::DELETE_EXPIRED_COMMITLOG => {
                self.context.store.clean_by_hand();
                Ok(success(request).into())
            }
            // CLEAN_EXPIRED_CONSUMEQUEUE. Queues follow the log by themselves; the last file of an expired queue stays, for
            // its position. Without it the offsets would be given again, and a group beyond them would miss messages.
            _ => Ok(success(request).into()),
        }
    }
}
