//! Connections that pull what queues hold, one pull of each queue at a time, and check every message.

use super::super::workload::{Tally, check_record, pattern};
use super::admin::number_field;
use super::link::Link;
use super::pull_frames::PullFrame;
use crate::remoting::{RemotingCommand, response_code};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use store_core::record_format;

/// Rest before a queue is asked again whose messages the broker has not dispatched yet.
const REST: Duration = Duration::from_millis(1);
/// Longest wait for messages that were sent.
const DEADLINE: Duration = Duration::from_secs(60);

/// What is pulled.
#[derive(Debug)]
pub(in super::super) struct PullPlan<'a> {
    pub(in super::super) address: SocketAddr,
    pub(in super::super) topic: &'a str,
    /// The queues are dealt out to them; more than queues bring nothing.
    pub(in super::super) connections: u32,
    /// Where each queue ends; pulled is from 0.
    pub(in super::super) ends: &'a [u64],
    /// Bytes of a message.
    pub(in super::super) size: u32,
    /// The other side answers always the same: offsets mean nothing.
    pub(in super::super) is_echo: bool,
}

/// What was pulled.
#[derive(Debug, Default)]
pub(in super::super) struct PullOutcome {
    pub(in super::super) tally: Tally,
    /// Answers with messages.
    pub(in super::super) pulls: u64,
    /// From the first pull to the last answer.
    pub(in super::super) took: Duration,
    /// From the first pull to the first message.
    pub(in super::super) first_took: Duration,
}

/// Pulls as planned.
///
/// # Errors
///
/// A connection fails, the broker refuses, or a message is not what was sent.
pub(in super::super) fn pull(plan: &PullPlan<'_>) -> Result<PullOutcome> {
    let connections = plan.connections.min(u32::try_from(plan.ends.len())?);
    let links: Vec<Link> = (0..connections).map(|_| Link::connect(plan.address)).collect::<Result<_>>()?;
    let began = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(links)
            .map(|(number, link)| {
                scope.spawn(move || Puller::new(plan, number, connections, link, began)?.run())
            })
            .collect();
        let mut outcome = PullOutcome { first_took: Duration::MAX, ..PullOutcome::default() };
        for thread in threads {
            let part = thread.join().map_err(|_| anyhow!("a thread that pulls panicked"))??;
            outcome.tally.add_all(&part.tally);
            outcome.pulls += part.pulls;
            outcome.took = outcome.took.max(part.took);
            outcome.first_took = outcome.first_took.min(part.first_took);
        }
        Ok(outcome)
    })
}

/// A queue and how far it is pulled.
struct Queue {
    frame: PullFrame,
    offset: u64,
    end: u64,
}

struct Puller<'a> {
    plan: &'a PullPlan<'a>,
    link: Link,
    began: Instant,
    /// By the number of their pulls.
    queues: Vec<Queue>,
    /// Body of a message, but for its number.
    expected: Vec<u8>,
    outcome: PullOutcome,
}

impl<'a> Puller<'a> {
    fn new(
        plan: &'a PullPlan<'a>,
        number: u32,
        connections: u32,
        link: Link,
        began: Instant,
    ) -> Result<Self> {
        let all = (0_u32..).zip(plan.ends).filter(|(queue, _)| queue % connections == number);
        let queues = (0..)
            .zip(all)
            .map(|(opaque, (queue, end))| {
                Ok(Queue { frame: PullFrame::new(plan.topic, queue, opaque, false)?, offset: 0, end: *end })
            })
            .collect::<Result<_>>()?;
        let expected = pattern(plan.size as usize);
        Ok(Self { plan, link, began, queues, expected, outcome: PullOutcome::default() })
    }

    fn run(mut self) -> Result<PullOutcome> {
        let mut out = Vec::new();
        for queue in self.queues.iter_mut().filter(|queue| queue.end > 0) {
            out.extend_from_slice(queue.frame.at(0));
        }
        let mut open = self.queues.iter().filter(|queue| queue.end > 0).count();
        while open > 0 {
            self.link.write(&out)?;
            out.clear();
            self.link.read()?;
            while let Some(answer) = self.link.received()? {
                let place = usize::try_from(answer.opaque)?;
                self.answer(&answer, place)?;
                let queue = &mut self.queues[place];
                if queue.offset < queue.end {
                    out.extend_from_slice(queue.frame.at(queue.offset));
                } else {
                    open -= 1;
                }
            }
        }
        self.outcome.took = self.began.elapsed();
        Ok(self.outcome)
    }

    fn answer(&mut self, answer: &RemotingCommand, place: usize) -> Result<()> {
        let queue = self.queues.get_mut(place).context("an answer that nobody waits for")?;
        match answer.code {
            response_code::SUCCESS => {}
            response_code::PULL_NOT_FOUND | response_code::PULL_RETRY_IMMEDIATELY => {
                ensure!(self.began.elapsed() < DEADLINE, "messages do not arrive: offset {}", queue.offset);
                std::thread::sleep(REST);
                return Ok(());
            }
            code => bail!("a pull was refused: {code}: {}", answer.remark.as_deref().unwrap_or_default()),
        }
        if self.outcome.pulls == 0 {
            self.outcome.first_took = self.began.elapsed();
        }
        self.outcome.pulls += 1;
        let from = if self.plan.is_echo { None } else { Some(queue.offset) };
        let mut count = 0;
        for_each_record(&answer.body.to_bytes(), &self.expected, from, |number| {
            count += 1;
            self.outcome.tally.add(number);
        })?;
        queue.offset += count;
        if !self.plan.is_echo {
            let next = number_field(answer, "nextBeginOffset")?;
            ensure!(next == queue.offset, "nextBeginOffset: expected {}, found {next}", queue.offset);
        }
        Ok(())
    }
}

/// Tells the number of each message of an answer, in order. `from` is the queue offset the first one has to have.
///
/// # Errors
///
/// What is wrong with a message.
pub(in super::super) fn for_each_record(
    body: &[u8],
    expected: &[u8],
    from: Option<u64>,
    mut found: impl FnMut(u64),
) -> Result<()> {
    let mut rest = body;
    let mut offset = from;
    while !rest.is_empty() {
        let record_format::Decoded::Record(view) = record_format::decode(rest, false)? else {
            bail!("expected a record, found the unused rest of a file");
        };
        if let Some(offset) = &mut offset {
            ensure!(
                u64::try_from(view.queue_offset) == Ok(*offset),
                "offset {offset}: found {}",
                view.queue_offset
            );
            *offset += 1;
        }
        let (record, others) = rest.split_at(view.total_size as usize);
        found(check_record(record, expected)?);
        rest = others;
    }
    Ok(())
}
