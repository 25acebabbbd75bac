//! `END_TRANSACTION`: a producer commits a half message or rolls it back.

use super::send_message::{code_of, wait_for};
use crate::broker_context::BrokerContext;
use crate::processor::{Processor, Refusal, success};
use crate::remoting::headers::EndTransactionRequestHeader;
use crate::remoting::{Channel, RemotingCommand, Reply, response_code};
use crate::schedule;
use crate::transaction::{Append, HalfMessage, appended, immunity_millis, property_names};
use std::sync::Arc;
use store_core::properties::names;
use store_core::{PutMessageStatus, PutResult, PutTicket, sys_flag};

/// The processor.
pub struct EndTransactionProcessor {
    context: Arc<BrokerContext>,
}

impl EndTransactionProcessor {
    /// A processor over the broker's parts.
    pub fn new(context: &Arc<BrokerContext>) -> Self {
        Self { context: Arc::clone(context) }
    }

    /// Stores the message where it belongs, unless the transaction is finished already.
    fn commit(
        &self,
        half: &HalfMessage<'_>,
        header: &EndTransactionRequestHeader,
        request: &RemotingCommand,
    ) -> Result<Reply, Refusal> {
        let transactions = &self.context.transactions;
        let mut state = transactions.lock();
        if state.is_finished(half.offset()) {
            return Ok(success(request).into());
        }
        let ticket = self.put_committed(half, header)?;
        if matches!(appended(&ticket), Append::Stored(_))
            && state.finish(half.offset(), self.context.env.clock().monotonic())
        {
            transactions.wake_check_service();
        }
        drop(state);
        let response = success(request);
        if ticket.is_done() {
            return Ok(answer(response, ticket.wait()).into());
        }
        Ok(Reply::later(async move { answer(response, wait_for(ticket).await) }))
    }

    fn put_committed(
        &self,
        half: &HalfMessage<'_>,
        header: &EndTransactionRequestHeader,
    ) -> Result<PutTicket, Refusal> {
        let context = &self.context;
        let Some((topic, queue_id)) = half.real_queue() else {
            let remark = format!("a half message without {} and {}", names::REAL_TOPIC, names::REAL_QUEUE_ID);
            return Err(Refusal::new(response_code::SYSTEM_ERROR, remark));
        };
        let (mut topic, mut queue_id) = (topic.to_owned(), queue_id);
        let mut properties = half.properties().clone();
        properties.remove(names::REAL_TOPIC);
        properties.remove(names::REAL_QUEUE_ID);
        // A delay counts from here on.
        schedule::redirect_delayed(&context.delay_levels, &mut properties, &mut topic, &mut queue_id)?;
        let properties = properties.encode();
        let mut message = half.message(&topic, queue_id, &properties, context.store_host);
        message.sys_flag |= sys_flag::TRANSACTION_COMMIT;
        message.prepared_transaction_offset = header.commit_log_offset;
        Ok(context.store.put(&message))
    }

    fn roll_back(&self, half: &HalfMessage<'_>) {
        let transactions = &self.context.transactions;
        let mut state = transactions.lock();
        if !state.is_finished(half.offset())
            && state.finish(half.offset(), self.context.env.clock().monotonic())
        {
            transactions.wake_check_service();
        }
    }
}

impl Processor for EndTransactionProcessor {
    fn process(&self, _channel: &Arc<Channel>, request: &RemotingCommand) -> Result<Reply, Refusal> {
        let header: EndTransactionRequestHeader = request.decode_header()?;
        let commit = match header.commit_or_rollback {
            sys_flag::TRANSACTION_COMMIT => true,
            sys_flag::TRANSACTION_ROLLBACK => false,
            // Not known yet: the producer will be asked.
            _ => return Ok(Reply::None),
        };
        let record =
            u64::try_from(header.commit_log_offset).ok().and_then(|at| self.context.store.message_at(at));
        let half = record.as_deref().and_then(HalfMessage::read);
        let half = half.ok_or_else(|| wrong("Find prepared transaction message failed"))?;
        self.check_in_time(&half, &header)?;
        check_header(&half, &header)?;
        if commit {
            return self.commit(&half, &header, request);
        }
        self.roll_back(&half);
        Ok(success(request).into())
    }
}

impl EndTransactionProcessor {
    /// A producer that has asked for time decides within it, or when it is asked.
    fn check_in_time(
        &self,
        half: &HalfMessage<'_>,
        header: &EndTransactionRequestHeader,
    ) -> Result<(), Refusal> {
        let immunity = half.properties().get(property_names::CHECK_IMMUNITY_TIME_IN_SECONDS);
        let Some(seconds) = immunity.filter(|_| !header.from_transaction_check) else { return Ok(()) };
        let time_out = i64::try_from(self.context.config.transaction_time_out).unwrap_or(i64::MAX);
        let limit = immunity_millis(seconds, time_out);
        let age = half.age(self.context.now());
        if age > limit {
            let remark =
                format!("the transaction is {age} ms old, more than its {limit} ms: wait for the check");
            return Err(Refusal::new(response_code::ILLEGAL_OPERATION, remark));
        }
        Ok(())
    }
}

/// The half message must be the one that the producer means.
fn check_header(half: &HalfMessage<'_>, header: &EndTransactionRequestHeader) -> Result<(), Refusal> {
    if half.producer_group() != Some(header.producer_group.as_str()) {
        return Err(wrong("The producer group wrong"));
    }
    if half.view().queue_offset != header.tran_state_table_offset {
        return Err(wrong("The transaction state table offset wrong"));
    }
    if half.view().physical_offset != header.commit_log_offset {
        return Err(wrong("The commit log offset wrong"));
    }
    Ok(())
}

fn wrong(remark: &str) -> Refusal {
    Refusal::new(response_code::SYSTEM_ERROR, remark)
}

/// Committed is what is stored, whatever is known of disk and replicas.
pub(super) fn answer(mut response: RemotingCommand, result: PutResult) -> RemotingCommand {
    let committed = matches!(
        result.status,
        PutMessageStatus::PutOk
            | PutMessageStatus::FlushDiskTimeout
            | PutMessageStatus::FlushSlaveTimeout
            | PutMessageStatus::SlaveNotAvailable
    );
    if !committed {
        response.code = code_of(result.status);
        response.remark = Some(result.remark.unwrap_or_else(|| format!("{:?}", result.status)));
    }
    response
}
