//! Whether a broker has what the ledger says it acknowledged.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::client::{Client, QUEUES};
use super::ledger::{Entries, Ledger, Place};

/// How long a message that is in the log may take to its queue.
const DISPATCH: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// What must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Everything acknowledged.
    All,
    /// What is there must be right; a store that cannot write its queues may be behind.
    WhatIsDispatched,
}

/// Reads every queue from its beginning to its end and compares.
///
/// Right is: offsets follow each other without a hole, every body is one that was sent, no message is there twice, every
/// acknowledged message is at the place it was acknowledged for, no refused message is there.
///
/// # Errors
/// What is wrong.
pub fn verify(address: &str, ledger: &Ledger, expected: Expected) -> Result<String> {
    let entries = ledger.entries();
    ensure!(entries.contradictions.is_empty(), "{}", entries.contradictions.join("\n"));
    let mut client = Client::connect(address)?;
    let mut found = BTreeMap::new();
    for topic in &entries.topics {
        for queue in 0..QUEUES {
            read_queue(&mut client, ledger, &entries, (topic, queue), expected, &mut found)?;
        }
    }
    compare(&entries, &found, expected)?;
    let more = found.len().saturating_sub(entries.acknowledged.len());
    Ok(format!("{} acknowledged, {more} more stored", entries.acknowledged.len()))
}

fn read_queue(
    client: &mut Client,
    ledger: &Ledger,
    entries: &Entries,
    (topic, queue): (&str, i64),
    expected: Expected,
    found: &mut BTreeMap<u64, Place>,
) -> Result<()> {
    let place = |offset| Place { topic: topic.to_owned(), queue, offset };
    let last = entries.acknowledged.range(place(0)..=place(i64::MAX)).next_back();
    let (first, end) = match last {
        Some((last, _)) if expected == Expected::All => wait_for_end(client, topic, queue, last.offset + 1)?,
        Some(_) => client.offsets(topic, queue)?,
        // The topic may never have been made.
        None => client.offsets(topic, queue).unwrap_or((0, 0)),
    };
    ensure!(first == 0, "{topic} queue {queue} begins at {first}, expected 0");
    let mut next = 0;
    while next < end {
        let records = client.pull(topic, queue, next)?;
        ensure!(!records.is_empty(), "{topic} queue {queue}: nothing at offset {next}, the end is {end}");
        for record in records {
            ensure!(
                (record.queue_id, record.queue_offset) == (queue, next),
                "{topic}: expected queue {queue} offset {next}, found {} {}",
                record.queue_id,
                record.queue_offset
            );
            let number = ledger
                .recognise(&record.body)
                .with_context(|| format!("{:?}: a body that was never sent", place(next)))?;
            if let Some(other) = found.insert(number, place(next)) {
                ensure!(false, "message {number} is at {other:?} and at {:?}", place(next));
            }
            next += 1;
        }
    }
    Ok(())
}

/// Waits until a queue reaches to `expected`; its beginning and end.
fn wait_for_end(client: &mut Client, topic: &str, queue: i64, expected: i64) -> Result<(i64, i64)> {
    let started = Instant::now();
    loop {
        let (first, end) = client.offsets(topic, queue)?;
        if end >= expected {
            return Ok((first, end));
        }
        ensure!(
            started.elapsed() < DISPATCH,
            "{topic} queue {queue} ends at {end}, acknowledged up to {expected}: acknowledged messages are lost"
        );
        thread::sleep(POLL);
    }
}

fn compare(entries: &Entries, found: &BTreeMap<u64, Place>, expected: Expected) -> Result<()> {
    let mut lost = Vec::new();
    for (place, number) in &entries.acknowledged {
        match found.get(number) {
            Some(here) => {
                ensure!(here == place, "message {number}: acknowledged for {place:?}, found at {here:?}");
            }
            None => lost.push(number),
        }
    }
    ensure!(
        lost.is_empty() || expected == Expected::WhatIsDispatched,
        "{} of {} acknowledged messages are lost, the first is {}",
        lost.len(),
        entries.acknowledged.len(),
        lost[0]
    );
    for (number, place) in found {
        ensure!(!entries.refused.contains(number), "message {number} was refused, but is at {place:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integ::client::Sent;

    fn place(offset: i64) -> Place {
        Place { topic: "t".to_owned(), queue: 0, offset }
    }

    /// Messages 0 and 1 acknowledged, 2 refused.
    fn entries() -> Entries {
        let ledger = Ledger::new(1);
        let now = Instant::now();
        for offset in 0..2 {
            ledger.answered(offset as u64, "t", 0, now, &Sent::Acknowledged { queue_offset: offset });
        }
        ledger.answered(2, "t", 0, now, &Sent::Refused { code: 14, remark: "full".to_owned() });
        ledger.entries()
    }

    #[test]
    fn a_lost_a_moved_and_a_refused_message_are_found() {
        let right = BTreeMap::from([(0, place(0)), (1, place(1)), (9, place(2))]);
        compare(&entries(), &right, Expected::All).unwrap();

        let lost = BTreeMap::from([(0, place(0))]);
        assert!(compare(&entries(), &lost, Expected::All).unwrap_err().to_string().contains("1 of 2"));
        compare(&entries(), &lost, Expected::WhatIsDispatched).unwrap();

        let moved = BTreeMap::from([(0, place(1)), (1, place(0))]);
        compare(&entries(), &moved, Expected::WhatIsDispatched).unwrap_err();

        let refused = BTreeMap::from([(0, place(0)), (1, place(1)), (2, place(2))]);
        compare(&entries(), &refused, Expected::All).unwrap_err();
    }
}
