//! `stratamq bench`: measures the store, each figure beside what the machine allows, and checks the results.
//!
//! A work puts its figures, the limits measured in the same run, and its checks into a [`report::Report`]; times decide
//! nothing, checks do.

mod consume;
mod fill;
mod get;
mod histogram;
mod idle;
mod latency;
mod limits;
mod machine;
mod net;
mod open;
mod options;
mod process_usage;
mod produce;
mod put;
mod put_load;
mod queues;
mod recover;
mod report;
mod reput;
mod scratch_directory;
mod topics;
mod workload;

use anyhow::Result;
use clap::{Args, Subcommand};
use report::Report;
use std::process::ExitCode;
use tokio::runtime::Runtime;

/// Arguments of `stratamq bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    work: Work,
}

#[derive(Debug, Subcommand)]
enum Work {
    /// Put messages into a store in this process: as fast as it takes them, or at a given rate.
    Put(put::PutArguments),
    /// Get messages from a store in this process, 32 a call: in order and at random, untouched and with every byte read.
    Get(get::GetArguments),
    /// Open a store after its process was killed, and after a stop in order.
    Recover(recover::StoreArguments),
    /// Build queues and index anew from the log.
    Reput(recover::StoreArguments),
    /// Put into one queue, and into ever more; open such stores, and tell the memory of an idle queue.
    Queues(queues::QueuesArguments),
    /// Fill a store for another work, and wait.
    #[command(hide = true)]
    Fill(fill::FillArguments),
    /// Open a store for another work, and tell what it took.
    #[command(hide = true)]
    Open(open::OpenArguments),
    /// Send messages to a broker process.
    Produce(produce::ProduceArguments),
    /// Pull a backlog from a broker process.
    Consume(consume::ConsumeArguments),
    /// Send messages at a given rate to a consumer that waits for them.
    Latency(latency::LatencyArguments),
    /// Leave a broker process alone, without and with consumers that wait.
    Idle(idle::IdleArguments),
    /// Make topics one by one.
    Topics(topics::TopicsArguments),
}

/// Measures, prints the report and tells by the exit status whether all results were right.
pub(super) fn run(arguments: &BenchArguments, _runtime: &Runtime) -> Result<ExitCode> {
    let (report, output) = match &arguments.work {
        Work::Put(arguments) => (put::run(arguments)?, &arguments.output),
        Work::Get(arguments) => (get::run(arguments)?, &arguments.output),
        Work::Recover(arguments) => (recover::run(arguments)?, &arguments.output),
        Work::Reput(arguments) => (reput::run(arguments)?, &arguments.output),
        Work::Queues(arguments) => (queues::run(arguments)?, &arguments.output),
        Work::Fill(arguments) => return fill::run(arguments).map(|()| ExitCode::SUCCESS),
        Work::Open(arguments) => return open::run(arguments).map(|()| ExitCode::SUCCESS),
        Work::Produce(arguments) => (produce::run(arguments)?, &arguments.output),
        Work::Consume(arguments) => (consume::run(arguments)?, &arguments.output),
        Work::Latency(arguments) => (latency::run(arguments)?, &arguments.output),
        Work::Idle(arguments) => (idle::run(arguments)?, &arguments.output),
        Work::Topics(arguments) => (topics::run(arguments)?, &arguments.output),
    };
    finish(&report, output)
}

fn finish(report: &Report, output: &options::OutputOptions) -> Result<ExitCode> {
    output.write(report)?;
    Ok(if report.is_right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
