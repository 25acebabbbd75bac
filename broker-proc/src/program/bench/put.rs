//! `stratamq bench put`.

use super::limits;
use super::machine::Machine;
use super::options::{Flush, LoadOptions, OutputOptions, PlaceOptions};
use super::process_usage::{DeviceCounters, anonymous_memory, cpu_time, dirtied_bytes};
use super::put_load::{PutOutcome, PutPlan, put, store_config};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use super::workload::read_back;
use crate::program::progress::Progress;
use anyhow::{Result, ensure};
use clap::Args;
use std::time::Duration;
use store_core::copy_limit::Pages;
use store_core::{DefaultMessageStore, Env};

/// Most bytes that are copied to find the limit of copying.
const COPIED: u64 = 1 << 30;
/// Longest time for one limit.
const LIMIT_TIME: Duration = Duration::from_secs(3);

/// Arguments of `stratamq bench put`.
#[derive(Debug, Args)]
pub(super) struct PutArguments {
    #[command(flatten)]
    load: LoadOptions,
    /// Messages per second, sent as planned however long answers take; a latency then begins when the plan has the
    /// message. Default: the next one follows its predecessor's answer.
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &PutArguments) -> Result<Report> {
    arguments.output.only_limits()?;
    let PutArguments { load, rate, place, .. } = arguments;
    ensure!(rate.is_none_or(|rate| rate > 0.0), "--rate: expected more than 0");
    let plan = PutPlan { rate: *rate, ..PutPlan::of(load)? };
    let env = Env::os();
    let scratch = ScratchDirectory::new(place)?;
    let mut report = Report::new("put", Machine::here(scratch.path()));
    tell_settings(&mut report, load, *rate);

    let device = DeviceCounters::of(scratch.path());
    let store = DefaultMessageStore::open(&env, store_config(&scratch.join("store"), load.flush, place))?;
    let written = || device.as_ref().and_then(DeviceCounters::written_bytes);
    let (cpu_before, written_before, dirtied_before) = (cpu_time(), written(), dirtied_bytes());
    let outcome = put(&env, &store, &plan)?;
    let cpu = cpu_time() - cpu_before;
    let memory = anonymous_memory(std::process::id());
    if load.flush == Flush::Async {
        // Until here some of it is in memory only.
        store.shutdown()?;
    }
    let device_bytes = written().zip(written_before).map(|(after, before)| after - before);
    let dirtied = dirtied_bytes().zip(dirtied_before).map(|(after, before)| after - before);
    if load.flush == Flush::Sync {
        store.shutdown()?;
    }

    check(&env, &mut report, &outcome, arguments, &scratch)?;
    rates(&env, &mut report, &outcome, load, &scratch)?;
    let count = outcome.count() as f64;
    report.figure(Figure::new("CPU per message", cpu.as_secs_f64() * 1e6 / count, "us"));
    let appended = outcome.appended as f64;
    for (name, bytes) in [("written to the device / appended", device_bytes), ("dirtied / appended", dirtied)]
    {
        if let Some(bytes) = bytes {
            report.figure(Figure::new(name, bytes as f64 / appended, ""));
        }
    }
    if let Some(memory) = memory {
        report.figure(Figure::new("anonymous memory", memory as f64 / f64::from(1 << 20), "MiB"));
    }
    report.figure(Figure::new("record", outcome.appended as f64 / count, "B"));
    Ok(report)
}

fn tell_settings(report: &mut Report, load: &LoadOptions, rate: Option<f64>) {
    report.setting("size", load.size);
    report.setting("threads", load.threads);
    report.setting("window", load.window);
    report.setting("queues", load.queues);
    report.setting("flush", if load.flush == Flush::Sync { "sync" } else { "async" });
    if let Some(rate) = rate {
        report.setting("rate", rate);
    }
}

/// Opens the store again and looks for every message.
fn check(
    env: &Env,
    report: &mut Report,
    outcome: &PutOutcome,
    arguments: &PutArguments,
    scratch: &ScratchDirectory,
) -> Result<()> {
    let PutArguments { load, place, .. } = arguments;
    let store = DefaultMessageStore::open(env, store_config(&scratch.join("store"), load.flush, place))?;
    let mut progress = Progress::new(Some(outcome.count()), "messages");
    let found = read_back(&store, load.queues, load.size, |count| progress.add(count))?;
    progress.finish("checked");
    store.shutdown()?;
    let expected = outcome.tally();
    report.check("messages read back", expected.count, found.count);
    report.check("checksum of their numbers", expected.checksum(), found.checksum());
    if outcome.busy > 0 {
        report.note(format!("the store was busy {} times; those puts were repeated", outcome.busy));
    }
    Ok(())
}

fn rates(
    env: &Env,
    report: &mut Report,
    outcome: &PutOutcome,
    load: &LoadOptions,
    scratch: &ScratchDirectory,
) -> Result<()> {
    let count = outcome.count() as f64;
    let per_second = |took: Duration| count / took.as_secs_f64();
    let put = Figure::new("put", per_second(outcome.put_took), "messages/s");
    let dispatched = Figure::new("put and dispatched", per_second(outcome.dispatched_took), "messages/s");
    let record_len = (outcome.appended / outcome.count().max(1)) as usize;
    match load.flush {
        Flush::Async => {
            let bytes = outcome.appended.min(COPIED);
            let present = limits::copies(env, scratch.path(), record_len, bytes, Pages::Present)?;
            let sparse = limits::copies(env, scratch.path(), record_len, bytes, Pages::Sparse)?;
            report.figure(
                put.with_limit("copies into present pages", present)
                    .with_limit("copies into a sparse file", sparse),
            );
            report.figure(dispatched.with_limit("copies into present pages", present));
            report.latencies("latency", &outcome.latencies, None);
        }
        Flush::Sync => {
            let time = outcome.put_took.min(LIMIT_TIME);
            let waiters = (load.threads, load.window);
            let raw = limits::group_commit(env, scratch.path(), record_len, waiters, time)?;
            let alone = limits::synced_writes(env, scratch.path(), record_len, time)?;
            report.figure(
                put.with_limit("raw group commit, as many waiters", raw.records_per_second)
                    .with_limit("write and fdatasync, one by one", alone),
            );
            report.figure(dispatched.with_limit("raw group commit, as many waiters", raw.records_per_second));
            report.latencies("latency", &outcome.latencies, Some(("raw group commit", &raw.latencies)));
        }
    }
    Ok(())
}
