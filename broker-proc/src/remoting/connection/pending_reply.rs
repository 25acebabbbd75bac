//! Answers on their way, and the answers that the connection itself gives.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::remoting::handler::LaterReply;
use crate::remoting::{RemotingCommand, SerializeType, response_code};

/// Answer to a request beyond the number that may wait.
pub(super) fn overload_answer() -> RemotingCommand {
    RemotingCommand::request(response_code::SYSTEM_BUSY)
        .with_remark("[OVERLOAD]system busy, start flow control for a while")
}

/// Answer to a request whose handler has panicked.
pub(super) fn panic_answer(code: i32) -> RemotingCommand {
    RemotingCommand::request(response_code::SYSTEM_ERROR)
        .with_remark(format!("internal error while serving request type {code}"))
}

/// Where an answer belongs.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerPlace {
    pub(super) code: i32,
    pub(super) opaque: i32,
    pub(super) serialize: SerializeType,
    pub(super) oneway: bool,
}

impl AnswerPlace {
    /// Completes an answer; `None` when none is wanted.
    pub(super) fn address(self, mut answer: RemotingCommand) -> Option<RemotingCommand> {
        if self.oneway {
            return None;
        }
        answer.address_to(self.opaque, self.serialize);
        Some(answer)
    }
}

/// An answer that takes time; `None` in the end when none is wanted.
pub(super) struct PendingReply {
    pub(super) place: AnswerPlace,
    pub(super) future: LaterReply,
}

impl Future for PendingReply {
    type Output = Option<RemotingCommand>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(context)));
        let answer = match polled {
            Ok(polled) => ready!(polled),
            Err(_) => panic_answer(self.place.code),
        };
        Poll::Ready(self.place.address(answer))
    }
}
