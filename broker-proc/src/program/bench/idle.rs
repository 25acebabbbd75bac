//! `stratamq bench idle`.

use super::machine::Machine;
use super::net::link::Link;
use super::net::pull_frames::PullFrame;
use super::net::send_frames::SendFrames;
use super::net::target::{BrokerOptions, Target};
use super::options::{Flush, OutputOptions, PlaceOptions};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use crate::remoting::response_code;
use anyhow::{Result, ensure};
use clap::Args;
use std::time::Duration;
use store_core::Env;

/// Time that a broker has for what a start or new connections leave behind.
const SETTLE: Duration = Duration::from_secs(1);
/// Queues of the topic that is waited for.
const QUEUES: u32 = 8;
/// Longest measurement: pulls are held for 15 s.
const LONGEST: f64 = 12.0;

/// Arguments of `stratamq bench idle`.
#[derive(Debug, Args)]
pub(super) struct IdleArguments {
    /// Connections, each with one pull that waits.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    consumers: u32,
    /// For how long CPU time is counted, without and with the consumers.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    #[command(flatten)]
    broker: BrokerOptions,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &IdleArguments) -> Result<Report> {
    let IdleArguments { consumers, seconds, broker, place, output } = arguments;
    ensure!(*seconds > 0.0 && *seconds <= LONGEST, "--seconds: expected more than 0, at most {LONGEST}");
    let time = Duration::from_secs_f64(*seconds);
    let scratch = ScratchDirectory::new(place)?;
    let mut report = Report::new("idle", Machine::here(scratch.path()));
    report.setting("consumers", consumers);
    report.setting("seconds", seconds);
    let target = Target::open(broker, output, (Flush::Async, place), &scratch, QUEUES)?;
    if let Some(own) = target.own() {
        report.figure(Figure::new("start", own.start_took.as_secs_f64() * 1e3, "ms"));
    }
    let before = rest(&mut report, &target, "idle", time)?;
    let mut links = (0..*consumers)
        .map(|number| {
            let mut link = Link::connect(target.address)?;
            link.write(PullFrame::new(&target.topic, number % QUEUES, number, true)?.at(0))?;
            Ok(link)
        })
        .collect::<Result<Vec<_>>>()?;
    let after = rest(&mut report, &target, "with consumers", time)?;
    if let Some((before, after)) = before.zip(after) {
        let more = after as f64 - before as f64;
        report.figure(Figure::new("memory for the consumers", more / f64::from(1 << 20), "MiB"));
    }
    let woken = wake(&target, &mut links)?;
    report.check("consumers that got the message they waited for", consumers.to_string(), woken.to_string());
    target.clean_up()?;
    Ok(report)
}

/// CPU time and memory of a broker that is left alone; its memory in bytes.
fn rest(report: &mut Report, target: &Target, state: &str, time: Duration) -> Result<Option<u64>> {
    std::thread::sleep(SETTLE);
    let before = target.cpu();
    std::thread::sleep(time);
    if let Some(used) = before.and_then(|before| before.since()) {
        let share = used.as_secs_f64() / time.as_secs_f64();
        report.figure(Figure::new(format!("{state}: share of a core"), share * 100.0, "%"));
    }
    let memory = target.memory();
    if let Some(memory) = memory {
        let mib = memory as f64 / f64::from(1 << 20);
        report.figure(Figure::new(format!("{state}: anonymous memory"), mib, "MiB"));
    }
    Ok(memory)
}

/// Sends one message to each queue; how many of those who wait get one.
fn wake(target: &Target, links: &mut [Link]) -> Result<u32> {
    let mut frames = SendFrames::new(&target.topic, 16, QUEUES, 1, Env::os().now_millis())?;
    let mut out = Vec::new();
    for queue in 0..QUEUES {
        frames.append(&mut out, queue, queue.into(), queue);
    }
    let mut sender = Link::connect(target.address)?;
    sender.write(&out)?;
    for _ in 0..QUEUES {
        sender.receive()?;
    }
    let mut woken = 0;
    for link in links {
        let answer = link.receive()?;
        woken += u32::from(answer.code == response_code::SUCCESS && !answer.body.is_empty());
    }
    Ok(woken)
}
