//! The broker as administrators see it: runtime figures, settings, whole tables for slaves.

use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::GetBrokerConfigResponseHeader;
use crate::remoting::protocol::KvTable;
use crate::remoting::{Channel, RemotingCommand, Reply, request_code};
use std::sync::Arc;
use store_core::java_json;

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
        for pool in ["send", "pull", "litePull", "query", "ack"] {
            set(&format!("{pool}ThreadPoolQueueSize"), "0".to_owned());
            set(&format!("{pool}ThreadPoolQueueCapacity"), "0".to_owned());
            set(&format!("{pool}ThreadPoolQueueHeadWaitTimeMills"), "0".to_owned());
        }
        for key in ["msgPutTotalYesterdayMorning", "msgPutTotalTodayMorning", "msgGetTotalYesterdayMorning"] {
            set(key, "0".to_owned());
        }
        Ok(success(request).with_json_body(&KvTable { table })?.into())
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
            // Queues follow the log by themselves; only the last file of an expired queue stays, for its position.
            _ => Ok(success(request).into()),
        }
    }
}
