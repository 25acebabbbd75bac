//! Requests to the name server.

mod broker;
mod config;
mod kv_config;
mod topic;

use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use store_core::java_json::{JavaJsonError, WriteOptions};

use super::{Clock, KvConfigManager, KvConfigStore, NamesrvSettings, RouteInfoManager};
use crate::remoting::{
    Channel, HeaderError, RemotingCommand, Reply, RequestHandler, request_code, response_code,
};

/// Behind remarks about missing routes; tools show it as it is.
const FAQ: &str = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.";

/// Serves all requests of brokers, clients and tools.
pub struct NamesrvProcessor {
    routes: RouteInfoManager,
    kv_config: KvConfigManager,
    settings: RwLock<NamesrvSettings>,
    clock: Clock,
    started: i64,
}

/// Why a request fails; all become `SYSTEM_ERROR` with the text as remark.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("body: {0}")]
    Body(#[from] JavaJsonError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
}

/// Answer, or why there is none.
type Answer = Result<RemotingCommand, Failure>;

impl NamesrvProcessor {
    /// Starts with empty routes and the key-value table of `kv_store`.
    ///
    /// # Errors
    ///
    /// When the key-value table cannot be read.
    pub fn new(
        settings: NamesrvSettings,
        clock: Clock,
        kv_store: Option<Arc<dyn KvConfigStore>>,
    ) -> io::Result<Self> {
        Ok(Self {
            routes: RouteInfoManager::new(settings.default_broker_timeout),
            kv_config: KvConfigManager::load(kv_store)?,
            started: clock(),
            settings: RwLock::new(settings),
            clock,
        })
    }

    /// The table of routes.
    #[must_use]
    pub fn routes(&self) -> &RouteInfoManager {
        &self.routes
    }

    /// The key-value table.
    #[must_use]
    pub fn kv_config(&self) -> &KvConfigManager {
        &self.kv_config
    }

    /// Takes off the brokers that have not renewed their registration.
    pub fn scan(&self) {
        self.routes.scan(self.now());
    }

    fn now(&self) -> i64 {
        (self.clock)()
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> NamesrvSettings {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answer(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Answer {
        match request.code {
            request_code::PUT_KV_CONFIG => self.put_kv_config(request),
            request_code::GET_KV_CONFIG => self.get_kv_config(request),
            request_code::DELETE_KV_CONFIG => self.delete_kv_config(request),
            request_code::GET_KVLIST_BY_NAMESPACE => Ok(self.get_kv_list(request)),
            request_code::REGISTER_BROKER => self.register_broker(channel, request),
            request_code::UNREGISTER_BROKER => self.unregister_broker(request),
            request_code::BROKER_HEARTBEAT => self.broker_heartbeat(request),
            request_code::QUERY_DATA_VERSION => self.query_data_version(request),
            request_code::GET_BROKER_MEMBER_GROUP => self.get_broker_member_group(request),
            request_code::GET_BROKER_CLUSTER_INFO => self.get_broker_cluster_info(request),
            request_code::WIPE_WRITE_PERM_OF_BROKER => self.wipe_write_perm(request),
            request_code::ADD_WRITE_PERM_OF_BROKER => self.add_write_perm(request),
            request_code::GET_ROUTEINFO_BY_TOPIC => self.get_route_info(request),
            request_code::GET_ALL_TOPIC_LIST_FROM_NAMESERVER
            | request_code::GET_TOPICS_BY_CLUSTER
            | request_code::GET_SYSTEM_TOPIC_LIST_FROM_NS
            | request_code::GET_UNIT_TOPIC_LIST
            | request_code::GET_HAS_UNIT_SUB_TOPIC_LIST
            | request_code::GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST => self.list_topics(request),
            request_code::DELETE_TOPIC_IN_NAMESRV => self.delete_topic(request),
            request_code::REGISTER_TOPIC_IN_NAMESRV => self.register_topic(request),
            request_code::UPDATE_NAMESRV_CONFIG => Ok(self.update_config(request)),
            request_code::GET_NAMESRV_CONFIG => Ok(self.get_config(request)),
            _ => Ok(RemotingCommand::not_supported(request)),
        }
    }
}

impl RequestHandler for NamesrvProcessor {
    fn handle(&self, channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        let answer = self.answer(channel, &request);
        answer.unwrap_or_else(|failure| RemotingCommand::system_error(&request, failure.to_string())).into()
    }

    fn channel_closed(&self, channel: &Arc<Channel>) {
        self.routes.connection_closed(channel.id());
    }
}

impl fmt::Debug for NamesrvProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamesrvProcessor").field("routes", &self.routes).finish_non_exhaustive()
    }
}

/// The answer `SUCCESS` without anything.
fn success(request: &RemotingCommand) -> RemotingCommand {
    RemotingCommand::response_to(request, response_code::SUCCESS)
}

/// The answer `SUCCESS` with a body in the layout of Java's plain writer, integer keys bare.
fn success_with<T: serde::Serialize>(request: &RemotingCommand, body: &T) -> Answer {
    Ok(success(request).with_body(WriteOptions::BARE_KEYS.to_vec(body)?))
}
