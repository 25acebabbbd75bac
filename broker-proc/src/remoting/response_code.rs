//! Response codes: how a request ended.

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
    /// Done.
    SUCCESS = 0;
    /// The default failure; also "not found" of several admin calls.
    SYSTEM_ERROR = 1;
    /// Flow control: try again or elsewhere.
    SYSTEM_BUSY = 2;
    /// The request code is unknown here.
    REQUEST_CODE_NOT_SUPPORTED = 3;
    /// Unused by the broker.
    TRANSACTION_FAILED = 4;
    /// Stored, but the flush to disk was not confirmed in time.
    FLUSH_DISK_TIMEOUT = 10;
    /// Stored, but there is no replica; also the answer of a replica to END_TRANSACTION.
    SLAVE_NOT_AVAILABLE = 11;
    /// Stored, but the replica did not confirm in time.
    FLUSH_SLAVE_TIMEOUT = 12;
    /// The message breaks a limit or lacks something.
    MESSAGE_ILLEGAL = 13;
    /// The store takes no messages now.
    SERVICE_NOT_AVAILABLE = 14;
    /// Unused by the broker.
    VERSION_NOT_SUPPORTED = 15;
    /// Permission is missing.
    NO_PERMISSION = 16;
    /// The topic is unknown; of a name server: it has no route.
    TOPIC_NOT_EXIST = 17;
    /// Unused by the broker.
    TOPIC_EXIST_ALREADY = 18;
    /// Pull: no new message.
    PULL_NOT_FOUND = 19;
    /// Pull: nothing matched, go on at the given offset.
    PULL_RETRY_IMMEDIATELY = 20;
    /// Pull: the offset is illegal, go on at the given one.
    PULL_OFFSET_MOVED = 21;
    /// Nothing is stored under what was asked for.
    QUERY_NOT_FOUND = 22;
    /// The filter expression does not parse.
    SUBSCRIPTION_PARSE_FAILED = 23;
    /// Group or topic are in no heartbeat.
    SUBSCRIPTION_NOT_EXIST = 24;
    /// The heartbeat is older than the request.
    SUBSCRIPTION_NOT_LATEST = 25;
    /// The consumer group is unknown.
    SUBSCRIPTION_GROUP_NOT_EXIST = 26;
    /// There is no compiled filter for the subscription.
    FILTER_DATA_NOT_EXIST = 27;
    /// The compiled filter is older than the request.
    FILTER_DATA_NOT_LATEST = 28;
    /// A name, queue or setting is not allowed.
    INVALID_PARAMETER = 29;
    /// Legacy.
    TRANSACTION_SHOULD_COMMIT = 200;
    /// Legacy.
    TRANSACTION_SHOULD_ROLLBACK = 201;
    /// Legacy.
    TRANSACTION_STATE_UNKNOW = 202;
    /// Legacy.
    TRANSACTION_STATE_GROUP_WRONG = 203;
    /// Legacy; producers retry on it.
    NO_BUYER_ID = 204;
    /// Legacy; producers retry on it.
    NOT_IN_CURRENT_UNIT = 205;
    /// The consumer group has no connection here.
    CONSUMER_NOT_ONLINE = 206;
    /// A client did not answer a forwarded request in time.
    CONSUME_MSG_TIMEOUT = 207;
    /// POP: the offset is outside the queue.
    NO_MESSAGE = 208;
    /// POP: too many requests wait.
    POLLING_FULL = 209;
    /// POP: nothing came.
    POLLING_TIMEOUT = 210;
    /// The broker is unknown.
    BROKER_NOT_EXIST = 211;
    /// The queues are still behind the log.
    BROKER_DISPATCH_NOT_COMPLETE = 212;
    /// Raised inside admin tools for broadcast groups.
    BROADCAST_CONSUMPTION = 213;
    /// Flow control of proxies.
    FLOW_CONTROL = 215;
    /// Static topics: another broker has the queue.
    NOT_LEADER_FOR_QUEUE = 501;
    /// The decision on a transaction came too late.
    ILLEGAL_OPERATION = 604;
    /// The server shuts down; connect elsewhere.
    GO_AWAY = 1500;
    /// The user is unknown.
    USER_NOT_EXIST = 3001;
    /// The access rule is unknown.
    POLICY_NOT_EXIST = 3002;
}
