//! `broker.conf`: Java properties with Apache's keys in, typed configuration out.
//!
//! No key is swallowed. A key nobody knows is warned about by name, file and line; a key that Apache knows but that
//! does nothing here is warned about as soon as its value differs from Apache's default; a value that cannot be is an
//! error that says what would have been allowed; and a setting that would be dangerous to ignore (access control, a
//! different store layout) stops the start.

mod broker_settings;
mod error;
mod known_keys;
mod load;
mod properties;
mod setting;
mod store_settings;
mod value;

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr};

pub use error::{ConfigError, ConfigWarning, WarningKind};
pub use load::{ConfigSource, Loaded};
pub use properties::{Properties, PropertiesError, Property};

/// Settings of layer 5. Field names are Apache's keys in snake_case, defaults are Apache's unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerConfig {
    /// Cluster this broker belongs to (`brokerClusterName`). Default `DefaultCluster`.
    pub broker_cluster_name: String,
    /// Name shared by a master and its slaves (`brokerName`). Default: the host name, else `DEFAULT_BROKER`.
    pub broker_name: String,
    /// Number inside the broker name (`brokerId`); 0 is the master. Default 0.
    pub broker_id: i64,
    /// Address to listen on (`bindAddress`). Default `127.0.0.1` — Apache listens on all addresses.
    pub bind_address: String,
    /// Address told to clients and kept in message ids (`brokerIP1`). Default `127.0.0.1`, or the bind address when that
    /// is one address; Apache guesses one.
    pub broker_ip1: String,
    /// Address told to slaves (`brokerIP2`). Default: `broker_ip1`.
    pub broker_ip2: String,
    /// Main port (`listenPort`). Default 10911.
    pub listen_port: u16,
    /// Replication port (`haListenPort`); `None` means the main port plus one. See [`BrokerConfig::ha_port`].
    pub ha_listen_port: Option<u16>,
    /// Name servers (`namesrvAddr`, `;` between them, or the variable `NAMESRV_ADDR`); `None` means the embedded one.
    pub namesrv_addr: Option<Vec<String>>,
    /// What clients may do at all (`brokerPermission`): 4 read, 2 write. Default 6.
    pub broker_permission: i32,
    /// Region put into messages and answers (`regionId`). Default `DefaultRegion`.
    pub region_id: String,
    /// Seconds without traffic after which a connection is closed (`serverChannelMaxIdleTimeSeconds`). Default 120.
    pub server_channel_max_idle_time_seconds: u64,
    /// Milliseconds without heartbeat after which a client is forgotten (`channelExpiredTimeout`). Default 120,000.
    pub channel_expired_timeout: u64,
    /// Milliseconds between two registrations (`registerNameServerPeriod`), used within 10,000…60,000. Default 30,000.
    pub register_name_server_period: u64,

    /// A send to an unknown topic creates it (`autoCreateTopicEnable`). Default true.
    pub auto_create_topic_enable: bool,
    /// Queues of `TBW102`, the model of created topics (`defaultTopicQueueNums`). Default 8.
    pub default_topic_queue_nums: i32,
    /// The topic named after the cluster can be used (`clusterTopicEnable`). Default true.
    pub cluster_topic_enable: bool,
    /// The topic named after the broker can be used (`brokerTopicEnable`). Default true.
    pub broker_topic_enable: bool,
    /// The trace topic is made at start (`traceTopicEnable`). Default false.
    pub trace_topic_enable: bool,
    /// Name of the trace topic (`msgTraceTopicName`). Default `RMQ_SYS_TRACE_TOPIC`.
    pub msg_trace_topic_name: String,
    /// Queues of the POP revive topic (`reviveQueueNum`). Default 8.
    pub revive_queue_num: i32,
    /// The topic of the timer wheel is made at start (`timerWheelEnable`). Default true.
    pub timer_wheel_enable: bool,
    /// Admin commands may not touch system topics (`validateSystemTopicWhenUpdateTopic`). Default true.
    pub validate_system_topic_when_update_topic: bool,
    /// `message.type=MIXED` is allowed (`enableMixedMessageType`). Default false.
    pub enable_mixed_message_type: bool,
    /// Most entries of one page of topics or groups (`splitMetadataSize`). Default 2000.
    pub split_metadata_size: usize,
    /// A group is made when it is first used (`autoCreateSubscriptionGroup`). Default true.
    pub auto_create_subscription_group: bool,
    /// Groups beginning `CID_RMQ_SYS_` are made even if the former is false (`enableCreateSysGroup`). Default true.
    pub enable_create_sys_group: bool,
    /// Consumers are told when a group changes (`notifyConsumerIdsChangedEnable`). Default true.
    pub notify_consumer_ids_changed_enable: bool,

    /// Clients are asked to trace (`traceOn`). Default true.
    pub trace_on: bool,
    /// Sends before this time are refused, epoch milliseconds (`startAcceptSendRequestTimeStamp`). Default 0.
    pub start_accept_send_request_time_stamp: i64,
    /// Half messages are refused (`rejectTransactionMessage`). Default false.
    pub reject_transaction_message: bool,
    /// Milliseconds before a half message is checked (`transactionTimeOut`). Default 6000.
    pub transaction_time_out: u64,
    /// Checks before a half message is given up (`transactionCheckMax`). Default 15.
    pub transaction_check_max: u32,
    /// Milliseconds between two rounds of checks (`transactionCheckInterval`). Default 30,000.
    pub transaction_check_interval: u64,
    /// Replies of request-reply are stored (`storeReplyMessageEnable`). Default true.
    pub store_reply_message_enable: bool,

    /// A pull that finds nothing waits as long as it asked for (`longPollingEnable`). Default true.
    pub long_polling_enable: bool,
    /// Milliseconds it waits when the former is false (`shortPollingTimeMills`). Default 1000.
    pub short_polling_time_mills: u64,
    /// Lite pull is served (`litePullMessageEnable`). Default true.
    pub lite_pull_message_enable: bool,
    /// Offsets are reset by the broker, not by the clients (`useServerSideResetOffset`). Default true.
    pub use_server_side_reset_offset: bool,
    /// Messages a query by unique key returns (`defaultQueryMaxNum`). Default 32.
    pub default_query_max_num: u32,

    /// Milliseconds between two writes of consumer offsets (`flushConsumerOffsetInterval`). Default 5000.
    pub flush_consumer_offset_interval: u64,
    /// Commits per step of the offset table's version (`consumerOffsetUpdateVersionStep`). Default 500.
    pub consumer_offset_update_version_step: u64,
    /// Milliseconds between two writes of delay offsets (`flushDelayOffsetInterval`). Default 10,000.
    pub flush_delay_offset_interval: u64,
}

