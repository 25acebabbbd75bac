//! `stratamq bench topics`.

use super::machine::Machine;
use super::net::admin;
use super::net::link::Link;
use super::net::target::{BrokerOptions, Target};
use super::options::{Against, Flush, OutputOptions, PlaceOptions};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use anyhow::{Result, bail};
use clap::Args;
use std::time::Instant;

/// Arguments of `stratamq bench topics`.
#[derive(Debug, Args)]
pub(super) struct TopicsArguments {
    /// Topics that are made, one after the other.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Queues of each topic.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    queues: u32,
    #[command(flatten)]
    broker: BrokerOptions,
    #[command(flatten)]
    place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

pub(super) fn run(arguments: &TopicsArguments) -> Result<Report> {
    let TopicsArguments { count, queues, broker, place, output } = arguments;
    if let Against::Address(address) = &output.against {
        bail!("--against {address}: topics are made in a broker of one's own only");
    }
    let scratch = ScratchDirectory::new(place)?;
    let mut report = Report::new("topics", Machine::here(scratch.path()));
    report.setting("count", count);
    report.setting("queues", queues);
    let target = Target::open(broker, output, (Flush::Async, place), &scratch, 1)?;
    let mut link = Link::connect(target.address)?;
    let (cpu_before, memory_before) = (target.cpu(), target.memory());
    let began = Instant::now();
    for number in 0..*count {
        admin::create_topic(&mut link, &name(number), *queues)?;
    }
    let took = began.elapsed();
    let cpu = cpu_before.and_then(|before| before.since());
    let memory = memory_before.zip(target.memory());
    report.figure(Figure::new("create", f64::from(*count) / took.as_secs_f64(), "topics/s"));
    if let Some(cpu) = cpu {
        let each = cpu.as_secs_f64() * 1e3 / f64::from(*count);
        report.figure(Figure::new("broker CPU per topic", each, "ms"));
    }
    if let Some((before, after)) = memory {
        let more = (after as f64 - before as f64) / f64::from(1 << 20);
        report.figure(Figure::new("memory for the topics", more, "MiB"));
    }
    let mut found = 0;
    for number in 0..*count {
        found += u32::from(admin::has_topic(&mut link, &name(number), *queues)?);
    }
    report.check("topics that are there", *count, found);
    Ok(report)
}

fn name(number: u32) -> String {
    format!("BenchTopic_{number}")
}
