//! Threads that put messages into a store, closed loop or at a given rate.

use super::histogram::Latencies;
use super::options::{Bound, Flush, LoadOptions, PlaceOptions};
use super::workload::{MessageSource, TOPIC, Tally, message_number};
use crate::program::progress::Progress;
use anyhow::{Result, anyhow, ensure};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use store_core::config::{FlushDiskType, MessageStoreConfig};
use store_core::{DefaultMessageStore, Env, MessageStore, PutMessageStatus, PutTicket};

/// Time between two looks at how far the threads are.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The dispatcher has this long for what it was behind when the last message was put.
const DISPATCH_DEADLINE: Duration = Duration::from_secs(600);
/// A thread that has this long to wait for the next message of its plan sleeps meanwhile.
const WORTH_SLEEPING: Duration = Duration::from_micros(200);

/// What is put.
#[derive(Debug, Clone, Copy)]
pub(super) struct PutPlan {
    pub(super) size: u32,
    pub(super) threads: u32,
    /// Puts of one thread that may wait for their answers.
    pub(super) window: u32,
    pub(super) queues: u32,
    pub(super) bound: Bound,
    /// Messages per second of all threads together; `None`: as many as go.
    pub(super) rate: Option<f64>,
}

/// What became of it.
#[derive(Debug)]
pub(super) struct PutOutcome {
    /// Messages of each thread.
    pub(super) counts: Vec<u64>,
    /// Until the last answer.
    pub(super) put_took: Duration,
    /// Until the last message could be got.
    pub(super) dispatched_took: Duration,
    /// Closed loop: from each put to its answer. With a rate: from when the plan had the put.
    pub(super) latencies: Latencies,
    /// Times the store said it was busy.
    pub(super) busy: u64,
    /// Bytes of all records.
    pub(super) appended: u64,
}

impl PutPlan {
    /// As asked on the command line, without a rate.
    ///
    /// # Errors
    ///
    /// `--seconds` is no time.
    pub(super) fn of(load: &LoadOptions) -> Result<Self> {
        Ok(Self {
            size: load.size,
            threads: load.threads,
            window: load.window,
            queues: load.queues,
            bound: load.bound()?,
            rate: None,
        })
    }
}

impl PutOutcome {
    /// Messages of all threads.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What has to be found in the store.
    pub(super) fn tally(&self) -> Tally {
        Tally::of_threads(&self.counts)
    }
}

/// Apache's defaults, but for what the options say.
pub(super) fn store_config(root: &Path, flush: Flush, place: &PlaceOptions) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = place.log_file_size;
    config.flush.flush_disk_type = match flush {
        Flush::Async => FlushDiskType::AsyncFlush,
        Flush::Sync => FlushDiskType::SyncFlush,
    };
    config
}

/// Puts as planned into a store that holds no message of the topic yet, and waits until all can be got.
///
/// # Errors
///
/// A message was not stored as durably as configured, or the dispatcher does not get through.
pub(super) fn put(env: &Env, store: &DefaultMessageStore, plan: &PutPlan) -> Result<PutOutcome> {
    let total = match plan.bound {
        Bound::Count(count) => Some(count),
        Bound::Time(_) => None,
    };
    let mut progress = Progress::new(total, "messages");
    let done = AtomicU64::new(0);
    let log_began = store.log_positions().end;
    let began = Instant::now();
    let threads = std::thread::scope(|scope| {
        let done = &done;
        let threads: Vec<_> = (0..plan.threads)
            .map(|number| scope.spawn(move || Putter::new(env, store, plan, number, began, done).run()))
            .collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            // A short run is not to be prolonged by the look at it.
            let rest = Duration::from_millis(1).max(began.elapsed() / 16).min(LOOK_EVERY);
            std::thread::sleep(rest);
            progress.add(done.load(Ordering::Relaxed).saturating_sub(progress.count()));
        }
        let mut ended = Vec::with_capacity(threads.len());
        for thread in threads {
            ended.push(thread.join().map_err(|_| anyhow!("a thread that puts panicked"))??);
        }
        Ok::<_, anyhow::Error>(ended)
    })?;
    let put_took = threads.iter().map(|thread| thread.ended).max().unwrap_or_default();
    let counts: Vec<u64> = threads.iter().map(|thread| thread.answered).collect();
    wait_for_dispatch(store, plan.queues, counts.iter().sum())?;
    let dispatched_took = began.elapsed();
    progress.add(counts.iter().sum::<u64>().saturating_sub(progress.count()));
    progress.finish("put");
    let mut latencies = Latencies::new();
    threads.iter().for_each(|thread| latencies.add(&thread.latencies));
    Ok(PutOutcome {
        counts,
        put_took,
        dispatched_took,
        latencies,
        busy: threads.iter().map(|thread| thread.busy).sum(),
        appended: store.log_positions().end - log_began,
    })
}

