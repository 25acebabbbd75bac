//! Connections that send messages, each with a window of requests that wait for their answers.

use super::super::histogram::Latencies;
use super::super::options::Bound;
use super::super::workload::{Tally, message_number};
use super::admin::number_field;
use super::link::Link;
use super::send_frames::SendFrames;
use crate::remoting::{RemotingCommand, response_code};
use anyhow::{Context as _, Result, anyhow};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Most bytes of one write, so that answers are read before the broker has too many of them to send.
const WRITE_BYTES: usize = 64 << 10;

/// What is sent.
#[derive(Debug)]
pub(in super::super) struct SendPlan<'a> {
    pub(in super::super) address: SocketAddr,
    pub(in super::super) frames: &'a SendFrames,
    pub(in super::super) connections: u32,
    /// Requests of one connection that may wait for their answers.
    pub(in super::super) window: u32,
    /// Messages of one request.
    pub(in super::super) batch: u32,
    pub(in super::super) queues: u32,
    /// A count is rounded up to whole batches of all connections.
    pub(in super::super) bound: Bound,
}

/// What became of it.
#[derive(Debug)]
pub(in super::super) struct SendOutcome {
    /// Messages that the broker took.
    pub(in super::super) tally: Tally,
    /// The offsets that the broker told, by queue.
    pub(in super::super) offsets: Vec<OffsetTally>,
    /// Messages that it refused; they are not sent again.
    pub(in super::super) refused: u64,
    /// What it said of the first of them.
    pub(in super::super) refusal: Option<String>,
    /// From the begin of the first request to the last answer.
    pub(in super::super) took: Duration,
    /// From each request to its answer.
    pub(in super::super) latencies: Latencies,
}

/// How many offsets, and their sum: enough to see that each of 0 to n occurred once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct OffsetTally {
    count: u64,
    sum: u64,
}

impl OffsetTally {
    fn add(&mut self, first: u64, count: u64) {
        self.count += count;
        let rest = count.saturating_mul(count.saturating_sub(1)) / 2;
        self.sum = self.sum.wrapping_add(first.wrapping_mul(count)).wrapping_add(rest);
    }

    /// That of a queue whose next offset is `end`, when nobody else sends there.
    pub(in super::super) fn up_to(end: u64) -> Self {
        let mut tally = Self::default();
        tally.add(0, end);
        tally
    }
}

impl SendOutcome {
    /// Nothing yet.
    pub(in super::super) fn new(queues: u32) -> Self {
        Self {
            tally: Tally::default(),
            offsets: vec![OffsetTally::default(); queues as usize],
            refused: 0,
            refusal: None,
            took: Duration::ZERO,
            latencies: Latencies::new(),
        }
    }

    /// Takes the answer to a request of `count` messages from `number` on.
    ///
    /// # Errors
    ///
    /// An answer without the place of the message.
    pub(in super::super) fn answer(
        &mut self,
        answer: &RemotingCommand,
        number: u64,
        count: u64,
    ) -> Result<()> {
        if answer.code != response_code::SUCCESS {
            self.refused += count;
            self.refusal.get_or_insert_with(|| {
                format!("{}: {}", answer.code, answer.remark.as_deref().unwrap_or_default())
            });
            return Ok(());
        }
        (number..number + count).for_each(|number| self.tally.add(number));
        let queue = number_field(answer, "queueId")?;
        let first = number_field(answer, "queueOffset")?;
        let queue = usize::try_from(queue).ok().and_then(|queue| self.offsets.get_mut(queue));
        queue.context("an answer names a queue that the topic does not have")?.add(first, count);
        Ok(())
    }

    fn add(&mut self, other: Self) {
        self.tally.add_all(&other.tally);
        for (sum, part) in self.offsets.iter_mut().zip(&other.offsets) {
            sum.count += part.count;
            sum.sum = sum.sum.wrapping_add(part.sum);
        }
        self.refused += other.refused;
        self.refusal = self.refusal.take().or(other.refusal);
        self.took = self.took.max(other.took);
        self.latencies.add(&other.latencies);
    }
}

