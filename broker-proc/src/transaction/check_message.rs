use super::HalfMessage;
use crate::broker_context::BrokerContext;
use crate::remoting::headers::CheckTransactionStateRequestHeader;
use crate::remoting::{RemotingCommand, request_code};
use store_core::properties::{Properties, names};
use store_core::record_format::{RecordPlace, encode_whole};
use store_core::{AppendResult, message_id};

/// The question to a producer about the copy of a half message (`CHECK_TRANSACTION_STATE`); `None` when the message names
/// no topic it is meant for.
///
/// As Apache: the header speaks of the copy, the body is its record with the message's own topic and queue.
pub(super) fn check_request(
    context: &BrokerContext,
    half: &HalfMessage<'_>,
    copy: &AppendResult,
    copied: &Properties,
) -> Option<RemotingCommand> {
    let (topic, queue_id) = half.real_queue()?;
    let mut properties = copied.clone();
    properties.set(names::WAIT_STORE_MSG_OK, "false");
    let properties = properties.encode();
    let message = half.message(topic, queue_id, &properties, context.store_host);
    let place = RecordPlace {
        queue_offset: copy.logics_offset,
        phy_offset: copy.wrote_offset,
        store_timestamp: half.view().store_timestamp,
    };
    let record = encode_whole(&message, message.body.len(), false, &place).ok()?;
    let unique_key = copied.get(names::UNIQ_CLIENT_MESSAGE_ID_KEYIDX).map(str::to_owned);
    let header = CheckTransactionStateRequestHeader {
        topic: Some(half.view().topic.to_owned()),
        tran_state_table_offset: i64::try_from(copy.logics_offset).ok()?,
        commit_log_offset: i64::try_from(copy.wrote_offset).ok()?,
        msg_id: unique_key.clone(),
        transaction_id: unique_key,
        offset_msg_id: Some(message_id::encode(&context.store_host, copy.wrote_offset)),
        broker_name: Some(context.config.broker_name.clone()),
    };
    Some(RemotingCommand::request_with(request_code::CHECK_TRANSACTION_STATE, &header).with_body(record))
}

/// Sends the question to one of the producers of the group, another one each time.
pub(super) fn ask_producer(context: &BrokerContext, group: &str, question: RemotingCommand) {
    let Some(channel) = context.producers.available_channel(group) else {
        let group = group.escape_debug().to_string();
        tracing::warn!(
            group,
            "no producer of the group is connected: nobody can be asked about a half message"
        );
        return;
    };
    if let Err(error) = channel.push(question) {
        tracing::warn!(%error, "a producer could not be asked about a half message");
    }
}
