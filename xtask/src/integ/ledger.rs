//! What was sent and how it was answered, kept outside of the broker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use fastrand::Rng;

use super::client::Sent;

/// Every body begins with it: the faulty disk knows log pages by it.
pub const MARKER: &[u8; 16] = b"body-under-watch";
/// The number of the message follows.
const NUMBER: std::ops::Range<usize> = 16..24;
/// Between two looks at the ledger.
const POLL: Duration = Duration::from_millis(5);

/// Where a message is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub topic: String,
    pub queue: i64,
    pub offset: i64,
}

/// All messages of one check. Each has a number, and the number decides its body.
pub struct Ledger {
    seed: u64,
    entries: Mutex<Entries>,
}

/// What is known of the messages.
#[derive(Clone, Default)]
pub struct Entries {
    next: u64,
    pub topics: BTreeSet<String>,
    pub acknowledged: BTreeMap<Place, u64>,
    /// Messages the broker said it did not store.
    pub refused: BTreeSet<u64>,
    /// How often each refusal or doubtful answer came.
    pub remarks: BTreeMap<String, usize>,
    /// Sends that got no answer.
    pub unanswered: usize,
    /// When the latest send that was acknowledged had begun.
    pub latest_acknowledged_send: Option<Instant>,
    /// Whether acknowledgements that arrive are no longer believed.
    disbelieving: bool,
    /// What must never happen, whatever is found in the store.
    pub contradictions: Vec<String>,
}

impl Ledger {
    pub fn new(seed: u64) -> Self {
        Ledger { seed, entries: Mutex::default() }
    }

    /// Begins a message: its number and its body.
    pub fn begin(&self, topic: &str) -> (u64, Vec<u8>) {
        let mut entries = self.lock();
        if !entries.topics.contains(topic) {
            entries.topics.insert(topic.to_owned());
        }
        let number = entries.next;
        entries.next += 1;
        drop(entries);
        (number, self.body(number))
    }

    /// Notes the answer to a send that began at `asked`.
    pub fn answered(&self, number: u64, topic: &str, queue: i64, asked: Instant, sent: &Sent) {
        let mut entries = self.lock();
        match sent {
            Sent::Acknowledged { queue_offset } => {
                entries.latest_acknowledged_send = entries.latest_acknowledged_send.max(Some(asked));
                if entries.disbelieving {
                    return;
                }
                let place = Place { topic: topic.to_owned(), queue, offset: *queue_offset };
                if let Some(other) = entries.acknowledged.insert(place.clone(), number) {
                    entries
                        .contradictions
                        .push(format!("{place:?} was given to messages {other} and {number}"));
                }
            }
            Sent::Doubtful { code, remark } => {
                *entries.remarks.entry(format!("{code}, stored: {}", shape(remark))).or_default() += 1;
            }
            Sent::Refused { code, remark } => {
                entries.refused.insert(number);
                *entries.remarks.entry(format!("{code}: {}", shape(remark))).or_default() += 1;
                if remark.is_empty() {
                    entries.contradictions.push(format!("message {number} was refused without a reason"));
                }
            }
        }
    }

    /// From now on an acknowledgement promises nothing: a machine whose power is gone answers nobody. Until
    /// [`Ledger::believe`].
    pub fn disbelieve(&self) {
        self.lock().disbelieving = true;
    }

    /// From now on an acknowledgement is a promise again.
    pub fn believe(&self) {
        self.lock().disbelieving = false;
    }

    /// # Errors
    /// When a send that began after `moment` was acknowledged.
    pub fn require_no_send_acknowledged_after(&self, moment: Instant) -> Result<()> {
        match self.lock().latest_acknowledged_send {
            Some(latest) if latest > moment => {
                bail!(
                    "a message was acknowledged that was sent {} ms after the failure",
                    (latest - moment).as_millis()
                )
            }
            _ => Ok(()),
        }
    }

    /// Notes that a send got no answer.
    pub fn unanswered(&self) {
        self.lock().unanswered += 1;
    }

    /// What is known now.
    pub fn entries(&self) -> Entries {
        self.lock().clone()
    }

    /// How many messages were acknowledged, and how many refused.
    pub fn counts(&self) -> (usize, usize) {
        let entries = self.lock();
        (entries.acknowledged.len(), entries.refused.len())
    }