fn wait_for_dispatch(store: &DefaultMessageStore, queues: u32, count: u64) -> Result<()> {
    let began = Instant::now();
    loop {
        let queues = (0..queues).filter_map(|queue| i32::try_from(queue).ok());
        let found: u64 = queues.map(|queue| store.offsets(TOPIC, queue).max).sum();
        if found >= count {
            return Ok(());
        }
        ensure!(
            began.elapsed() < DISPATCH_DEADLINE,
            "{found} of {count} messages can be got after {} s",
            DISPATCH_DEADLINE.as_secs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One thread.
struct Putter<'a> {
    env: &'a Env,
    store: &'a DefaultMessageStore,
    plan: &'a PutPlan,
    number: u32,
    began: Instant,
    /// Messages of all threads.
    done: &'a AtomicU64,
    latencies: Latencies,
    /// Puts whose answers are awaited, with the time their latencies begin.
    waiting: VecDeque<(Duration, PutTicket)>,
    sent: u64,
    answered: u64,
    busy: u64,
    /// When the last answer came, from the beginning.
    ended: Duration,
}

impl<'a> Putter<'a> {
    fn new(
        env: &'a Env,
        store: &'a DefaultMessageStore,
        plan: &'a PutPlan,
        number: u32,
        began: Instant,
        done: &'a AtomicU64,
    ) -> Self {
        Self {
            env,
            store,
            plan,
            number,
            began,
            done,
            latencies: Latencies::new(),
            waiting: VecDeque::with_capacity(plan.window as usize),
            sent: 0,
            answered: 0,
            busy: 0,
            ended: Duration::ZERO,
        }
    }

    /// Messages of this thread, when they are counted.
    fn quota(&self) -> u64 {
        let (threads, number) = (u64::from(self.plan.threads), u64::from(self.number));
        match self.plan.bound {
            Bound::Count(count) => count / threads + u64::from(number < count % threads),
            Bound::Time(_) => u64::MAX,
        }
    }

    /// When the plan has the next message of this thread; `None` in a closed loop.
    fn intended(&self) -> Option<Duration> {
        let rate = self.plan.rate?;
        let place = self.sent as f64 * f64::from(self.plan.threads) + f64::from(self.number);
        Some(Duration::from_secs_f64(place / rate))
    }

    fn run(mut self) -> Result<Self> {
        let quota = self.quota();
        let time = match self.plan.bound {
            Bound::Time(time) => time,
            Bound::Count(_) => Duration::MAX,
        };
        let mut source = MessageSource::new(self.plan.size);
        let mut now = self.began.elapsed();
        while self.sent < quota {
            let begins = self.intended().unwrap_or(now);
            if begins >= time || now >= time && self.plan.rate.is_none() {
                break;
            }
            if now < begins {
                now = self.until(begins, now)?;
                continue;
            }
            self.send(&mut source, begins)?;
            now = self.began.elapsed();
            if self.waiting.is_empty() {
                self.answer(begins, now);
            } else if self.waiting.len() >= self.plan.window as usize {
                self.wait_for_first()?;
                now = self.began.elapsed();
            }
            if self.plan.rate.is_some() {
                self.take_answers()?;
            }
        }
        while !self.waiting.is_empty() {
            self.wait_for_first()?;
        }
        Ok(self)
    }

    /// Waits for the time of the next message, and looks for answers meanwhile.
    fn until(&mut self, begins: Duration, now: Duration) -> Result<Duration> {
        self.take_answers()?;
        if begins - now > WORTH_SLEEPING && self.waiting.is_empty() {
            std::thread::sleep(begins - now - WORTH_SLEEPING / 2);
        } else {
            std::hint::spin_loop();
        }
        Ok(self.began.elapsed())
    }

    /// Puts the next message; when the store is busy, again.
    fn send(&mut self, source: &mut MessageSource, begins: Duration) -> Result<()> {
        let number = message_number(self.number, self.sent);
        let queue = (self.sent + u64::from(self.number)) % u64::from(self.plan.queues);
        let message = source.message(number, i32::try_from(queue)?, self.env.now_millis());
        loop {
            let ticket = self.store.put(&message);
            if !ticket.is_done() {
                self.waiting.push_back((begins, ticket));
                break;
            }
            let result = ticket.wait();
            match result.status {
                PutMessageStatus::PutOk => break,
                PutMessageStatus::OsPageCacheBusy => self.busy += 1,
                status => {
                    let remark = result.remark.unwrap_or_default();
                    return Err(anyhow!("message {number:X} was not stored: {status:?}: {remark}"));
                }
            }
        }
        self.sent += 1;
        Ok(())
    }

    fn answer(&mut self, begins: Duration, now: Duration) {
        self.latencies.record(now.saturating_sub(begins));
        self.answered += 1;
        self.ended = now;
        if self.answered % 256 == 0 {
            self.done.fetch_add(256, Ordering::Relaxed);
        }
    }

    fn wait_for_first(&mut self) -> Result<()> {
        let Some((begins, ticket)) = self.waiting.pop_front() else { return Ok(()) };
        let result = ticket.wait();
        ensure!(
            result.status == PutMessageStatus::PutOk,
            "a message was not made durable: {:?}: {}",
            result.status,
            result.remark.unwrap_or_default()
        );
        let now = self.began.elapsed();
        self.answer(begins, now);
        Ok(())
    }

    /// Takes the answers that are there.
    fn take_answers(&mut self) -> Result<()> {
        while self.waiting.front().is_some_and(|(_, ticket)| ticket.is_done()) {
            self.wait_for_first()?;
        }
        Ok(())
    }
}
