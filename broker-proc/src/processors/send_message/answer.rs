//! From what the store says to the answer of a send.

use crate::broker_context::BrokerContext;
use crate::processor::Refusal;
use crate::remoting::headers::SendMessageResponseHeader;
use crate::remoting::{RemotingCommand, Reply, response_code};
use std::net::SocketAddr;
use store_core::{AppendResult, PutMessageStatus, PutResult, PutTicket, message_id};

/// What an answer needs besides the store's result.
pub(super) struct Answering {
    response: RemotingCommand,
    store_host: SocketAddr,
    region: String,
    trace_on: bool,
    pub(super) queue_id: i32,
    pub(super) transaction_id: Option<String>,
    /// Unique id of an inner batch: tells the producer that it became one record.
    pub(super) batch_uniq_id: Option<String>,
}

impl Answering {
    pub(super) fn new(context: &BrokerContext, response: RemotingCommand) -> Self {
        Self {
            response,
            store_host: context.store_host,
            region: context.config.region_id.clone(),
            trace_on: context.config.trace_on,
            queue_id: 0,
            transaction_id: None,
            batch_uniq_id: None,
        }
    }

    pub(super) fn refuse(mut self, refusal: Refusal) -> RemotingCommand {
        self.response.code = refusal.code;
        self.response.remark = Some(refusal.remark);
        self.response
    }

    /// At once when the store has answered, else when it does.
    pub(super) fn when_stored(self, ticket: PutTicket) -> Reply {
        if ticket.is_done() {
            return Reply::Now(self.answer(ticket.wait()));
        }
        Reply::later(async move { self.answer(wait_for(ticket).await) })
    }

    fn answer(mut self, result: PutResult) -> RemotingCommand {
        self.response.code = code_of(result.status);
        self.response.remark = result.remark;
        match result.appended {
            Some(appended) => self.response.with_header(&SendMessageResponseHeader {
                msg_id: message_ids(&self.store_host, &appended),
                queue_id: self.queue_id,
                queue_offset: i64::try_from(appended.logics_offset).unwrap_or(i64::MAX),
                transaction_id: self.transaction_id,
                batch_uniq_id: self.batch_uniq_id,
                recall_handle: None,
                msg_region: Some(self.region),
                trace_on: Some(self.trace_on.to_string()),
            }),
            None => self.response,
        }
    }
}

/// Waits for a put's answer, no longer than the put allows.
pub(crate) async fn wait_for(mut ticket: PutTicket) -> PutResult {
    let timeout = ticket.timeout();
    match tokio::time::timeout(timeout, &mut ticket).await {
        Ok(result) => result,
        Err(_) => match ticket.provisional() {
            Some(provisional) => PutTicket::timed_out(provisional.clone()),
            None => PutResult::refused(PutMessageStatus::UnknownError, "the store did not answer"),
        },
    }
}

/// Response code of a status.
pub(crate) fn code_of(status: PutMessageStatus) -> i32 {
    match status {
        PutMessageStatus::PutOk => response_code::SUCCESS,
        PutMessageStatus::FlushDiskTimeout => response_code::FLUSH_DISK_TIMEOUT,
        PutMessageStatus::FlushSlaveTimeout => response_code::FLUSH_SLAVE_TIMEOUT,
        PutMessageStatus::SlaveNotAvailable => response_code::SLAVE_NOT_AVAILABLE,
        PutMessageStatus::MessageIllegal | PutMessageStatus::PropertiesSizeExceeded => {
            response_code::MESSAGE_ILLEGAL
        }
        PutMessageStatus::ServiceNotAvailable => response_code::SERVICE_NOT_AVAILABLE,
        PutMessageStatus::OsPageCacheBusy => response_code::SYSTEM_BUSY,
        PutMessageStatus::CreateMappedFileFailed
        | PutMessageStatus::LmqConsumeQueueNumExceeded
        | PutMessageStatus::UnknownError => response_code::SYSTEM_ERROR,
    }
}

fn message_ids(store_host: &SocketAddr, appended: &AppendResult) -> String {
    if appended.batch_offsets.is_empty() {
        return message_id::encode(store_host, appended.wrote_offset);
    }
    let ids: Vec<String> =
        appended.batch_offsets.iter().map(|offset| message_id::encode(store_host, *offset)).collect();
    ids.join(",")
}
