//! Queue locks of orderly consumers (LOCK_BATCH_MQ 41, UNLOCK_BATCH_MQ 42).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::remoting::protocol::MessageQueue;

/// Milliseconds a lock lives without renewal; clients renew every 20 s.
pub const REBALANCE_LOCK_MAX_LIVE_TIME: i64 = 60_000;

/// Who holds a queue, and since when it was last confirmed.
#[derive(Debug)]
struct LockEntry {
    client_id: String,
    last_update_timestamp: i64,
}

impl LockEntry {
    fn is_expired(&self, now_millis: i64) -> bool {
        now_millis - self.last_update_timestamp > REBALANCE_LOCK_MAX_LIVE_TIME
    }
}

type QueueLocks = HashMap<MessageQueue, LockEntry>;

/// The locks of all groups. Times are epoch milliseconds.
#[derive(Debug, Default)]
pub struct RebalanceLockManager {
    groups: Mutex<HashMap<String, QueueLocks>>,
}

impl RebalanceLockManager {
    /// Locks or renews `queues` for a client and returns those it holds now, in the order asked for. A queue held by
    /// another client is left out unless that lock has expired.
    pub fn try_lock_batch(
        &self,
        group: &str,
        queues: &[MessageQueue],
        client_id: &str,
        now_millis: i64,
    ) -> Vec<MessageQueue> {
        if queues.is_empty() {
            return Vec::new();
        }
        let mut groups = self.groups();
        if !groups.contains_key(group) {
            groups.insert(group.to_owned(), QueueLocks::new());
        }
        let Some(locks) = groups.get_mut(group) else {
            return Vec::new();
        };
        queues.iter().filter(|queue| try_lock(locks, queue, client_id, now_millis)).cloned().collect()
    }

    /// Gives up those of `queues` that `client_id` holds.
    pub fn unlock_batch(&self, group: &str, queues: &[MessageQueue], client_id: &str) {
        let mut groups = self.groups();
        let Some(locks) = groups.get_mut(group) else {
            return;
        };
        for queue in queues {
            if locks.get(queue).is_some_and(|entry| entry.client_id == client_id) {
                locks.remove(queue);
            }
        }
        if locks.is_empty() {
            groups.remove(group);
        }
    }

    /// Whether any queue of the group is under a lock that has not expired: the mark of an orderly consumer.
    pub fn is_locked(&self, group: &str, now_millis: i64) -> bool {
        self.groups()
            .get(group)
            .is_some_and(|locks| locks.values().any(|entry| !entry.is_expired(now_millis)))
    }

    /// Forgets expired locks, so that names that are never used again do not stay.
    pub fn scan(&self, now_millis: i64) {
        self.groups().retain(|_, locks| {
            locks.retain(|_, entry| !entry.is_expired(now_millis));
            !locks.is_empty()
        });
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<String, QueueLocks>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `client_id` holds the queue afterwards.
fn try_lock(locks: &mut QueueLocks, queue: &MessageQueue, client_id: &str, now_millis: i64) -> bool {
    match locks.get_mut(queue) {
        Some(entry) if entry.client_id == client_id => entry.last_update_timestamp = now_millis,
        Some(entry) if !entry.is_expired(now_millis) => return false,
        _ => {
            let entry = LockEntry { client_id: client_id.to_owned(), last_update_timestamp: now_millis };
            locks.insert(queue.clone(), entry);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(queue_id: i32) -> MessageQueue {
        MessageQueue { topic: "T".to_owned(), broker_name: "b".to_owned(), queue_id }
    }

    #[test]
    fn a_queue_has_one_holder() {
        let manager = RebalanceLockManager::default();
        assert_eq!(manager.try_lock_batch("g", &[queue(1), queue(0)], "c1", 0), [queue(1), queue(0)]);
        assert_eq!(manager.try_lock_batch("g", &[queue(0), queue(2)], "c2", 1), [queue(2)]);
        assert_eq!(
            manager.try_lock_batch("other", &[queue(0)], "c2", 1),
            [queue(0)],
            "groups are independent"
        );
    }

    #[test]
    fn locks_expire_after_a_minute_without_renewal() {
        let manager = RebalanceLockManager::default();
        manager.try_lock_batch("g", &[queue(0)], "c1", 0);
        manager.try_lock_batch("g", &[queue(0)], "c1", 50_000);
        assert!(manager.try_lock_batch("g", &[queue(0)], "c2", 110_000).is_empty(), "renewed at 50 s");
        assert!(manager.is_locked("g", 110_000));
        assert!(!manager.is_locked("g", 110_001));
        assert_eq!(manager.try_lock_batch("g", &[queue(0)], "c2", 110_001), [queue(0)]);
        assert!(manager.try_lock_batch("g", &[queue(0)], "c1", 110_002).is_empty());
    }

    #[test]
    fn only_the_holder_unlocks() {
        let manager = RebalanceLockManager::default();
        manager.try_lock_batch("g", &[queue(0)], "c1", 0);
        manager.unlock_batch("g", &[queue(0)], "c2");
        manager.unlock_batch("unknown", &[queue(0)], "c1");
        assert!(manager.is_locked("g", 1));
        manager.unlock_batch("g", &[queue(0)], "c1");
        assert!(!manager.is_locked("g", 1));
        assert_eq!(manager.try_lock_batch("g", &[queue(0)], "c2", 1), [queue(0)]);
    }

    #[test]
    fn a_clock_that_goes_back_does_not_free_a_lock() {
        let manager = RebalanceLockManager::default();
        manager.try_lock_batch("g", &[queue(0)], "c1", 100_000);
        assert!(manager.is_locked("g", 0));
    }

    #[test]
    fn scan_forgets_what_expired() {
        let manager = RebalanceLockManager::default();
        manager.try_lock_batch("g", &[queue(0)], "c1", 0);
        manager.try_lock_batch("h", &[queue(0)], "c1", 60_000);
        assert!(manager.try_lock_batch("i", &[], "c1", 60_000).is_empty());
        manager.scan(60_001);
        assert_eq!(manager.groups().keys().collect::<Vec<_>>(), ["h"]);
    }
}
