//! `stratamq bench consume`.

use super::machine::Machine;
use super::net::limit::echoed_pulls;
use super::net::link::Link;
use super::net::pull_frames::{PULLED_AT_ONCE, PullFrame};
use super::net::pull_load::{PullOutcome, PullPlan, pull};
use super::net::send_frames::SendFrames;
use super::net::send_load::{SendPlan, send};
use super::net::target::{BrokerOptions, Target, cpu_figures};
use super::options::{Bound, Flush, OutputOptions, PlaceOptions};
use super::process_usage::cpu_time;
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use anyhow::{Result, ensure};
use clap::Args;
use store_core::Env;

/// Messages of one request that makes the backlog.
const BATCH: u32 = 32;
/// Requests under way meanwhile.
const WINDOW: u32 = 4;

/// Arguments of `stratamq bench consume`.
#[derive(Debug, Args)]
pub(super) struct ConsumeArguments {
    /// Bytes of a message's body, at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..))]
    size: u32,
    /// Connections, each with its share of the queues and one pull of each under way.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: u32,
    /// Queues of the topic.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queues: u32,
    /// Messages of the backlog, rounded up to whole batches of 32.
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    #[command(flatten)]
    broker: BrokerOptions,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &ConsumeArguments) -> Result<Report> {
    let ConsumeArguments { size, threads, queues, count, broker, place, output } = arguments;
    let scratch = ScratchDirectory::new(place)?;
    let mut report = Report::new("consume", Machine::here(scratch.path()));
    report.setting("size", size);
    report.setting("threads", threads);
    report.setting("queues", queues);
    report.setting("backlog", count);
    let target = Target::open(broker, output, (Flush::Async, place), &scratch, *queues)?;
    let frames = SendFrames::new(&target.topic, *size, *queues, BATCH, Env::os().now_millis())?;
    let sent = send(&SendPlan {
        address: target.address,
        frames: &frames,
        connections: 1,
        window: WINDOW,
        batch: BATCH,
        queues: *queues,
        bound: Bound::Count(*count),
    })?;
    ensure!(
        sent.refused == 0,
        "the backlog could not be made, {} messages were refused; the first: {}",
        sent.refused,
        sent.refusal.unwrap_or_default()
    );
    let ends = target.ends(*queues, sent.tally.count)?;
    let plan = PullPlan {
        address: target.address,
        topic: &target.topic,
        connections: *threads,
        ends: &ends,
        size: *size,
        is_echo: false,
    };
    let (broker_before, client_before) = (target.cpu(), cpu_time());
    let outcome = pull(&plan)?;
    let client = cpu_time() - client_before;
    let broker = broker_before.and_then(|before| before.since());
    report.check("messages pulled", sent.tally.count, outcome.tally.count);
    report.check("checksum of their numbers", sent.tally.checksum(), outcome.tally.checksum());

    let mut link = Link::connect(target.address)?;
    link.write(PullFrame::new(&target.topic, 0, 0, false)?.at(0))?;
    let body = link.receive()?.body;
    target.clean_up()?;
    let per_pull = (ends.first().copied().unwrap_or_default()).min(PULLED_AT_ONCE.unsigned_abs().into());
    let echo = echoed_pulls(&plan, outcome.took, &body, per_pull)?;

    let rate = |outcome: &PullOutcome| outcome.tally.count as f64 / outcome.took.as_secs_f64();
    let pulled = Figure::new("consume", rate(&outcome), "messages/s");
    report.figure(pulled.with_limit("loopback echo", rate(&echo.outcome)));
    report.figure(Figure::new("first message after", outcome.first_took.as_secs_f64() * 1e3, "ms"));
    let each = outcome.tally.count as f64 / outcome.pulls.max(1) as f64;
    report.figure(Figure::new("messages of a pull", each, ""));
    let counts = (outcome.tally.count, echo.outcome.tally.count);
    cpu_figures(&mut report, (broker, client), (echo.server_cpu, echo.client_cpu), counts);
    Ok(report)
}