    /// Waits until `enough`, given the counts, is true. `alive` ends the wait early.
    ///
    /// # Errors
    /// When `patience` ends or `alive` fails.
    pub fn wait(
        &self,
        what: &str,
        patience: Duration,
        mut alive: impl FnMut() -> Result<()>,
        mut enough: impl FnMut(usize, usize) -> bool,
    ) -> Result<()> {
        let started = Instant::now();
        loop {
            let (acknowledged, refused) = self.counts();
            if enough(acknowledged, refused) {
                return Ok(());
            }
            alive()?;
            if started.elapsed() > patience {
                let remarks = self.lock().remarks.clone();
                bail!(
                    "expected {what} within {} s, found {acknowledged} acknowledged, {refused} refused: {remarks:?}",
                    patience.as_secs()
                );
            }
            thread::sleep(POLL);
        }
    }

    /// The body of a message: mostly small, now and then several pages.
    pub fn body(&self, number: u64) -> Vec<u8> {
        let mut rng = Rng::with_seed(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let length = match rng.u8(0..20) {
            0 => rng.usize(4_000..30_000),
            1..=5 => rng.usize(600..4_000),
            _ => rng.usize(8..600),
        };
        let mut body = Vec::with_capacity(NUMBER.end + length);
        body.extend_from_slice(MARKER);
        body.extend_from_slice(&number.to_be_bytes());
        body.extend((0..length).map(|_| rng.u8(..)));
        body
    }

    /// The number of a message whose body is unchanged; none for any other body.
    pub fn recognise(&self, body: &[u8]) -> Option<u64> {
        let number = u64::from_be_bytes(body.get(NUMBER)?.try_into().ok()?);
        (number < self.lock().next && self.body(number) == body).then_some(number)
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A remark without its numbers, so that like ones count together.
fn shape(remark: &str) -> String {
    let mut shape = String::new();
    for character in remark.chars().take(300) {
        let character = if character.is_ascii_digit() { '#' } else { character };
        if character != '#' || !shape.ends_with('#') {
            shape.push(character);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_tells_its_number_as_long_as_no_bit_changes() {
        let ledger = Ledger::new(7);
        for _ in 0..40 {
            let (number, mut body) = ledger.begin("t");
            assert_eq!(ledger.recognise(&body), Some(number));
            let last = body.len() - 1;
            body[last] ^= 1;
            assert_eq!(ledger.recognise(&body), None);
            assert_eq!(ledger.recognise(&body[..last]), None);
        }
        assert_eq!(ledger.recognise(&ledger.body(40)), None, "never sent");
    }

    #[test]
    fn a_place_given_twice_and_a_refusal_without_reason_are_contradictions() {
        let ledger = Ledger::new(1);
        let at = |queue_offset| Sent::Acknowledged { queue_offset };
        let now = Instant::now();
        ledger.answered(0, "t", 0, now, &at(0));
        ledger.answered(1, "t", 1, now, &at(0));
        assert!(ledger.entries().contradictions.is_empty());
        ledger.answered(2, "t", 0, now, &at(0));
        ledger.answered(3, "t", 0, now, &Sent::Refused { code: 14, remark: String::new() });
        assert_eq!(ledger.entries().contradictions.len(), 2);
    }

    #[test]
    fn what_is_acknowledged_without_power_promises_nothing_but_is_noticed() {
        let ledger = Ledger::new(1);
        let (cut, at) = (Instant::now(), |queue_offset| Sent::Acknowledged { queue_offset });
        ledger.disbelieve();
        ledger.answered(0, "t", 0, cut, &at(0));
        ledger.require_no_send_acknowledged_after(cut).unwrap();
        ledger.answered(1, "t", 0, cut + Duration::from_millis(1), &at(1));
        ledger.require_no_send_acknowledged_after(cut).unwrap_err();
        assert_eq!(ledger.counts(), (0, 0));
        ledger.believe();
        ledger.answered(2, "t", 0, cut, &at(0));
        assert_eq!(ledger.counts(), (1, 0));
    }

    #[test]
    fn like_remarks_count_together() {
        assert_eq!(shape("file 00001 of 2 at 17"), "file # of # at #");
    }
}
