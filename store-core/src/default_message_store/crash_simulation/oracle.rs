//! What was put and promised, and when, counted in operations of the disk.

use super::found::{Found, FoundQueue, QueueName};
use super::stepped_store::SteppedStore;
use crate::config::FlushDiskType;
use crate::put_result::PutMessageStatus;
use crate::put_ticket::PutTicket;
use std::collections::{BTreeMap, BTreeSet};

/// How the store came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// What was promised is there, perhaps more.
    PowerCut,
    /// So is everything that could be read: all that was put, but for what stood in a write buffer alone.
    Kill,
    /// Everything is there.
    Stop,
}

/// Messages in the order of their puts, queue by queue. `now` is always the number of operations done so far; the state
/// before operation `at` has all that happened at a `now` below `at`.
#[derive(Default)]
pub(super) struct Oracle {
    queues: BTreeMap<QueueName, Vec<Generation>>,
    waiting: Vec<Waiting>,
    /// Beginnings of the log, and since when they may be.
    log_mins: Vec<(u64, u64)>,
    /// A sync has failed: whatever is acknowledged from then on is a lie.
    refused: bool,
    acknowledged: usize,
}

/// A queue from one deletion of its topic to the next.
#[derive(Debug, Default, Clone)]
struct Generation {
    puts: Vec<Put>,
    /// When its deletion began and was done.
    deleted: Option<(u64, u64)>,
}

#[derive(Debug, Clone)]
struct Put {
    id: u64,
    phy_offset: u64,
    end_offset: u64,
    begun: u64,
    done: u64,
    /// Since when it can be read.
    committed: Option<u64>,
    /// Since when it must not be lost.
    promised: Option<u64>,
}

struct Waiting {
    ticket: PutTicket,
    queue: QueueName,
    ids: BTreeSet<u64>,
}

impl Oracle {
    /// Notes a put that the store has taken; one that it has refused never gets a place.
    pub(super) fn note_put(
        &mut self,
        queue: QueueName,
        ids: &[u64],
        ticket: PutTicket,
        (begun, done): (u64, u64),
    ) {
        let Some(appended) = ticket.provisional().and_then(|result| result.appended.clone()) else { return };
        let generations = self.queues.entry(queue.clone()).or_default();
        if generations.is_empty() {
            generations.push(Generation::default());
        }
        let Some(last) = generations.last_mut() else { return };
        let next = last.puts.len() as u64;
        assert_eq!(appended.logics_offset, next, "{queue:?}: an offset was skipped or given twice");
        let end_offset = appended.wrote_offset + appended.wrote_bytes;
        for id in ids {
            let phy_offset = appended.wrote_offset;
            let (committed, promised) = (None, None);
            last.puts.push(Put { id: *id, phy_offset, end_offset, begun, done, committed, promised });
        }
        self.waiting.push(Waiting { ticket, queue, ids: ids.iter().copied().collect() });
    }

    /// Notes a deletion that took from `begun` to `done`.
    pub(super) fn note_deletion(&mut self, topic: &str, begun: u64, done: u64) {
        for (_, generations) in self.queues.iter_mut().filter(|(name, _)| name.0 == topic) {
            if let Some(last) = generations.last_mut() {
                last.deleted = Some((begun, done));
                generations.push(Generation::default());
            }
        }
    }

    /// Notes where the log begins since something that began at `begun`.
    pub(super) fn note_log_min(&mut self, begun: u64, log_min: u64) {
        if self.log_mins.last().is_none_or(|(_, before)| *before < log_min) {
            self.log_mins.push((begun, log_min));
        }
    }

    /// Takes the answers that have come and looks at what the store says can be read and is durable. With SYNC_FLUSH
    /// nothing else may be seen by a reader.
    pub(super) fn look(&mut self, store: &SteppedStore, flush: FlushDiskType, now: u64) {
        let mut acknowledged = BTreeSet::new();
        for Waiting { ticket, queue, ids } in std::mem::take(&mut self.waiting) {
            if !ticket.is_done() {
                self.waiting.push(Waiting { ticket, queue, ids });
                continue;
            }
            match ticket.wait().status {
                PutMessageStatus::PutOk if flush == FlushDiskType::SyncFlush => {
                    assert!(!self.refused, "acknowledged after a failed sync");
                    self.acknowledged += ids.len();
                    acknowledged.extend(ids);
                }
                PutMessageStatus::PutOk => self.acknowledged += ids.len(),
                PutMessageStatus::ServiceNotAvailable => self.refused = true,
                _ => {}
            }
        }
        let log = &store.shared().log;
        let (readable, durable) = (log.max_offset(), log.flushed_where());
        for ((topic, queue_id), generations) in &mut self.queues {
            let Some(last) = generations.last_mut() else { continue };
            for put in last.puts.iter_mut().filter(|put| put.promised.is_none()) {
                if put.end_offset <= readable {
                    put.committed.get_or_insert(now);
                }
                if put.end_offset <= durable || acknowledged.contains(&put.id) {
                    put.promised = Some(now);
                }
            }
            if flush == FlushDiskType::SyncFlush {
                let seen = store.shared().queues.get(topic, *queue_id);
                let seen = seen.map_or(0, |handle| handle.queue.max_offset()) as usize;
                let lies = last.puts.iter().take(seen).any(|put| put.promised.is_none());
                assert!(!lies, "{topic} {queue_id}: a reader sees what is not durable");
            }
        }
    }

