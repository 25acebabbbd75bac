use crate::consumer_manager::Subscription;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use store_core::{Arrival, MessageArrivingListener};
use tokio::sync::oneshot;

/// Pulls that wait, by topic and queue.
///
/// A waiting pull is a future that its connection drives: it ends when a message it wants arrives, its own timer runs
/// out, or the connection closes, which drops it. The dispatcher only sends the signal; the read is done again by
/// whoever waits.
#[derive(Debug, Default)]
pub struct PullRequestHoldService {
    topics: Mutex<HashMap<String, HashMap<i32, Vec<Waiting>>>>,
    /// Pulls that wait now; lets the dispatcher pass by without the lock.
    count: AtomicU64,
    next_id: AtomicU64,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    /// First queue offset wanted.
    offset: u64,
    subscription: Arc<Subscription>,
    signal: oneshot::Sender<()>,
}

/// A pull that waits. Dropping it takes it out.
#[derive(Debug)]
pub struct HeldPull {
    service: Arc<PullRequestHoldService>,
    topic: String,
    queue_id: i32,
    id: u64,
    signal: oneshot::Receiver<()>,
}

impl PullRequestHoldService {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, HashMap<i32, Vec<Waiting>>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a pull wait for a message at `offset` or behind that passes its subscription. The caller looks at the queue
    /// once more afterwards: a message may have arrived in between.
    pub fn hold(
        self: &Arc<Self>,
        topic: &str,
        queue_id: i32,
        offset: u64,
        subscription: Arc<Subscription>,
    ) -> HeldPull {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, signal) = oneshot::channel();
        let waiting = Waiting { id, offset, subscription, signal: sender };
        self.count.fetch_add(1, Ordering::SeqCst);
        // Pairs with the fence in `arriving`: see there.
        fence(Ordering::SeqCst);
        self.lock().entry(topic.to_owned()).or_default().entry(queue_id).or_default().push(waiting);
        HeldPull { service: Arc::clone(self), topic: topic.to_owned(), queue_id, id, signal }
    }

    /// Number of pulls that wait.
    pub fn waiting(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Ends the wait of all pulls (stop).
    pub fn wake_all(&self) {
        // Dropping the senders wakes the futures; they take themselves out.
        self.lock().clear();
    }

    fn wake_matching(&self, arrival: &Arrival<'_>) {
        let mut topics = self.lock();
        let Some(waiting) =
            topics.get_mut(arrival.topic).and_then(|queues| queues.get_mut(&arrival.queue_id))
        else {
            return;
        };
        let mut index = 0;
        while let Some(pull) = waiting.get(index) {
            let wanted = arrival.next_offset > pull.offset
                && pull.subscription.matches_tags_code(Some(arrival.tags_code));
            if wanted {
                let pull = waiting.swap_remove(index);
                // A receiver that is gone needs no signal.
                let _ = pull.signal.send(());
            } else {
                index += 1;
            }
        }
    }

    fn remove(&self, topic: &str, queue_id: i32, id: u64) {
        let mut topics = self.lock();
        self.count.fetch_sub(1, Ordering::SeqCst);
        let Some(queues) = topics.get_mut(topic) else { return };
        if let Some(waiting) = queues.get_mut(&queue_id) {
            waiting.retain(|pull| pull.id != id);
            if waiting.is_empty() {
                queues.remove(&queue_id);
            }
        }
        if queues.is_empty() {
            topics.remove(topic);
        }
    }
}

impl MessageArrivingListener for PullRequestHoldService {
    fn arriving(&self, arrival: &Arrival<'_>) {
        // The dispatcher has published the queue's end and now looks for pulls; a pull has counted itself and then looks at
        // the queue's end again. Each writes one place and reads the other's: without a full fence on both sides both
        // could read the old value, and the pull would sleep beside its message.
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::SeqCst) > 0 {
            self.wake_matching(arrival);
        }
    }
}

/// Ends when a wanted message has arrived (or all waits are ended).
impl Future for HeldPull {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.signal).poll(context).map(|_| ())
    }
}

impl Drop for HeldPull {
    fn drop(&mut self) {
        self.service.remove(&self.topic, self.queue_id, self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(queue_id: i32, next_offset: u64, tags_code: i64) -> Arrival<'static> {
        Arrival { topic: "T", queue_id, next_offset, tags_code, store_timestamp: 0, properties: "" }
    }

    fn hold(service: &Arc<PullRequestHoldService>, expression: &str, offset: u64) -> HeldPull {
        let subscription = Subscription::parse("T", Some(expression), None).unwrap();
        service.hold("T", 0, offset, Arc::new(subscription))
    }

    fn is_woken(pull: &mut HeldPull) -> bool {
        pull.signal.try_recv().is_ok()
    }

    #[test]
    fn field_F97_only_wanted_messages_wake() {
        let service = Arc::new(PullRequestHoldService::default());
        let mut tag_a = hold(&service, "TagA", 5);
        let mut all = hold(&service, "*", 5);
        service.arriving(&arrival(1, 6, 0));
        service.arriving(&arrival(0, 5, 0));
        assert!(!is_woken(&mut tag_a) && !is_woken(&mut all), "another queue, an older message");
        service.arriving(&arrival(0, 6, 1));
        assert!(!is_woken(&mut tag_a) && is_woken(&mut all));
        service.arriving(&arrival(0, 7, 2_598_919));
        assert!(is_woken(&mut tag_a));
    }

    #[test]
    fn nothing_is_left_of_a_dropped_pull() {
        let service = Arc::new(PullRequestHoldService::default());
        let pulls: Vec<HeldPull> = (0..10).map(|_| hold(&service, "*", 0)).collect();
        assert_eq!(service.waiting(), 10);
        service.arriving(&arrival(0, 1, 0));
        drop(pulls);
        assert_eq!(service.waiting(), 0);
        assert!(service.lock().is_empty());
    }
}