impl Default for BrokerConfig {
    fn default() -> Self {
        Self {
            broker_cluster_name: "DefaultCluster".to_owned(),
            broker_name: "DEFAULT_BROKER".to_owned(),
            broker_id: 0,
            bind_address: Ipv4Addr::LOCALHOST.to_string(),
            broker_ip1: Ipv4Addr::LOCALHOST.to_string(),
            broker_ip2: Ipv4Addr::LOCALHOST.to_string(),
            listen_port: 10_911,
            ha_listen_port: None,
            namesrv_addr: None,
            broker_permission: 6,
            region_id: "DefaultRegion".to_owned(),
            server_channel_max_idle_time_seconds: 120,
            channel_expired_timeout: 120_000,
            register_name_server_period: 30_000,
            auto_create_topic_enable: true,
            default_topic_queue_nums: 8,
            cluster_topic_enable: true,
            broker_topic_enable: true,
            trace_topic_enable: false,
            msg_trace_topic_name: "RMQ_SYS_TRACE_TOPIC".to_owned(),
            revive_queue_num: 8,
            timer_wheel_enable: true,
            validate_system_topic_when_update_topic: true,
            enable_mixed_message_type: false,
            split_metadata_size: 2000,
            auto_create_subscription_group: true,
            enable_create_sys_group: true,
            notify_consumer_ids_changed_enable: true,
            trace_on: true,
            start_accept_send_request_time_stamp: 0,
            reject_transaction_message: false,
            transaction_time_out: 6000,
            transaction_check_max: 15,
            transaction_check_interval: 30_000,
            store_reply_message_enable: true,
            long_polling_enable: true,
            short_polling_time_mills: 1000,
            lite_pull_message_enable: true,
            use_server_side_reset_offset: true,
            default_query_max_num: 32,
            flush_consumer_offset_interval: 5000,
            consumer_offset_update_version_step: 500,
            flush_delay_offset_interval: 10_000,
        }
    }
}

impl BrokerConfig {
    /// Port for sends that must not queue behind pulls: the main port minus two. 0 (any port) stays 0.
    pub fn fast_listen_port(&self) -> u16 {
        if self.listen_port == 0 { 0 } else { self.listen_port.saturating_sub(2) }
    }

    /// Replication port: `ha_listen_port`, else the main port plus one. 0 (any port) stays 0.
    pub fn ha_port(&self) -> u16 {
        let beside_main = if self.listen_port == 0 { 0 } else { self.listen_port.saturating_add(1) };
        self.ha_listen_port.unwrap_or(beside_main)
    }

    /// `address:port` told to clients and name servers.
    pub fn broker_addr(&self) -> String {
        format!("{}:{}", self.broker_ip1, self.listen_port)
    }

    /// `address:port` told to slaves.
    pub fn ha_server_addr(&self) -> String {
        format!("{}:{}", self.broker_ip2, self.ha_port())
    }

    /// Period of registrations in milliseconds, kept within the 10 s to 60 s that name servers expect.
    pub fn effective_register_period(&self) -> u64 {
        self.register_name_server_period.clamp(10_000, 60_000)
    }

    /// Whether only this machine can reach the bind address.
    pub fn binds_loopback(&self) -> bool {
        is_loopback(&self.bind_address)
    }
}

/// Whether `host` names this machine's loopback interface.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || parse_ip(host).is_some_and(|ip| ip.is_loopback())
}

/// Reads an IP address with or without the brackets IPv6 may wear.
fn parse_ip(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
