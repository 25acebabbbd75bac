//! `stratamq bench queues`.

use super::limits;
use super::machine::Machine;
use super::open::open_by_process;
use super::options::{Bound, Flush, OutputOptions, PlaceOptions};
use super::process_usage::cpu_time;
use super::put_load::{PutPlan, put, store_config};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use super::workload::Tally;
use anyhow::{Result, ensure};
use clap::Args;
use std::path::Path;
use store_core::copy_limit::Pages;
use store_core::{DefaultMessageStore, Env};

/// Messages of a queue, at least, so that each of them is used again.
const MESSAGES_PER_QUEUE: u64 = 4;
/// Bytes that are copied to find the limit of copying.
const COPIED: u64 = 256 << 20;

/// Arguments of `stratamq bench queues`.
#[derive(Debug, Args)]
pub(super) struct QueuesArguments {
    /// Bytes of a message's body, at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..))]
    size: u32,
    /// Threads that put.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: u32,
    /// Numbers of queues, each measured in a store of its own.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64, 1000, 10_000, 100_000],
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queues: Vec<u32>,
    /// Messages of each store; every queue gets at least four.
    #[arg(long, default_value_t = 400_000)]
    count: u64,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &QueuesArguments) -> Result<Report> {
    arguments.output.only_limits()?;
    let env = Env::os();
    let scratch = ScratchDirectory::new(&arguments.place)?;
    let mut report = Report::new("queues", Machine::here(scratch.path()));
    let QueuesArguments { size, threads, .. } = *arguments;
    report.setting("size", size);
    report.setting("threads", threads);
    let present = limits::copies(&env, scratch.path(), size as usize + 126, COPIED, Pages::Present)?;

    // What a store needs besides its queues.
    let base = scratch.join("base");
    fill(&env, &base, arguments, 1, 1)?;
    let base_memory = open_by_process(&base, (size, 1), arguments.place.log_file_size, false)?.memory;
    remove(&base)?;

    let mut with_eight = None;
    for queues in arguments.queues.iter().copied() {
        let root = scratch.join(&format!("queues-{queues}"));
        let count = arguments.count.max(u64::from(queues) * MESSAGES_PER_QUEUE);
        let filled = fill(&env, &root, arguments, queues, count)?;
        if queues == 8 {
            with_eight = Some(filled.per_second);
        }
        let name = |what: &str| format!("{queues} queues: {what}");
        let mut rate = Figure::new(name("put and dispatched"), filled.per_second, "messages/s")
            .with_limit("copies into present pages", present);
        if let Some(per_second) = with_eight.filter(|_| queues != 8) {
            rate = rate.with_limit("with 8 queues", per_second);
        }
        report.figure(rate);
        report.figure(Figure::new(name("CPU per message"), filled.cpu_micros, "us"));
        let read = limits::read_and_crc(&env, &root)?.as_secs_f64() * 1e3;
        let opened = open_by_process(&root, (size, queues), arguments.place.log_file_size, true)?;
        report.figure(
            Figure::new(name("open"), opened.seconds * 1e3, "ms").with_limit("read + CRC32 of the log", read),
        );
        if let (Some(memory), Some(base)) = (opened.memory, base_memory) {
            let each = (memory as f64 - base as f64) / f64::from(queues);
            report.figure(Figure::new(name("anonymous memory of an idle queue"), each, "B"));
        }
        let found = opened.tally.unwrap_or_default();
        report.check(name("messages read back"), filled.tally.count, found.count);
        report.check(name("checksum of their numbers"), filled.tally.checksum(), found.checksum());
        remove(&root)?;
    }
    Ok(report)
}

struct Filled {
    per_second: f64,
    cpu_micros: f64,
    tally: Tally,
}

fn fill(env: &Env, root: &Path, arguments: &QueuesArguments, queues: u32, count: u64) -> Result<Filled> {
    let store = DefaultMessageStore::open(env, store_config(root, Flush::Async, &arguments.place))?;
    let QueuesArguments { size, threads, .. } = *arguments;
    let plan = PutPlan { size, threads, window: 1, queues, bound: Bound::Count(count), rate: None };
    let cpu_before = cpu_time();
    let outcome = put(env, &store, &plan)?;
    let cpu = cpu_time() - cpu_before;
    store.shutdown()?;
    ensure!(outcome.count() == count, "{} of {count} messages were put", outcome.count());
    Ok(Filled {
        per_second: count as f64 / outcome.dispatched_took.as_secs_f64(),
        cpu_micros: cpu.as_secs_f64() * 1e6 / count as f64,
        tally: outcome.tally(),
    })
}

fn remove(root: &Path) -> Result<()> {
    Ok(std::fs::remove_dir_all(root)?)
}
