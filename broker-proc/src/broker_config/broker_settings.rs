//! Keys of Apache's `BrokerConfig` and `NettyServerConfig` that have an effect.

use super::setting::{Setting, flag, number, text};
use super::value;

/// Longest period in milliseconds: Java keeps most of them in an `int`.
const MAX_MILLIS: i64 = i32::MAX as i64;

pub(super) static SETTINGS: &[Setting] = &[
    text!("brokerClusterName", broker.broker_cluster_name, value::word),
    text!("brokerName", broker.broker_name, value::word),
    number!("brokerId", broker.broker_id, 0..=i64::MAX),
    text!("bindAddress", broker.bind_address, value::host),
    text!("brokerIP1", broker.broker_ip1, value::host),
    text!("brokerIP2", broker.broker_ip2, value::host),
    number!("listenPort", broker.listen_port, 3..=65_534),
    Setting {
        key: "haListenPort",
        set: |settings, text| {
            let port: u16 = value::number(text, 0..=65_535)?;
            settings.broker.ha_listen_port = (port != 0).then_some(port);
            Ok(None)
        },
        show: |settings| settings.broker.ha_port().to_string(),
    },
    Setting {
        key: "namesrvAddr",
        set: |settings, text| {
            let addresses = value::addresses(text)?;
            settings.broker.namesrv_addr = (!addresses.is_empty()).then_some(addresses);
            Ok(None)
        },
        show: |settings| settings.broker.namesrv_addr.as_ref().map(|list| list.join(";")).unwrap_or_default(),
    },
    Setting {
        key: "brokerPermission",
        set: |settings, text| {
            settings.broker.broker_permission = value::number(text, 0..=7)
                .map_err(|range| format!("{range}: the sum of 4 (read), 2 (write) and 1 (inherit)"))?;
            Ok(None)
        },
        show: |settings| settings.broker.broker_permission.to_string(),
    },
    text!("regionId", broker.region_id, value::word),
    number!("serverChannelMaxIdleTimeSeconds", broker.server_channel_max_idle_time_seconds, 1..=86_400),
    number!("channelExpiredTimeout", broker.channel_expired_timeout, 1000..=MAX_MILLIS),
    number!("registerNameServerPeriod", broker.register_name_server_period, 1..=MAX_MILLIS),
    flag!("autoCreateTopicEnable", broker.auto_create_topic_enable),
    number!("defaultTopicQueueNums", broker.default_topic_queue_nums, 1..=65_535),
    flag!("clusterTopicEnable", broker.cluster_topic_enable),
    flag!("brokerTopicEnable", broker.broker_topic_enable),
    flag!("traceTopicEnable", broker.trace_topic_enable),
    text!("msgTraceTopicName", broker.msg_trace_topic_name, value::word),
    number!("reviveQueueNum", broker.revive_queue_num, 1..=65_535),
    flag!("timerWheelEnable", broker.timer_wheel_enable),
    flag!("validateSystemTopicWhenUpdateTopic", broker.validate_system_topic_when_update_topic),
    flag!("enableMixedMessageType", broker.enable_mixed_message_type),
    number!("splitMetadataSize", broker.split_metadata_size, 1..=MAX_MILLIS),
    flag!("autoCreateSubscriptionGroup", broker.auto_create_subscription_group),
    flag!("enableCreateSysGroup", broker.enable_create_sys_group),
    flag!("notifyConsumerIdsChangedEnable", broker.notify_consumer_ids_changed_enable),
    flag!("traceOn", broker.trace_on),
    number!("startAcceptSendRequestTimeStamp", broker.start_accept_send_request_time_stamp, 0..=i64::MAX),
    flag!("rejectTransactionMessage", broker.reject_transaction_message),
    number!("transactionTimeOut", broker.transaction_time_out, 1..=MAX_MILLIS),
    number!("transactionCheckMax", broker.transaction_check_max, 0..=MAX_MILLIS),
    number!("transactionCheckInterval", broker.transaction_check_interval, 1..=MAX_MILLIS),
    flag!("storeReplyMessageEnable", broker.store_reply_message_enable),
    flag!("longPollingEnable", broker.long_polling_enable),
    number!("shortPollingTimeMills", broker.short_polling_time_mills, 1..=MAX_MILLIS),
    flag!("litePullMessageEnable", broker.lite_pull_message_enable),
    flag!("useServerSideResetOffset", broker.use_server_side_reset_offset),
    number!("defaultQueryMaxNum", broker.default_query_max_num, 1..=MAX_MILLIS),
    number!("flushConsumerOffsetInterval", broker.flush_consumer_offset_interval, 1..=MAX_MILLIS),
    number!("consumerOffsetUpdateVersionStep", broker.consumer_offset_update_version_step, 1..=i64::MAX),
    number!("flushDelayOffsetInterval", broker.flush_delay_offset_interval, 1..=MAX_MILLIS),
];
