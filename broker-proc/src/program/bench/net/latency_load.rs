//! Messages sent at a given rate, and a consumer that waits for them.

use super::super::histogram::Latencies;
use super::super::workload::{Tally, message_number, pattern};
use super::admin::number_field;
use super::link::Link;
use super::pull_frames::PullFrame;
use super::pull_load::for_each_record;
use super::send_frames::SendFrames;
use super::send_load::SendOutcome;
use crate::remoting::response_code;
use anyhow::{Context as _, Result, bail};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A wait that is longer sleeps first; the system wakes a sleeper some 60 us late.
const WORTH_SLEEPING: Duration = Duration::from_micros(100);
/// Time from the plan's begin to its first message: everybody waits by then.
const LEAD: Duration = Duration::from_millis(20);

/// What is sent when.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct RatePlan<'a> {
    pub(in super::super) frames: &'a SendFrames,
    pub(in super::super) queues: u32,
    pub(in super::super) count: u64,
    /// The first ones, whose latencies do not count: files and tables are made with them.
    pub(in super::super) warm_up: u64,
    /// Time from one message to the next.
    pub(in super::super) interval: Duration,
}

impl RatePlan<'_> {
    fn due(&self, index: u64) -> Duration {
        LEAD + Duration::from_nanos((self.interval.as_nanos() as u64).saturating_mul(index))
    }

    fn record(&self, latencies: &mut Latencies, began: Instant, index: u64) {
        if index >= self.warm_up {
            latencies.record(began.elapsed().saturating_sub(self.due(index)));
        }
    }

    /// Writes every message when it is due, whatever the answers do.
    fn send(&self, mut stream: TcpStream, began: Instant) -> Result<()> {
        let mut frames = self.frames.clone();
        let mut out = Vec::new();
        for index in 0..self.count {
            wait_until(began + self.due(index));
            let queue = index % u64::from(self.queues);
            frames.append(&mut out, u32::try_from(index)?, message_number(0, index), queue as u32);
            stream.write_all(&out).context("cannot send to the broker")?;
            out.clear();
        }
        Ok(())
    }
}

fn wait_until(due: Instant) {
    let rest = due.saturating_duration_since(Instant::now());
    if rest > WORTH_SLEEPING {
        std::thread::sleep(rest - WORTH_SLEEPING);
    }
    while Instant::now() < due {
        std::hint::spin_loop();
    }
}

/// What became of it.
#[derive(Debug)]
pub(in super::super) struct RateOutcome {
    /// Answers to the sends. Their latencies are from the planned time as well.
    pub(in super::super) sent: SendOutcome,
    /// What the consumer got.
    pub(in super::super) consumed: Tally,
    /// From the planned time of a message to the consumer.
    pub(in super::super) latencies: Latencies,
}

/// Sends as planned over one connection and consumes over another.
///
/// # Errors
///
/// A connection fails, or a message is not what was sent.
pub(in super::super) fn send_and_consume(
    plan: &RatePlan<'_>,
    address: SocketAddr,
    topic: &str,
    size: u32,
) -> Result<RateOutcome> {
    let mut answers = Link::connect(address)?;
    let stream = answers.other_end()?;
    let mut consumer = Consumer::new(Link::connect(address)?, topic, plan.queues, size)?;
    let expected = AtomicU64::new(plan.count);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let consuming = scope.spawn(|| consumer.run(plan, &expected, began));
        let sending = scope.spawn(|| plan.send(stream, began));
        let mut sent = SendOutcome::new(plan.queues);
        for _ in 0..plan.count {
            let answer = answers.receive()?;
            let index = u64::try_from(answer.opaque)?;
            plan.record(&mut sent.latencies, began, index);
            sent.answer(&answer, message_number(0, index), 1)?;
            expected.store(plan.count - sent.refused, Ordering::Release);
        }
        sending.join().map_err(|_| anyhow::anyhow!("the thread that sends panicked"))??;
        let (consumed, latencies) =
            consuming.join().map_err(|_| anyhow::anyhow!("the thread that consumes panicked"))??;
        sent.took = began.elapsed();
        Ok(RateOutcome { sent, consumed, latencies })
    })
}

/// The same sends to an echo server: from the planned time to the answer.
///
/// # Errors
///
/// The connection fails.
pub(in super::super) fn echoed(plan: &RatePlan<'_>, address: SocketAddr) -> Result<Latencies> {
    let mut answers = Link::connect(address)?;
    let stream = answers.other_end()?;
    let began = Instant::now();
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| plan.send(stream, began));
        let mut latencies = Latencies::new();
        for _ in 0..plan.count {
            let index = u64::try_from(answers.receive()?.opaque)?;
            plan.record(&mut latencies, began, index);
        }
        sending.join().map_err(|_| anyhow::anyhow!("the thread that sends panicked"))??;
        Ok(latencies)
    })
}

/// One pull of each queue, which the broker may hold, over one connection.
struct Consumer {
    link: Link,
    frames: Vec<PullFrame>,
    offsets: Vec<u64>,
    expected: Vec<u8>,
}

impl Consumer {
    /// Its pulls are under way when this returns.
    fn new(mut link: Link, topic: &str, queues: u32, size: u32) -> Result<Self> {
        let mut frames = Vec::new();
        for queue in 0..queues {
            let mut frame = PullFrame::new(topic, queue, queue, true)?;
            link.write(frame.at(0))?;
            frames.push(frame);
        }
        Ok(Self { link, frames, offsets: vec![0; queues as usize], expected: pattern(size as usize) })
    }

    fn run(&mut self, plan: &RatePlan<'_>, count: &AtomicU64, began: Instant) -> Result<(Tally, Latencies)> {
        let (mut tally, mut latencies) = (Tally::default(), Latencies::new());
        while tally.count < count.load(Ordering::Acquire) {
            let answer = self.link.receive()?;
            let place = usize::try_from(answer.opaque)?;
            let offset = self.offsets.get_mut(place).context("an answer that nobody waits for")?;
            match answer.code {
                response_code::SUCCESS => {
                    for_each_record(&answer.body.to_bytes(), &self.expected, Some(*offset), |number| {
                        tally.add(number);
                        plan.record(&mut latencies, began, number);
                    })?;
                    *offset = number_field(&answer, "nextBeginOffset")?;
                }
                response_code::PULL_NOT_FOUND | response_code::PULL_RETRY_IMMEDIATELY => {}
                code => {
                    bail!("a pull was refused: {code}: {}", answer.remark.as_deref().unwrap_or_default())
                }
            }
            let offset = *offset;
            self.link.write(self.frames[place].at(offset))?;
        }
        Ok((tally, latencies))
    }
}
