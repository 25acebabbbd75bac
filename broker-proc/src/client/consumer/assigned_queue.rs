//! A queue while it belongs to a member.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::remoting::protocol::MessageQueue;

/// A queue of this member and how far it is consumed.
#[derive(Debug)]
pub struct AssignedQueue {
    queue: MessageQueue,
    /// Offset behind the last message at the time of the assignment.
    end: i64,
    position: AtomicI64,
    committed: AtomicI64,
    assigned: AtomicBool,
}

impl AssignedQueue {
    /// A queue to be consumed from `position` on.
    pub(super) fn new(queue: MessageQueue, position: i64, end: i64) -> Self {
        Self {
            queue,
            end,
            position: AtomicI64::new(position),
            // Even where nothing comes the group shall have an offset, so that it need not search again.
            committed: AtomicI64::new(-1),
            assigned: AtomicBool::new(true),
        }
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &MessageQueue {
        &self.queue
    }

    /// Offset of the first message that is not consumed.
    #[must_use]
    pub fn position(&self) -> i64 {
        self.position.load(Ordering::Acquire)
    }

    /// Reports every message before `offset` as consumed. It is committed within a few seconds.
    pub fn consumed_before(&self, offset: i64) {
        self.position.store(offset, Ordering::Release);
    }

    /// Whether everything is consumed that was in the queue when this member got it.
    #[must_use]
    pub fn is_caught_up(&self) -> bool {
        self.position() >= self.end
    }

    /// Whether the queue still belongs to this member.
    #[must_use]
    pub fn is_assigned(&self) -> bool {
        self.assigned.load(Ordering::Acquire)
    }

    pub(super) fn take_away(&self) {
        self.assigned.store(false, Ordering::Release);
    }

    /// The position when it is not committed.
    pub(super) fn uncommitted(&self) -> Option<i64> {
        let position = self.position();
        (position != self.committed.load(Ordering::Acquire)).then_some(position)
    }

    pub(super) fn committed(&self, offset: i64) {
        self.committed.store(offset, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::AssignedQueue;
    use crate::remoting::protocol::MessageQueue;

    #[test]
    fn what_is_consumed_is_committed_once() {
        let queue = MessageQueue { topic: "T".to_owned(), broker_name: "b".to_owned(), queue_id: 0 };
        let queue = AssignedQueue::new(queue, 5, 7);
        assert!(!queue.is_caught_up());
        assert_eq!(queue.uncommitted(), Some(5));
        queue.consumed_before(7);
        assert!(queue.is_caught_up() && queue.is_assigned());
        assert_eq!(queue.uncommitted(), Some(7));
        queue.committed(7);
        assert_eq!(queue.uncommitted(), None);
        // A broker may move a group back.
        queue.consumed_before(2);
        assert_eq!((queue.uncommitted(), queue.is_caught_up()), (Some(2), false));
        queue.take_away();
        assert!(!queue.is_assigned());
    }
}
