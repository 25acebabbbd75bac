//! A put whose answer may have to wait for the disk: no thread is parked for it.

use crate::put_result::{PutMessageStatus, PutResult};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, wait_while};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Answer of a put, now or later. Await it, or [`PutTicket::wait`] for it.
#[must_use = "a put is answered only through its ticket"]
#[derive(Debug)]
pub struct PutTicket {
    result: Option<PutResult>,
    pending: Option<Arc<Pending>>,
    timeout: Duration,
}

/// What the ticket and the one who completes it share.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// When the put began, by the monotonic clock.
    began: Duration,
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

/// How a wait ended.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) status: PutMessageStatus,
    pub(crate) remark: Option<String>,
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the put began, by the monotonic clock.
    pub(crate) fn began(&self) -> Duration {
        self.began
    }

    /// Answers the put; the first answer stays.
    pub(crate) fn complete(&self, outcome: Outcome) {
        let waker = {
            let mut state = self.lock();
            if state.outcome.is_some() {
                return;
            }
            state.outcome = Some(outcome);
            state.waker.take()
        };
        self.done.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl PutTicket {
    /// A put that is answered already.
    pub fn done(result: PutResult) -> Self {
        Self { result: Some(result), pending: None, timeout: Duration::ZERO }
    }

    /// A put whose `result` holds unless the wait ends otherwise.
    pub(crate) fn waiting(result: PutResult, timeout: Duration, began: Duration) -> (Self, Arc<Pending>) {
        let pending = Arc::new(Pending { began, ..Pending::default() });
        (Self { result: Some(result), pending: Some(Arc::clone(&pending)), timeout }, pending)
    }

    /// True when the answer is there.
    pub fn is_done(&self) -> bool {
        self.pending.as_ref().is_none_or(|pending| pending.lock().outcome.is_some())
    }

    /// How long one should wait before taking [`PutTicket::timed_out`] for the answer; zero when it is there.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The answer of a put that has waited long enough: stored, and not known to be durable.
    pub fn timed_out(result: PutResult) -> PutResult {
        let remark = Some("stored, but not known to be on disk within syncFlushTimeout".to_owned());
        PutResult { status: PutMessageStatus::FlushDiskTimeout, remark, ..result }
    }

    /// What is known already: where the message is.
    pub fn provisional(&self) -> Option<&PutResult> {
        self.result.as_ref()
    }

    /// Blocks until the answer is there, for at most the ticket's timeout.
    pub fn wait(mut self) -> PutResult {
        let result = self.take_result();
        let Some(pending) = self.pending.take() else { return result };
        let state = pending.lock();
        let state = wait_while(&pending.done, state, self.timeout, |state| state.outcome.is_none());
        match state.outcome.clone() {
            Some(outcome) => apply(result, outcome),
            None => Self::timed_out(result),
        }
    }

    fn take_result(&mut self) -> PutResult {
        self.result.take().unwrap_or_else(|| {
            PutResult::refused(PutMessageStatus::UnknownError, "the answer of this put was taken before")
        })
    }
}

fn apply(result: PutResult, outcome: Outcome) -> PutResult {
    PutResult { status: outcome.status, remark: outcome.remark.or(result.remark), appended: result.appended }
}

impl Future for PutTicket {
    type Output = PutResult;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<PutResult> {
        let outcome = match &self.pending {
            None => None,
            Some(pending) => {
                let mut state = pending.lock();
                if state.outcome.is_none() {
                    state.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
                state.outcome.clone()
            }
        };
        let result = self.take_result();
        Poll::Ready(match outcome {
            Some(outcome) => apply(result, outcome),
            None => result,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> PutResult {
        PutResult { status: PutMessageStatus::PutOk, appended: None, remark: None }
    }

    #[test]
    fn the_first_answer_counts() {
        let (ticket, pending) = PutTicket::waiting(stored(), Duration::from_secs(60), Duration::ZERO);
        assert!(!ticket.is_done());
        pending
            .complete(Outcome { status: PutMessageStatus::ServiceNotAvailable, remark: Some("why".into()) });
        pending.complete(Outcome { status: PutMessageStatus::PutOk, remark: None });
        let result = ticket.wait();
        assert_eq!(
            (result.status, result.remark.as_deref()),
            (PutMessageStatus::ServiceNotAvailable, Some("why"))
        );
    }

    #[test]
    fn no_answer_in_time_is_a_status() {
        let (ticket, _pending) = PutTicket::waiting(stored(), Duration::ZERO, Duration::ZERO);
        assert_eq!(ticket.wait().status, PutMessageStatus::FlushDiskTimeout);
    }

    #[test]
    fn a_waiting_task_is_woken() {
        struct Flag(std::sync::atomic::AtomicBool);
        impl std::task::Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, std::sync::atomic::Ordering::SeqCst);
            }
        }
        let flag = Arc::new(Flag(false.into()));
        let waker = Waker::from(Arc::clone(&flag));
        let mut context = Context::from_waker(&waker);
        let (mut ticket, pending) = PutTicket::waiting(stored(), Duration::from_secs(60), Duration::ZERO);
        assert!(Pin::new(&mut ticket).poll(&mut context).is_pending());
        pending.complete(Outcome { status: PutMessageStatus::PutOk, remark: None });
        assert!(flag.0.load(std::sync::atomic::Ordering::SeqCst));
        assert!(Pin::new(&mut ticket).poll(&mut context).is_ready());
    }
}