/// Sends as planned; ends when all is answered.
///
/// # Errors
///
/// A connection fails. Refusals are none.
pub(in super::super) fn send(plan: &SendPlan<'_>) -> Result<SendOutcome> {
    let links: Vec<Link> =
        (0..plan.connections).map(|_| Link::connect(plan.address)).collect::<Result<_>>()?;
    let began = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(links)
            .map(|(number, link)| scope.spawn(move || Sender::new(plan, number, link, began).run()))
            .collect();
        let mut outcome = SendOutcome::new(plan.queues);
        for thread in threads {
            outcome.add(thread.join().map_err(|_| anyhow!("a thread that sends panicked"))??);
        }
        Ok(outcome)
    })
}

/// A request that waits for its answer. Its place in the list is its number on the connection.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    begins: Instant,
    number: u64,
}

struct Sender<'a> {
    plan: &'a SendPlan<'a>,
    number: u32,
    link: Link,
    frames: SendFrames,
    began: Instant,
    waiting: Vec<Waiting>,
    free: Vec<u32>,
    requests: u64,
    outcome: SendOutcome,
}

impl<'a> Sender<'a> {
    fn new(plan: &'a SendPlan<'a>, number: u32, link: Link, began: Instant) -> Self {
        Self {
            plan,
            number,
            link,
            frames: plan.frames.clone(),
            began,
            waiting: vec![Waiting { begins: began, number: 0 }; plan.window as usize],
            free: (0..plan.window).collect(),
            requests: 0,
            outcome: SendOutcome::new(plan.queues),
        }
    }

    fn run(mut self) -> Result<SendOutcome> {
        let mut out = Vec::new();
        loop {
            while out.len() < WRITE_BYTES && self.append(&mut out) {}
            if !out.is_empty() {
                self.link.write(&out)?;
                out.clear();
            }
            if self.free.len() == self.waiting.len() {
                self.outcome.took = self.began.elapsed();
                return Ok(self.outcome);
            }
            self.link.read()?;
            while let Some(answer) = self.link.received()? {
                self.answer(&answer)?;
            }
        }
    }

    /// Appends the next request; false when there is none, or no room for it in the window.
    fn append(&mut self, out: &mut Vec<u8>) -> bool {
        let begins = Instant::now();
        let more = match self.plan.bound {
            Bound::Time(time) => begins.duration_since(self.began) < time,
            Bound::Count(count) => {
                let (batch, connections) = (u64::from(self.plan.batch), u64::from(self.plan.connections));
                let requests = count.div_ceil(batch);
                let share =
                    requests / connections + u64::from(u64::from(self.number) < requests % connections);
                self.requests < share
            }
        };
        if !more {
            return false;
        }
        let Some(place) = self.free.pop() else { return false };
        let number = message_number(self.number, self.requests * u64::from(self.plan.batch));
        let queue = (self.requests + u64::from(self.number)) % u64::from(self.plan.queues);
        self.waiting[place as usize] = Waiting { begins, number };
        self.frames.append(out, place, number, queue as u32);
        self.requests += 1;
        true
    }

    fn answer(&mut self, answer: &RemotingCommand) -> Result<()> {
        let place = u32::try_from(answer.opaque).ok().filter(|place| *place < self.plan.window);
        let place = place.context("an answer that nobody waits for")?;
        let Waiting { begins, number } = self.waiting[place as usize];
        self.outcome.latencies.record(begins.elapsed());
        self.outcome.answer(answer, number, u64::from(self.plan.batch))?;
        self.free.push(place);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_occur_twice_or_never_are_seen() {
        let mut offsets = OffsetTally::default();
        offsets.add(2, 2);
        offsets.add(0, 1);
        offsets.add(1, 1);
        assert_eq!(offsets, OffsetTally::up_to(4));
        let mut twice = OffsetTally::default();
        twice.add(0, 3);
        twice.add(0, 1);
        assert_ne!(twice, OffsetTally::up_to(4));
    }
}
