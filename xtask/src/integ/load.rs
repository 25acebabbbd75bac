//! Producers that send while something is done to the broker.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use fastrand::Rng;

use super::client::{Client, QUEUES};
use super::ledger::Ledger;

/// Connections that send at the same time, so that syncs are shared.
const PRODUCERS: usize = 4;
/// After a refusal, before the next message.
const REST: Duration = Duration::from_millis(5);

/// Where producers send to. They end with their connection: a broker started again needs a new load.
pub struct Load<'a> {
    pub address: &'a str,
    pub ledger: &'a Ledger,
    /// Their messages go to the queues of these topics.
    pub topics: &'a [String],
    pub seed: u64,
}

impl Load<'_> {
    /// Sends as long as `meanwhile` runs.
    ///
    /// # Errors
    /// The error of `meanwhile`.
    pub fn during<T>(&self, meanwhile: impl FnOnce() -> Result<T>) -> Result<T> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for producer in 0..PRODUCERS {
                let over = &over;
                scope.spawn(move || self.produce(Rng::with_seed(self.seed + producer as u64), over));
            }
            let outcome = meanwhile();
            over.store(true, Ordering::Relaxed);
            outcome
        })
    }

    fn produce(&self, mut rng: Rng, over: &AtomicBool) {
        let Ok(mut client) = Client::connect(self.address) else { return };
        while !over.load(Ordering::Relaxed) {
            let topic = &self.topics[rng.usize(0..self.topics.len())];
            let queue = rng.i64(0..QUEUES);
            let (number, body) = self.ledger.begin(topic);
            let asked = Instant::now();
            match client.send(topic, queue, &format!("key-{number}"), &body) {
                Ok(sent) => {
                    self.ledger.answered(number, topic, queue, asked, &sent);
                    if !matches!(sent, super::client::Sent::Acknowledged { .. }) {
                        thread::sleep(REST);
                    }
                }
                Err(_) => {
                    // Nobody knows whether it is stored.
                    self.ledger.unanswered();
                    return;
                }
            }
        }
    }
}
