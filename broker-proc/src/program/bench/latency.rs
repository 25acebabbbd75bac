//! `stratamq bench latency`.

use super::machine::Machine;
use super::net::echo_server::EchoServer;
use super::net::latency_load::{RateOutcome, RatePlan, echoed, send_and_consume};
use super::net::limit::send_answer;
use super::net::send_frames::SendFrames;
use super::net::send_load::OffsetTally;
use super::net::target::{BrokerOptions, Target};
use super::options::{Flush, OutputOptions, PlaceOptions};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use anyhow::{Result, ensure};
use clap::Args;
use std::time::Duration;
use store_core::Env;

/// Share of the messages whose latencies do not count.
const WARM_UP: f64 = 0.1;

/// Arguments of `stratamq bench latency`.
#[derive(Debug, Args)]
pub(super) struct LatencyArguments {
    /// Bytes of a message's body, at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..))]
    size: u32,
    /// Queues of the topic, used in turn.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queues: u32,
    /// Messages per second, sent as planned however long answers take.
    #[arg(long, value_name = "PER_SECOND", default_value_t = 1000.0)]
    rate: f64,
    /// For how long; the first tenth is not measured.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// When a send is answered; consumers see a message no sooner.
    #[arg(long, value_enum, default_value_t = Flush::Async)]
    flush: Flush,
    #[command(flatten)]
    broker: BrokerOptions,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &LatencyArguments) -> Result<Report> {
    let LatencyArguments { size, queues, rate, seconds, flush, broker, place, output } = arguments;
    ensure!(*rate > 0.0 && *rate <= 1e6, "--rate: expected more than 0 and at most 1000000");
    let count = (rate * seconds) as u64;
    ensure!(count > 0 && count <= u64::from(u32::MAX >> 1), "--seconds: that is {count} messages");
    let scratch = ScratchDirectory::new(place)?;
    let mut report = Report::new("latency", Machine::here(scratch.path()));
    report.setting("size", size);
    report.setting("queues", queues);
    report.setting("rate", rate);
    report.setting("seconds", seconds);
    report.setting("flush", if *flush == Flush::Sync { "sync" } else { "async" });
    let target = Target::open(broker, output, (*flush, place), &scratch, *queues)?;
    let plan = RatePlan {
        frames: &SendFrames::new(&target.topic, *size, *queues, 1, Env::os().now_millis())?,
        queues: *queues,
        count,
        warm_up: (count as f64 * WARM_UP) as u64,
        interval: Duration::from_secs_f64(1.0 / rate),
    };
    let before = target.cpu();
    let outcome = send_and_consume(&plan, target.address, &target.topic, *size)?;
    let broker_cpu = before.and_then(|before| before.since());
    check(&mut report, &target, &outcome, *queues)?;
    target.clean_up()?;
    drop(target);

    let server = EchoServer::start(send_answer()?)?;
    let limit = echoed(&plan, server.address())?;
    let echo_cpu = server.finish()?;
    report.latencies("planned to consumed", &outcome.latencies, Some(("loopback echo", &limit)));
    report.latencies("planned to answered", &outcome.sent.latencies, Some(("loopback echo", &limit)));
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    if let Some(cpu) = broker_cpu {
        let figure = Figure::new("broker CPU per message", each(cpu), "us");
        report.figure(figure.with_limit("loopback echo, server", each(echo_cpu)));
    }
    report.figure(Figure::new("refused", outcome.sent.refused as f64, "messages"));
    if let Some(refusal) = outcome.sent.refusal {
        report.note(format!("the first refusal was {refusal}"));
    }
    Ok(report)
}

fn check(report: &mut Report, target: &Target, outcome: &RateOutcome, queues: u32) -> Result<()> {
    let ends = target.ends(queues, outcome.sent.tally.count)?;
    let told = &outcome.sent.offsets;
    let right = told.iter().zip(&ends).filter(|(found, end)| **found == OffsetTally::up_to(**end));
    report.check("queues whose offsets were told once each", ends.len(), right.count());
    let sent = &outcome.sent.tally;
    report.check("messages consumed", sent.count, outcome.consumed.count);
    report.check("checksum of their numbers", sent.checksum(), outcome.consumed.checksum());
    Ok(())
}
