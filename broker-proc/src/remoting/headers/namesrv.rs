//! Requests to a name server.

use super::remoting_header;

remoting_header! {
    /// `PUT_KV_CONFIG`.
    pub struct PutKvConfigRequestHeader {
        /// Namespace of the key.
        "namespace" namespace: String,
        /// Key.
        "key" key: String,
        /// New value.
        "value" value: String,
    }
}

remoting_header! {
    /// `GET_KV_CONFIG` and `DELETE_KV_CONFIG`.
    pub struct KvConfigRequestHeader {
        /// Namespace of the key.
        "namespace" namespace: String,
        /// Key.
        "key" key: String,
    }
}

remoting_header! {
    /// Answer to `GET_KV_CONFIG`.
    pub struct GetKvConfigResponseHeader {
        /// The value.
        "value" value: Option<String>,
    }
}

remoting_header! {
    /// `GET_KVLIST_BY_NAMESPACE`.
    pub struct NamespaceRequestHeader {
        /// The namespace.
        "namespace" namespace: String,
    }
}

remoting_header! {
    /// `REGISTER_BROKER`.
    pub struct RegisterBrokerRequestHeader {
        /// Name shared by a master and its replicas.
        "brokerName" broker_name: String,
        /// Address for clients, `ip:port`.
        "brokerAddr" broker_addr: String,
        /// Cluster of the broker.
        "clusterName" cluster_name: String,
        /// Address for replication, `ip:port`.
        "haServerAddr" ha_server_addr: String,
        /// 0 for a master.
        "brokerId" broker_id: i64,
        /// How long the registration lives without renewal, in milliseconds.
        "heartbeatTimeoutMillis" heartbeat_timeout_millis: Option<i64>,
        /// Whether a replica may stand in for a lost master; absent from old brokers.
        "enableActingMaster" enable_acting_master: Option<bool>,
        /// Whether the body is compressed.
        "compressed" compressed: bool = false,
        /// CRC-32 of the body without its sign bit; 0 for none.
        "bodyCrc32" body_crc32: i32 = 0,
        /// Zone of the broker.
        "__ZONE_NAME" zone_name: Option<String>,
    }
}

remoting_header! {
    /// Answer to `REGISTER_BROKER`, filled for replicas.
    pub struct RegisterBrokerResponseHeader {
        /// Replication address of the master.
        "haServerAddr" ha_server_addr: Option<String>,
        /// Address of the master.
        "masterAddr" master_addr: Option<String>,
    }
}

remoting_header! {
    /// `UNREGISTER_BROKER`.
    pub struct UnregisterBrokerRequestHeader {
        /// Name of the broker.
        "brokerName" broker_name: String,
        /// Its address, `ip:port`.
        "brokerAddr" broker_addr: String,
        /// Its cluster.
        "clusterName" cluster_name: String,
        /// Its id.
        "brokerId" broker_id: i64,
    }
}

remoting_header! {
    /// `GET_ROUTEINFO_BY_TOPIC`.
    pub struct GetRouteInfoRequestHeader {
        /// Name of the topic.
        "topic" topic: String,
        /// Whether the answer must be standard JSON whatever the caller's version.
        "acceptStandardJsonOnly" accept_standard_json_only: bool = false,
    }
}

remoting_header! {
    /// `WIPE_WRITE_PERM_OF_BROKER` and `ADD_WRITE_PERM_OF_BROKER`.
    pub struct BrokerNameRequestHeader {
        /// Name of the broker.
        "brokerName" broker_name: String,
    }
}

remoting_header! {
    /// Answer to `WIPE_WRITE_PERM_OF_BROKER`.
    pub struct WipeWritePermResponseHeader {
        /// Number of topics that can no longer be written.
        "wipeTopicCount" wipe_topic_count: i32,
    }
}

remoting_header! {
    /// Answer to `ADD_WRITE_PERM_OF_BROKER`.
    pub struct AddWritePermResponseHeader {
        /// Number of topics that can be written again.
        "addTopicCount" add_topic_count: i32,
    }
}

remoting_header! {
    /// `DELETE_TOPIC_IN_NAMESRV`.
    pub struct DeleteTopicFromNamesrvRequestHeader {
        /// Name of the topic.
        "topic" topic: String,
        /// Only in this cluster.
        "clusterName" cluster_name: Option<String>,
    }
}

remoting_header! {
    /// `REGISTER_TOPIC_IN_NAMESRV`.
    pub struct RegisterTopicRequestHeader {
        /// Name of the topic.
        "topic" topic: String,
    }
}

remoting_header! {
    /// `GET_TOPICS_BY_CLUSTER`.
    pub struct ClusterRequestHeader {
        /// Name of the cluster.
        "cluster" cluster: String,
    }
}

remoting_header! {
    /// `QUERY_DATA_VERSION`.
    pub struct QueryDataVersionRequestHeader {
        /// Name of the broker.
        "brokerName" broker_name: String,
        /// Its address, `ip:port`.
        "brokerAddr" broker_addr: String,
        /// Its cluster.
        "clusterName" cluster_name: String,
        /// Its id.
        "brokerId" broker_id: i64,
    }
}

remoting_header! {
    /// Answer to `QUERY_DATA_VERSION`.
    pub struct QueryDataVersionResponseHeader {
        /// Whether the name server has another version than the broker.
        "changed" changed: bool,
    }
}

remoting_header! {
    /// `GET_BROKER_MEMBER_GROUP`.
    pub struct BrokerMemberGroupRequestHeader {
        /// Cluster of the broker.
        "clusterName" cluster_name: String,
        /// Name of the broker.
        "brokerName" broker_name: String,
    }
}

remoting_header! {
    /// `BROKER_HEARTBEAT`.
    pub struct BrokerHeartbeatRequestHeader {
        /// Cluster of the broker.
        "clusterName" cluster_name: String,
        /// Its address, `ip:port`.
        "brokerAddr" broker_addr: String,
        /// Its name.
        "brokerName" broker_name: String,
        /// Its id.
        "brokerId" broker_id: Option<i64>,
        /// Epoch in controller mode.
        "epoch" epoch: Option<i32>,
        /// End of its commit log.
        "maxOffset" max_offset: Option<i64>,
        /// How far its commit log is replicated.
        "confirmOffset" confirm_offset: Option<i64>,
        /// How long the registration lives without renewal, in milliseconds. The spelling is the protocol's.
        "heartbeatTimeoutMills" heartbeat_timeout_millis: Option<i64>,
        /// Priority in an election.
        "electionPriority" election_priority: Option<i32>,
    }
}
