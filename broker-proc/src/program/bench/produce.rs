//! `stratamq bench produce`.

use super::machine::Machine;
use super::net::limit::echoed_sends;
use super::net::pull_load::{PullPlan, pull};
use super::net::send_frames::SendFrames;
use super::net::send_load::{OffsetTally, SendOutcome, SendPlan, send};
use super::net::target::{BrokerOptions, Target, cpu_figures};
use super::options::{Flush, LoadOptions, OutputOptions, PlaceOptions};
use super::process_usage::cpu_time;
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use anyhow::Result;
use clap::Args;
use store_core::Env;

/// Arguments of `stratamq bench produce`.
#[derive(Debug, Args)]
pub(super) struct ProduceArguments {
    /// Each thread has a connection of its own; its window counts requests.
    #[command(flatten)]
    load: LoadOptions,
    /// Messages of one request.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    batch: u32,
    #[command(flatten)]
    broker: BrokerOptions,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &ProduceArguments) -> Result<Report> {
    let ProduceArguments { load, batch, broker, place, output } = arguments;
    let bound = load.bound()?;
    let scratch = ScratchDirectory::new(place)?;
    let mut report = Report::new("produce", Machine::here(scratch.path()));
    tell_settings(&mut report, load, *batch);
    let target = Target::open(broker, output, (load.flush, place), &scratch, load.queues)?;
    let frames = SendFrames::new(&target.topic, load.size, load.queues, *batch, Env::os().now_millis())?;
    let plan = SendPlan {
        address: target.address,
        frames: &frames,
        connections: load.threads,
        window: load.window,
        batch: *batch,
        queues: load.queues,
        bound,
    };
    let (broker_before, client_before) = (target.cpu(), cpu_time());
    let outcome = send(&plan)?;
    let client = cpu_time() - client_before;
    let broker = broker_before.and_then(|before| before.since());
    check(&mut report, &target, &outcome, load)?;
    target.clean_up()?;
    let echo = echoed_sends(&plan, outcome.took)?;

    let (count, echoed) = (outcome.tally.count, echo.outcome.tally.count);
    let rate = |outcome: &SendOutcome| outcome.tally.count as f64 / outcome.took.as_secs_f64();
    let sent = Figure::new("produce", rate(&outcome), "messages/s");
    report.figure(sent.with_limit("loopback echo", rate(&echo.outcome)));
    let limit = Some(("loopback echo", &echo.outcome.latencies));
    report.latencies("latency", &outcome.latencies, limit);
    cpu_figures(&mut report, (broker, client), (echo.server_cpu, echo.client_cpu), (count, echoed));
    report.figure(Figure::new("refused", outcome.refused as f64, "messages"));
    if let Some(refusal) = outcome.refusal {
        report.note(format!("the first refusal was {refusal}"));
    }
    Ok(report)
}

fn tell_settings(report: &mut Report, load: &LoadOptions, batch: u32) {
    report.setting("size", load.size);
    report.setting("threads", load.threads);
    report.setting("window", load.window);
    report.setting("batch", batch);
    report.setting("queues", load.queues);
    report.setting("flush", if load.flush == Flush::Sync { "sync" } else { "async" });
}

/// Holds the answers against the queues, and pulls every message back.
fn check(report: &mut Report, target: &Target, outcome: &SendOutcome, load: &LoadOptions) -> Result<()> {
    let ends = target.ends(load.queues, outcome.tally.count)?;
    let right = outcome.offsets.iter().zip(&ends).filter(|(found, end)| **found == OffsetTally::up_to(**end));
    report.check("queues whose offsets were told once each", ends.len(), right.count());
    let pulled = pull(&PullPlan {
        address: target.address,
        topic: &target.topic,
        connections: 1,
        ends: &ends,
        size: load.size,
        is_echo: false,
    })?;
    report.check("messages pulled back", outcome.tally.count, pulled.tally.count);
    report.check("checksum of their numbers", outcome.tally.checksum(), pulled.tally.checksum());
    Ok(())
}
