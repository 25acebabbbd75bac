//! A right header for every request code that is served, to be spoiled.

use broker_proc::remoting::request_code as code;

/// A topic that is there and stays empty.
pub const TOPIC: &str = "Flawed";
/// A group that comes into being with its first use.
pub const GROUP: &str = "flawed";

/// Code and fields of a request.
pub type Template = (i32, &'static [(&'static str, &'static str)]);

const QUEUE: &[(&str, &str)] = &[("topic", TOPIC), ("queueId", "0")];
const NAMED_TOPIC: &[(&str, &str)] = &[("topic", TOPIC)];
const NAMED_GROUP: &[(&str, &str)] = &[("group", GROUP)];
const CONSUMER_GROUP: &[(&str, &str)] = &[("consumerGroup", GROUP)];
const PULL: &[(&str, &str)] = &[
    ("consumerGroup", GROUP),
    ("topic", TOPIC),
    ("queueId", "0"),
    ("queueOffset", "0"),
    ("maxMsgNums", "32"),
    ("sysFlag", "4"),
    ("commitOffset", "0"),
    ("suspendTimeoutMillis", "0"),
    ("subscription", "TagA || TagB"),
    ("subVersion", "1"),
    ("expressionType", "TAG"),
    ("maxMsgBytes", "1000"),
    ("requestSource", "-1"),
];

/// Requests without a body that store no message.
pub const TEMPLATES: &[Template] = &[
    (code::PULL_MESSAGE, PULL),
    (code::LITE_PULL_MESSAGE, PULL),
    (
        code::QUERY_MESSAGE,
        &[
            ("topic", TOPIC),
            ("key", "k"),
            ("maxNum", "32"),
            ("beginTimestamp", "0"),
            ("endTimestamp", "9223372036854775807"),
            ("indexType", "K"),
            ("_UNIQUE_KEY_QUERY", "true"),
        ],
    ),
    (code::VIEW_MESSAGE_BY_ID, &[("offset", "3"), ("topic", TOPIC)]),
    (
        code::QUERY_CONSUMER_OFFSET,
        &[("consumerGroup", GROUP), ("topic", TOPIC), ("queueId", "0"), ("setZeroIfNotFound", "false")],
    ),
    (
        code::UPDATE_CONSUMER_OFFSET,
        &[("consumerGroup", GROUP), ("topic", TOPIC), ("queueId", "0"), ("commitOffset", "7")],
    ),
    (
        code::UPDATE_AND_CREATE_TOPIC,
        &[
            ("topic", "Made"),
            ("defaultTopic", "TBW102"),
            ("readQueueNums", "2"),
            ("writeQueueNums", "2"),
            ("perm", "6"),
            ("topicFilterType", "SINGLE_TAG"),
            ("topicSysFlag", "0"),
            ("order", "false"),
            ("attributes", "+message.type=NORMAL"),
        ],
    ),
    (
        code::GET_ALL_TOPIC_CONFIG,
        &[("topicSeq", "1"), ("dataVersion", "{\"counter\":1}"), ("maxTopicNum", "3")],
    ),
    (code::GET_BROKER_CONFIG, &[]),
    (code::GET_BROKER_RUNTIME_INFO, &[]),
    (
        code::SEARCH_OFFSET_BY_TIMESTAMP,
        &[("topic", TOPIC), ("queueId", "0"), ("timestamp", "1"), ("boundaryType", "UPPER")],
    ),
    (code::GET_MAX_OFFSET, QUEUE),
    (code::GET_MIN_OFFSET, QUEUE),
    (code::GET_EARLIEST_MSG_STORETIME, QUEUE),
    (code::UNREGISTER_CLIENT, &[("clientID", "c"), ("producerGroup", GROUP), ("consumerGroup", GROUP)]),
    (
        code::CONSUMER_SEND_MSG_BACK,
        &[
            ("offset", "3"),
            ("group", GROUP),
            ("delayLevel", "0"),
            ("originTopic", TOPIC),
            ("maxReconsumeTimes", "3"),
        ],
    ),
    (code::GET_CONSUMER_LIST_BY_GROUP, CONSUMER_GROUP),
    (code::GET_ALL_CONSUMER_OFFSET, &[]),
    (
        code::GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        &[("groupSeq", "1"), ("dataVersion", "{}"), ("maxGroupNum", "3")],
    ),
    (code::GET_TOPIC_STATS_INFO, NAMED_TOPIC),
    (code::GET_CONSUMER_CONNECTION_LIST, CONSUMER_GROUP),
    (code::GET_PRODUCER_CONNECTION_LIST, &[("producerGroup", GROUP)]),
    (code::GET_ALL_PRODUCER_INFO, &[]),
    (code::DELETE_SUBSCRIPTIONGROUP, &[("groupName", GROUP), ("cleanOffset", "true")]),
    (
        code::GET_CONSUME_STATS,
        &[("consumerGroup", GROUP), ("topic", ""), ("topicList", "Flawed;Made;Flawed")],
    ),
    (code::DELETE_TOPIC_IN_BROKER, &[("topic", "Made")]),
    (
        code::INVOKE_BROKER_TO_RESET_OFFSET,
        &[
            ("topic", TOPIC),
            ("group", GROUP),
            ("queueId", "0"),
            ("offset", "0"),
            ("timestamp", "-1"),
            ("isForce", "true"),
        ],
    ),
    (code::QUERY_TOPIC_CONSUME_BY_WHO, NAMED_TOPIC),
    (code::GET_SYSTEM_TOPIC_LIST_FROM_BROKER, &[]),
    (code::CLEAN_EXPIRED_CONSUMEQUEUE, &[]),
    (code::CLEAN_UNUSED_TOPIC, &[]),
    (code::DELETE_EXPIRED_COMMITLOG, &[]),
    (code::QUERY_TOPICS_BY_CONSUMER, NAMED_GROUP),
    (code::QUERY_SUBSCRIPTION_BY_CONSUMER, &[("group", GROUP), ("topic", TOPIC)]),
    (code::GET_TOPIC_CONFIG, &[("topic", TOPIC), ("lo", "true")]),
    (code::GET_SUBSCRIPTIONGROUP_CONFIG, NAMED_GROUP),
];

/// Requests with a JSON body, and a right one.
pub const BODIES: &[(i32, &str)] = &[
    (code::HEART_BEAT, HEARTBEAT),
    (
        code::LOCK_BATCH_MQ,
        r#"{"consumerGroup":"flawed","clientId":"c","mqSet":[{"topic":"Flawed","brokerName":"b","queueId":0}]}"#,
    ),
    (
        code::UNLOCK_BATCH_MQ,
        r#"{"consumerGroup":"flawed","clientId":"c","mqSet":[{"topic":"Flawed","brokerName":"b","queueId":0}]}"#,
    ),
    (
        code::CHECK_CLIENT_CONFIG,
        r#"{"clientId":"c","group":"flawed","subscriptionData":{"topic":"Flawed","subString":"*","expressionType":"TAG"}}"#,
    ),
    (
        code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        r#"{"groupName":"flawed","retryQueueNums":1,"retryMaxTimes":16,"groupRetryPolicy":{"type":"CUSTOMIZED"},"attributes":{}}"#,
    ),
    (
        code::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        r#"{"groupConfigList":[{"groupName":"flawed"},{"groupName":"flawed2"}]}"#,
    ),
    (
        code::UPDATE_AND_CREATE_TOPIC_LIST,
        r#"{"topicConfigList":[{"topicName":"Made","readQueueNums":2,"writeQueueNums":2,"perm":6,"attributes":{}}]}"#,
    ),
];

const HEARTBEAT: &str = r#"{"clientID":"c","producerDataSet":[{"groupName":"flawed"}],"consumerDataSet":[{
"groupName":"flawed","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","consumeFromWhere":4,
"subscriptionDataSet":[{"topic":"Flawed","subString":"TagA","tagsSet":["TagA"],"codeSet":[2598919],"subVersion":1,
"expressionType":"TAG","classFilterMode":false}],"unitMode":false}],"heartbeatFingerprint":0,"withoutSub":false}"#;
