//! The broker's way to its name servers: what it is and which topics it has (`REGISTER_BROKER`).
//!
//! The connection that carried a registration stays open: a name server forgets a broker whose connection ends.

use crate::broker_context::BrokerContext;
use crate::remoting::headers::{RegisterBrokerRequestHeader, UnregisterBrokerRequestHeader};
use crate::remoting::protocol::{KvTable, RegisterBrokerBody, TopicConfigAndMappingSerializeWrapper};
use crate::remoting::{ClientOptions, RemotingClient, RemotingCommand, request_code, response_code};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store_core::java_json;
use tokio::sync::{Mutex, Notify};

/// Longest wait for one name server when a request waits for its answer too.
const REGISTER_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest wait at the stop.
const UNREGISTER_TIMEOUT: Duration = Duration::from_secs(1);

/// Registers the broker with all its name servers.
#[derive(Debug)]
pub struct NameServerRegistration {
    client: RemotingClient,
    addresses: Vec<String>,
    soon: Notify,
    /// Held from reading the topic table to the last answer: an older table never arrives after a newer one.
    sending: Mutex<()>,
}

impl NameServerRegistration {
    /// For the name servers at these addresses.
    pub fn new(addresses: Vec<String>) -> Self {
        Self {
            client: RemotingClient::new(ClientOptions::default()),
            addresses,
            soon: Notify::new(),
            sending: Mutex::new(()),
        }
    }

    /// The name servers.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Asks the background task for a registration; the caller does not wait for it.
    pub fn register_soon(&self) {
        self.soon.notify_one();
    }

    /// Registers everywhere, in parallel; returns how many name servers took it. The others get it with the next period.
    pub async fn register(&self, context: &BrokerContext) -> usize {
        let _one_at_a_time = self.sending.lock().await;
        let Some((header, body)) = registration(context) else { return 0 };
        let register = |address: &String| {
            let request =
                RemotingCommand::request_with(request_code::REGISTER_BROKER, &header).with_body(body.clone());
            let address = address.clone();
            async move {
                match self.client.call(&address, request, REGISTER_TIMEOUT).await {
                    Ok(answer) if answer.code == response_code::SUCCESS => {
                        self.take_order_topics(context, &answer);
                        true
                    }
                    Ok(answer) => {
                        let remark = answer.remark.unwrap_or_default();
                        tracing::warn!(
                            address,
                            code = answer.code,
                            remark,
                            "a name server refused the registration"
                        );
                        false
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a name server did not take the registration");
                        false
                    }
                }
            }
        };
        let outcomes = futures_util::future::join_all(self.addresses.iter().map(register)).await;
        outcomes.into_iter().filter(|taken| *taken).count()
    }

    /// Name servers may list topics as ordered; the broker marks those it has.
    fn take_order_topics(&self, context: &BrokerContext, answer: &RemotingCommand) {
        if answer.body.is_empty() {
            return;
        }
        let Ok(KvTable { table }) = answer.decode_body::<KvTable>() else { return };
        let topics: BTreeSet<String> = table.into_keys().collect();
        if !topics.is_empty() && context.topics.mark_order_topics(&topics, context.now()) {
            context.persist(&context.topics);
        }
    }

    /// Takes the broker off all name servers.
    pub async fn unregister(&self, context: &BrokerContext) {
        let config = &context.config;
        let header = UnregisterBrokerRequestHeader {
            broker_name: config.broker_name.clone(),
            broker_addr: config.broker_addr(),
            cluster_name: config.broker_cluster_name.clone(),
            broker_id: config.broker_id,
        };
        let unregister = |address: &String| {
            let request = RemotingCommand::request_with(request_code::UNREGISTER_BROKER, &header);
            let address = address.clone();
            async move {
                if let Err(error) = self.client.call(&address, request, UNREGISTER_TIMEOUT).await {
                    tracing::info!(%error, "a name server was not told of the stop");
                }
            }
        };
        futures_util::future::join_all(self.addresses.iter().map(unregister)).await;
    }

    /// Registers every period and whenever asked, until the task is ended.
    pub async fn run(context: Arc<BrokerContext>) {
        let period = Duration::from_millis(context.config.effective_register_period());
        loop {
            // Whichever comes first; being asked many times meanwhile counts once.
            let _ = tokio::time::timeout(period, context.registration.soon.notified()).await;
            context.registration.register(&context).await;
        }
    }
}

fn registration(context: &BrokerContext) -> Option<(RegisterBrokerRequestHeader, bytes::Bytes)> {
    let config = &context.config;
    let table = context.topics.topics_for_registration(config.broker_permission);
    let wrapper = TopicConfigAndMappingSerializeWrapper {
        data_version: table.data_version,
        topic_config_table: table.topics,
        ..Default::default()
    };
    let body = RegisterBrokerBody { topic_config_serialize_wrapper: wrapper, filter_server_list: Vec::new() };
    let body = match java_json::to_vec(&body) {
        Ok(body) => body,
        Err(error) => {
            tracing::error!(%error, "the topic table cannot be written as JSON");
            return None;
        }
    };
    let header = RegisterBrokerRequestHeader {
        broker_name: config.broker_name.clone(),
        broker_addr: config.broker_addr(),
        cluster_name: config.broker_cluster_name.clone(),
        ha_server_addr: config.ha_server_addr(),
        broker_id: config.broker_id,
        heartbeat_timeout_millis: None,
        enable_acting_master: Some(false),
        compressed: false,
        body_crc32: (crc32fast::hash(&body) & 0x7FFF_FFFF) as i32,
        zone_name: None,
    };
    Some((header, body.into()))
}
