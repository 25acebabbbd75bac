//! The hand-off of waiting puts, and tickets.

use crate::put_result::{PutMessageStatus, PutResult};
use crate::put_ticket::{Outcome, PutTicket};
use crate::service::wakeup;
use crate::services::group_commit_service::GroupCommitQueue;
use crate::sync::{Arc, AtomicBool, Ordering};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use store_logic::model_sync::{explore, join, spawn};

const LONG: Duration = Duration::from_secs(3600);

fn stored() -> PutResult {
    PutResult { status: PutMessageStatus::PutOk, appended: None, remark: None }
}

/// F73: a put that waits is answered, also when it comes while the queue is closed for good. Broken by: a close that drops
/// the lock between answering and closing.
#[test]
fn nobody_waits_behind_a_close() {
    explore("nobody_waits_behind_a_close", None, || {
        let queue = Arc::new(GroupCommitQueue::new(wakeup().0));
        let closer = {
            let queue = Arc::clone(&queue);
            spawn(move || queue.close(Ok(100)))
        };
        let (ticket, pending) = PutTicket::waiting(stored(), LONG, Duration::ZERO);
        queue.wait_for(100, pending);
        assert_eq!(ticket.wait().status, PutMessageStatus::PutOk);
        join(closer);
    });
}

/// Of two answers the first counts, and the one who waits gets it. Broken by: an answer that is told before it is there.
#[test]
fn the_first_answer_counts() {
    explore("the_first_answer_counts", None, || {
        let (ticket, pending) = PutTicket::waiting(stored(), LONG, Duration::ZERO);
        let answering = [PutMessageStatus::PutOk, PutMessageStatus::ServiceNotAvailable].map(|status| {
            let pending = Arc::clone(&pending);
            spawn(move || pending.complete(Outcome { status, remark: None }))
        });
        let known = ticket.is_done();
        let status = ticket.wait().status;
        assert!(known || matches!(status, PutMessageStatus::PutOk | PutMessageStatus::ServiceNotAvailable));
        answering.into_iter().for_each(join);
    });
}

struct Told(AtomicBool);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A task that found no answer is woken by it. Broken by: a waker that is set after the look at the answer.
#[test]
fn a_task_is_woken() {
    explore("a_task_is_woken", None, || {
        let (ticket, pending) = PutTicket::waiting(stored(), LONG, Duration::ZERO);
        let answering =
            spawn(move || pending.complete(Outcome { status: PutMessageStatus::PutOk, remark: None }));
        let told = Arc::new(Told(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&told));
        let mut ticket = pin!(ticket);
        let first = ticket.as_mut().poll(&mut Context::from_waker(&waker));
        join(answering);
        if first.is_pending() {
            assert!(told.0.load(Ordering::SeqCst), "the answer came and nobody was told");
            assert!(matches!(ticket.poll(&mut Context::from_waker(&waker)), Poll::Ready(_)));
        }
    });
}