    pub(super) fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// The process is gone: answers that are still to come reach nobody. Returns what is known up to here, for the states
    /// before the restart.
    pub(super) fn close(&mut self) -> Self {
        self.waiting.clear();
        Self {
            queues: self.queues.clone(),
            waiting: Vec::new(),
            log_mins: self.log_mins.clone(),
            refused: self.refused,
            acknowledged: self.acknowledged,
        }
    }

    /// Compares what a store holds with what it must and may hold when the end came before operation `at`.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub(super) fn judge(&self, found: &Found, at: u64, end: End) -> Result<(), String> {
        for (name, generations) in &self.queues {
            let nothing = FoundQueue::default();
            let queue = found.queues.get(name).unwrap_or(&nothing);
            let mut reasons = String::new();
            let fits = possible(generations, at).any(|generation| {
                let fit = self.judge_queue(&generations[generation], queue, at, end);
                if let Err(reason) = &fit {
                    reasons.push_str(reason);
                }
                fit.is_ok()
            });
            if !fits && !generations.is_empty() {
                return Err(format!(
                    "{name:?} at operation {at}: {reasons}found {queue:?} of {generations:?}"
                ));
            }
        }
        match found.queues.keys().find(|name| !self.queues.contains_key(name)) {
            Some(name) => Err(format!("{name:?} was never put to")),
            None => Ok(()),
        }
    }

    fn judge_queue(
        &self,
        generation: &Generation,
        queue: &FoundQueue,
        at: u64,
        end: End,
    ) -> Result<(), String> {
        let puts = &generation.puts;
        let must_be_there = |put: &Put| match end {
            End::PowerCut => put.promised.is_some_and(|promised| promised < at),
            End::Kill => put.committed.is_some_and(|committed| committed < at),
            End::Stop => put.done < at,
        };
        let needed = puts.iter().rposition(must_be_there).map_or(0, |last| last as u64 + 1);
        if queue.max < needed {
            return Err(format!("ends at {} and not behind {needed}; ", queue.max));
        }
        let log_min =
            self.log_mins.iter().filter(|(begun, _)| *begun < at).map(|(_, min)| *min).max().unwrap_or(0);
        for put in puts.iter().take(queue.min.min(needed) as usize) {
            if put.phy_offset >= log_min {
                return Err(format!("begins at {}, message {} is not expired; ", queue.min, put.id));
            }
        }
        for (message, offset) in queue.messages.iter().zip(queue.min..) {
            let put = puts.get(offset as usize).filter(|put| put.begun < at);
            match put {
                Some(put) if put.id != message.id => {
                    return Err(format!("holds {} at {offset} and not {}; ", message.id, put.id));
                }
                Some(put) if must_be_there(put) && !message.whole => {
                    return Err(format!("message {} at {offset} has torn properties; ", put.id));
                }
                Some(_) => {}
                None => return Err(format!("holds {} at {offset}, where nothing was put; ", message.id)),
            }
        }
        Ok(())
    }

    /// Goes on after a restart that was judged: what was found is there to stay, everything else never was.
    pub(super) fn go_on_from(&mut self, found: &Found, end: End, now: u64) {
        // The next process knows nothing of the failure.
        self.refused = false;
        let verdicts: BTreeMap<QueueName, usize> = self
            .queues
            .iter()
            .filter_map(|(name, generations)| {
                let nothing = FoundQueue::default();
                let queue = found.queues.get(name).unwrap_or(&nothing);
                let fits =
                    |index: &usize| self.judge_queue(&generations[*index], queue, now + 1, end).is_ok();
                let fitting: Vec<usize> = possible(generations, now + 1).filter(fits).collect();
                Some((name.clone(), fitting.last().copied()?))
            })
            .collect();
        for (name, generations) in &mut self.queues {
            let Some(current) = verdicts.get(name) else { continue };
            generations.truncate(current + 1);
            let max = found.queues.get(name).map_or(0, |queue| queue.max);
            let generation = &mut generations[*current];
            generation.deleted = None;
            generation.puts.truncate(max as usize);
            for put in &mut generation.puts {
                put.committed.get_or_insert(now);
                put.promised.get_or_insert(now);
            }
        }
    }
}

/// Generations that a queue may be in before operation `at`.
fn possible(generations: &[Generation], at: u64) -> impl DoubleEndedIterator<Item = usize> {
    (0..generations.len()).filter(move |index| {
        let begun = *index == 0 || generations[index - 1].deleted.is_some_and(|(begun, _)| begun < at);
        let over = generations[*index].deleted.is_some_and(|(_, done)| done < at);
        begun && !over
    })
}
