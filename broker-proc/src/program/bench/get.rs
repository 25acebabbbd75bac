//! `stratamq bench get`.

use super::fill::messages_of;
use super::histogram::Latencies;
use super::limits;
use super::machine::Machine;
use super::options::{Bound, Flush, OutputOptions, PlaceOptions};
use super::process_usage::cpu_time;
use super::put_load::{PutPlan, put, store_config};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use super::workload::{TOPIC, read_back};
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use std::time::{Duration, Instant};
use store_core::{DefaultMessageStore, Env, GetRequest, MessageStore};

/// Arguments of `stratamq bench get`.
#[derive(Debug, Args)]
pub(super) struct GetArguments {
    /// Bytes of a message's body, at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..))]
    size: u32,
    /// Threads that get.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: u32,
    /// Queues of the topic.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    queues: u32,
    /// Messages of one call.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=32))]
    pull: u32,
    /// Bytes of the log that is read, about.
    #[arg(long, value_name = "BYTES", default_value_t = 512 << 20)]
    log_size: u64,
    /// For how long each of the four ways of reading is measured.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

/// Where the next call reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Sequential,
    Random,
}

/// What one way of reading gave.
struct Pass {
    calls: u64,
    messages: u64,
    latencies: Latencies,
    took: Duration,
    cpu: Duration,
}

pub(super) fn run(arguments: &GetArguments) -> Result<Report> {
    arguments.output.only_limits()?;
    ensure!(arguments.seconds > 0.0, "--seconds: expected more than 0");
    let env = Env::os();
    let scratch = ScratchDirectory::new(&arguments.place)?;
    let mut report = Report::new("get", Machine::here(scratch.path()));
    let GetArguments { size, threads, queues, pull, .. } = *arguments;
    report.setting("size", size);
    report.setting("threads", threads);
    report.setting("queues", queues);
    report.setting("pull", pull);
    let config = store_config(&scratch.join("store"), Flush::Async, &arguments.place);
    let store = DefaultMessageStore::open(&env, config)?;
    let bound = Bound::Count(messages_of(arguments.log_size, size));
    let put_plan = PutPlan { size, threads: 1, window: 1, queues, bound, rate: None };
    let outcome = put(&env, &store, &put_plan)?;
    let found = read_back(&store, queues, size, |_| ())?;
    report.check("messages read back", outcome.count(), found.count);
    report.check("checksum of their numbers", outcome.tally().checksum(), found.checksum());

    let record_len = outcome.appended as f64 / outcome.count() as f64;
    let memory = limits::memory_read(outcome.appended)? / record_len;
    for (order, name) in [(Order::Sequential, "sequential"), (Order::Random, "random")] {
        for touched in [false, true] {
            let pass = read(&env, &store, arguments, order, touched)?;
            let name = format!("{name}, {}", if touched { "every byte read" } else { "untouched" });
            report.check(
                format!("{name}: messages of full calls"),
                pass.calls * u64::from(pull),
                pass.messages,
            );
            let messages = pass.messages as f64;
            let mut rate = Figure::new(name.clone(), messages / pass.took.as_secs_f64(), "messages/s");
            if touched {
                rate = rate.with_limit("the same bytes read from memory", memory * f64::from(threads));
            }
            report.figure(rate);
            let cpu = pass.cpu.as_secs_f64() * 1e6 / messages;
            report.figure(Figure::new(format!("{name}: CPU per message"), cpu, "us"));
            report.latencies(&format!("{name}: call"), &pass.latencies, None);
        }
    }
    store.shutdown()?;
    Ok(report)
}

fn read(
    env: &Env,
    store: &DefaultMessageStore,
    arguments: &GetArguments,
    order: Order,
    touched: bool,
) -> Result<Pass> {
    let time = Duration::from_secs_f64(arguments.seconds);
    let seed = env.random_u64();
    let (began, cpu_before) = (Instant::now(), cpu_time());
    let threads = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.threads)
            .map(|number| {
                let seed = seed ^ u64::from(number);
                scope.spawn(move || {
                    read_until(store, arguments, (order, touched), (number, seed), began + time)
                })
            })
            .collect();
        let mut ended = Vec::with_capacity(threads.len());
        for thread in threads {
            ended.push(thread.join().map_err(|_| anyhow!("a thread that gets panicked"))??);
        }
        Ok::<_, anyhow::Error>(ended)
    })?;
    let (took, cpu) = (began.elapsed(), cpu_time() - cpu_before);
    let mut pass = Pass { calls: 0, messages: 0, latencies: Latencies::new(), took, cpu };
    for (messages, latencies) in threads {
        pass.calls += latencies.count();
        pass.messages += messages;
        pass.latencies.add(&latencies);
    }
    Ok(pass)
}

/// Gets full calls until time is up; returns messages and the time of each call.
fn read_until(
    store: &DefaultMessageStore,
    arguments: &GetArguments,
    (order, touched): (Order, bool),
    (number, seed): (u32, u64),
    end: Instant,
) -> Result<(u64, Latencies)> {
    let pull = arguments.pull;
    let mut latencies = Latencies::new();
    let (mut messages, mut sum, mut state) = (0, 0_u64, seed | 1);
    let mut queue_id = i32::try_from(number % arguments.queues)?;
    let mut offset = 0;
    let mut now = Instant::now();
    while now < end {
        let last_of = |queue_id| store.offsets(TOPIC, queue_id).max.saturating_sub(u64::from(pull));
        if order == Order::Random {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            queue_id = i32::try_from((state >> 40) % u64::from(arguments.queues))?;
            offset = (state >> 16) % (last_of(queue_id) + 1);
        } else if offset > last_of(queue_id) {
            (queue_id, offset) = ((queue_id + 1) % i32::try_from(arguments.queues)?, 0);
        }
        let request = GetRequest {
            topic: TOPIC,
            queue_id,
            offset: i64::try_from(offset)?,
            max_messages: pull,
            filter: None,
        };
        let began = Instant::now();
        let result = store.get(&request);
        if touched {
            result.messages.iter().for_each(|record| sum = sum.wrapping_add(limits::touch(record)));
        }
        messages += result.messages.len() as u64;
        offset += u64::from(pull);
        drop(result);
        now = Instant::now();
        latencies.record(now.duration_since(began));
    }
    std::hint::black_box(sum);
    Ok((messages, latencies))
}
