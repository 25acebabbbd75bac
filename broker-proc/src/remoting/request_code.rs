//! Request codes: what a frame without the answer bit asks for.
//!
//! Codes are plain numbers, because a peer may send any; the dispatcher answers unknown ones.

/// Declares the constants and the table of their names in one go.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: i32 = $code;)*

        /// Name of a code as Java has it; `None` for codes that are in no table.
        #[must_use]
        pub fn name(code: i32) -> Option<&'static str> {
            match code {
                $($code => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

codes! {
    /// Send one message, header with long names.
    SEND_MESSAGE = 10;
    /// Pull messages of one queue.
    PULL_MESSAGE = 11;
    /// Query messages by key.
    QUERY_MESSAGE = 12;
    /// Unused; no processor serves it.
    QUERY_BROKER_OFFSET = 13;
    /// Ask for the committed offset of a group.
    QUERY_CONSUMER_OFFSET = 14;
    /// Commit the offset of a group.
    UPDATE_CONSUMER_OFFSET = 15;
    /// Create or change a topic.
    UPDATE_AND_CREATE_TOPIC = 17;
    /// Create or change several topics.
    UPDATE_AND_CREATE_TOPIC_LIST = 18;
    /// Read the topic table.
    GET_ALL_TOPIC_CONFIG = 21;
    /// Unused; no processor serves it.
    GET_TOPIC_CONFIG_LIST = 22;
    /// Unused; no processor serves it.
    GET_TOPIC_NAME_LIST = 23;
    /// Change broker settings.
    UPDATE_BROKER_CONFIG = 25;
    /// Read broker settings.
    GET_BROKER_CONFIG = 26;
    /// Unused; no processor serves it.
    TRIGGER_DELETE_FILES = 27;
    /// Read runtime figures.
    GET_BROKER_RUNTIME_INFO = 28;
    /// Find the queue offset of a time.
    SEARCH_OFFSET_BY_TIMESTAMP = 29;
    /// Ask for the next offset of a queue.
    GET_MAX_OFFSET = 30;
    /// Ask for the first offset of a queue.
    GET_MIN_OFFSET = 31;
    /// Ask for the store time of the first message of a queue.
    GET_EARLIEST_MSG_STORETIME = 32;
    /// Read one message at a commit-log offset.
    VIEW_MESSAGE_BY_ID = 33;
    /// Announce a client with its groups.
    HEART_BEAT = 34;
    /// Take a client off its groups.
    UNREGISTER_CLIENT = 35;
    /// Hand a message back for a retry.
    CONSUMER_SEND_MSG_BACK = 36;
    /// Commit or roll back a half message.
    END_TRANSACTION = 37;
    /// List the client ids of a consumer group.
    GET_CONSUMER_LIST_BY_GROUP = 38;
    /// Pushed: ask a producer for the state of a transaction.
    CHECK_TRANSACTION_STATE = 39;
    /// Pushed: the members of a consumer group changed.
    NOTIFY_CONSUMER_IDS_CHANGED = 40;
    /// Lock queues for an orderly consumer.
    LOCK_BATCH_MQ = 41;
    /// Unlock queues.
    UNLOCK_BATCH_MQ = 42;
    /// Read the table of consumer offsets.
    GET_ALL_CONSUMER_OFFSET = 43;
    /// Read the offsets of the delay levels.
    GET_ALL_DELAY_OFFSET = 45;
    /// Check the filter expression of a subscription.
    CHECK_CLIENT_CONFIG = 46;
    /// Unused; no processor serves it.
    GET_CLIENT_CONFIG = 47;
    /// Read the timer checkpoint.
    GET_TIMER_CHECK_POINT = 60;
    /// Read the timer metrics.
    GET_TIMER_METRICS = 61;
    /// Name server: store a key and value.
    PUT_KV_CONFIG = 100;
    /// Name server: read a value.
    GET_KV_CONFIG = 101;
    /// Name server: delete a key.
    DELETE_KV_CONFIG = 102;
    /// Name server: register a broker with its topics.
    REGISTER_BROKER = 103;
    /// Name server: take a broker off.
    UNREGISTER_BROKER = 104;
    /// Name server: ask for the route of a topic.
    GET_ROUTEINFO_BY_TOPIC = 105;
    /// Name server: read the brokers and clusters.
    GET_BROKER_CLUSTER_INFO = 106;
    /// Create or change a consumer group.
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200;
    /// Read the table of consumer groups.
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201;
    /// Read the offsets of all queues of a topic.
    GET_TOPIC_STATS_INFO = 202;
    /// List the connections of a consumer group.
    GET_CONSUMER_CONNECTION_LIST = 203;
    /// List the connections of a producer group.
    GET_PRODUCER_CONNECTION_LIST = 204;
    /// Name server: forbid writing on a broker.
    WIPE_WRITE_PERM_OF_BROKER = 205;
    /// Name server: list all topics.
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206;
    /// Delete a consumer group.
    DELETE_SUBSCRIPTIONGROUP = 207;
    /// Read the progress of a consumer group.
    GET_CONSUME_STATS = 208;
    /// Unused; no processor serves it.
    SUSPEND_CONSUMER = 209;
    /// Unused; no processor serves it.
    RESUME_CONSUMER = 210;
    /// Unused; no processor serves it.
    RESET_CONSUMER_OFFSET_IN_CONSUMER = 211;
    /// Unused; no processor serves it.
    RESET_CONSUMER_OFFSET_IN_BROKER = 212;
    /// Unused; no processor serves it.
    ADJUST_CONSUMER_THREAD_POOL = 213;
    /// Unused; no processor serves it.
    WHO_CONSUME_THE_MESSAGE = 214;
    /// Delete a topic on a broker.
    DELETE_TOPIC_IN_BROKER = 215;
    /// Name server: delete the route of a topic.
    DELETE_TOPIC_IN_NAMESRV = 216;
    /// Name server: register the queues of one topic.
    REGISTER_TOPIC_IN_NAMESRV = 217;
    /// Name server: read a whole namespace.
    GET_KVLIST_BY_NAMESPACE = 219;
    /// Pushed: reset the offsets of a consumer.
    RESET_CONSUMER_CLIENT_OFFSET = 220;
    /// Pushed: ask a consumer for its offsets.
    GET_CONSUMER_STATUS_FROM_CLIENT = 221;
    /// Reset the offsets of a group.
    INVOKE_BROKER_TO_RESET_OFFSET = 222;
    /// Ask the members of a group for their offsets.
    INVOKE_BROKER_TO_GET_CONSUMER_STATUS = 223;
    /// Name server: list the topics of a cluster.
    GET_TOPICS_BY_CLUSTER = 224;
    /// Create or change several consumer groups.
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST = 225;
    /// List the groups that consume a topic.
    QUERY_TOPIC_CONSUME_BY_WHO = 300;
    /// Removed in version 5.
    REGISTER_FILTER_SERVER = 301;
    /// Removed in version 5.
    REGISTER_MESSAGE_FILTER_CLASS = 302;
    /// Read the time span of the queues of a topic.
    QUERY_CONSUME_TIME_SPAN = 303;
    /// Name server: list cluster and broker names.
    GET_SYSTEM_TOPIC_LIST_FROM_NS = 304;
    /// List the system topics of a broker.
    GET_SYSTEM_TOPIC_LIST_FROM_BROKER = 305;
    /// Delete expired queue files.
    CLEAN_EXPIRED_CONSUMEQUEUE = 306;
    /// Ask a consumer for its state, directly or pushed.
    GET_CONSUMER_RUNNING_INFO = 307;
    /// Query corrected offsets.
    QUERY_CORRECTION_OFFSET = 308;
    /// Have a consumer consume one message, directly or pushed.
    CONSUME_MESSAGE_DIRECTLY = 309;
    /// Send one message, header with one-letter names.
    SEND_MESSAGE_V2 = 310;
    /// Name server: list the unit topics.
    GET_UNIT_TOPIC_LIST = 311;
    /// Name server: list the topics with a unit subscription.
    GET_HAS_UNIT_SUB_TOPIC_LIST = 312;
    /// Name server: list the non-unit topics with a unit subscription.
    GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST = 313;
    /// Copy the offsets of a group.
    CLONE_GROUP_OFFSET = 314;
    /// Read a statistic of a broker.
    VIEW_BROKER_STATS_DATA = 315;
    /// Delete the files of unused topics.
    CLEAN_UNUSED_TOPIC = 316;
    /// Read the progress of all groups.
    GET_BROKER_CONSUME_STATS = 317;
    /// Name server: change settings.
    UPDATE_NAMESRV_CONFIG = 318;
    /// Name server: read settings.
    GET_NAMESRV_CONFIG = 319;
    /// Send a batch of messages.
    SEND_BATCH_MESSAGE = 320;
    /// Read entries of a queue.
    QUERY_CONSUME_QUEUE = 321;
    /// Name server: compare the version of the topic table.
    QUERY_DATA_VERSION = 322;
    /// Check a half message again.
    RESUME_CHECK_HALF_MESSAGE = 323;
    /// Send a reply, header with long names.
    SEND_REPLY_MESSAGE = 324;
    /// Send a reply, header with one-letter names.
    SEND_REPLY_MESSAGE_V2 = 325;
    /// Pushed: deliver a reply.
    PUSH_REPLY_MESSAGE_TO_CLIENT = 326;
    /// Name server: allow writing on a broker again.
    ADD_WRITE_PERM_OF_BROKER = 327;
    /// List all producers.
    GET_ALL_PRODUCER_INFO = 328;
    /// Delete expired commit-log files.
    DELETE_EXPIRED_COMMITLOG = 329;
    /// List the topics of a group.
    QUERY_TOPICS_BY_CONSUMER = 343;
    /// Read the subscription of a group to a topic.
    QUERY_SUBSCRIPTION_BY_CONSUMER = 345;
    /// Read the configuration of a topic.
    GET_TOPIC_CONFIG = 351;
    /// Read the configuration of a group.
    GET_SUBSCRIPTIONGROUP_CONFIG = 352;
    /// Read or change the read permission of a group on a topic.
    UPDATE_AND_GET_GROUP_FORBIDDEN = 353;
    /// Check the progress of RocksDB queues.
    CHECK_ROCKSDB_CQ_WRITE_PROGRESS = 354;
    /// Export RocksDB configuration.
    EXPORT_ROCKSDB_CONFIG_TO_JSON = 355;
    /// Pull messages of one queue, asked by a lite pull consumer.
    LITE_PULL_MESSAGE = 361;
    /// Recall a timer message.
    RECALL_MESSAGE = 370;
    /// Ask the broker to assign queues.
    QUERY_ASSIGNMENT = 400;
    /// Choose between pull and POP for a group.
    SET_MESSAGE_REQUEST_MODE = 401;
    /// Read the table of request modes.
    GET_ALL_MESSAGE_REQUEST_MODE = 402;
    /// Create or change a static topic.
    UPDATE_AND_CREATE_STATIC_TOPIC = 513;
    /// List the addresses behind a broker name.
    GET_BROKER_MEMBER_GROUP = 901;
    /// Broker container: start a broker.
    ADD_BROKER = 902;
    /// Broker container: stop a broker.
    REMOVE_BROKER = 903;
    /// Light heartbeat of a broker.
    BROKER_HEARTBEAT = 904;
    /// Pushed to brokers: the smallest broker id changed.
    NOTIFY_MIN_BROKER_ID_CHANGE = 905;
    /// Exchange replication addresses.
    EXCHANGE_BROKER_HA_INFO = 906;
    /// Read the state of replication.
    GET_BROKER_HA_STATUS = 907;
    /// Reset the flush position learned from the master.
    RESET_MASTER_FLUSH_OFFSET = 908;
    /// Controller mode: read the epochs.
    GET_BROKER_EPOCH_CACHE = 1007;
    /// Controller mode: the role changed.
    NOTIFY_BROKER_ROLE_CHANGED = 1008;
    /// Change the limits for cold reads.
    UPDATE_COLD_DATA_FLOW_CTR_CONFIG = 2001;
    /// Remove a limit for cold reads.
    REMOVE_COLD_DATA_FLOW_CTR_CONFIG = 2002;
    /// Read the limits for cold reads.
    GET_COLD_DATA_FLOW_CTR_INFO = 2003;
    /// Choose the read-ahead mode of the commit log.
    SET_COMMITLOG_READ_MODE = 2004;
    /// Create a user.
    AUTH_CREATE_USER = 3001;
    /// Change a user.
    AUTH_UPDATE_USER = 3002;
    /// Delete a user.
    AUTH_DELETE_USER = 3003;
    /// Read a user.
    AUTH_GET_USER = 3004;
    /// List users.
    AUTH_LIST_USER = 3005;
    /// Create an access rule.
    AUTH_CREATE_ACL = 3006;
    /// Change an access rule.
    AUTH_UPDATE_ACL = 3007;
    /// Delete an access rule.
    AUTH_DELETE_ACL = 3008;
    /// Read an access rule.
    AUTH_GET_ACL = 3009;
    /// List access rules.
    AUTH_LIST_ACL = 3010;
    /// Choose the timer engine.
    SWITCH_TIMER_ENGINE = 5001;
    /// Pop messages.
    POP_MESSAGE = 200050;
    /// Acknowledge a popped message.
    ACK_MESSAGE = 200051;
    /// Look at messages without popping them.
    PEEK_MESSAGE = 200052;
    /// Change how long a popped message stays hidden.
    CHANGE_MESSAGE_INVISIBLETIME = 200053;
    /// Wait until there are messages to pop.
    NOTIFICATION = 200054;
    /// Count the waiting pop requests.
    POLLING_INFO = 200055;
    /// Go back from the RocksDB form of POP bookkeeping.
    POP_ROLLBACK = 200056;
    /// Pop messages of lite topics.
    POP_LITE_MESSAGE = 200070;
    /// Change lite subscriptions.
    LITE_SUBSCRIPTION_CTL = 200071;
    /// Acknowledge a message of a lite topic.
    ACK_LITE_MESSAGE = 200072;
    /// Pushed: a lite subscription ended.
    NOTIFY_UNSUBSCRIBE_LITE = 200073;
    /// Read the counters of lite topics.
    GET_BROKER_LITE_INFO = 200074;
    /// Read the parent of lite topics.
    GET_PARENT_TOPIC_INFO = 200075;
    /// Read a lite topic.
    GET_LITE_TOPIC_INFO = 200076;
    /// Read a client of lite topics.
    GET_LITE_CLIENT_INFO = 200077;
    /// Read a group of lite topics.
    GET_LITE_GROUP_INFO = 200078;
    /// Dispatch lite topics again.
    TRIGGER_LITE_DISPATCH = 200079;
    /// Acknowledge many popped messages.
    BATCH_ACK_MESSAGE = 200151;
}
