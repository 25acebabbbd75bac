//! `stratamq bench`: measures the store, each figure beside what the machine allows, and checks the results.
//!
//! A work puts its figures, the limits measured in the same run, and its checks into a [`report::Report`]; times decide
//! nothing, checks do.

mod histogram;
mod limits;
mod machine;
mod options;
mod process_usage;
mod put;
mod put_load;
mod report;
mod scratch_directory;
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
}

/// Measures, prints the report and tells by the exit status whether all results were right.
pub(super) fn run(arguments: &BenchArguments, _runtime: &Runtime) -> Result<ExitCode> {
    let (report, output) = match &arguments.work {
        Work::Put(arguments) => (put::run(arguments)?, &arguments.output),
    };
    finish(&report, output)
}

fn finish(report: &Report, output: &options::OutputOptions) -> Result<ExitCode> {
    output.write(report)?;
    Ok(if report.is_right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
