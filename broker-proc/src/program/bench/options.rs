//! Options that several works share.

use super::report::Report;
use crate::program::standard_streams::print_line;
use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// When a put is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Flush {
    /// When it is in memory (ASYNC_FLUSH).
    Async,
    /// When it is on disk (SYNC_FLUSH).
    Sync,
}

/// What figures are held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Against {
    /// What the machine allows, measured in the same run.
    Limit,
    /// Apache's store or broker.
    Java,
    /// The broker at this address.
    Address(String),
}

impl FromStr for Against {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "limit" => Self::Limit,
            "java" => Self::Java,
            address => Self::Address(address.to_owned()),
        })
    }
}

/// What is put, by how many, and for how long.
#[derive(Debug, Clone, Args)]
pub(super) struct LoadOptions {
    /// Bytes of a message's body, at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..))]
    pub(super) size: u32,
    /// Threads that put or get.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: u32,
    /// Puts of one thread that may wait for their answers.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) window: u32,
    /// Queues of the topic, used in turn.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) queues: u32,
    /// When a put is answered.
    #[arg(long, value_enum, default_value_t = Flush::Async)]
    pub(super) flush: Flush,
    /// For how long; fractions are fine. Default: 5.
    #[arg(long, conflicts_with = "count")]
    pub(super) seconds: Option<f64>,
    /// How many messages, instead of for how long.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: Option<u64>,
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    /// After so many messages of all threads.
    Count(u64),
    /// After this time.
    Time(Duration),
}

impl LoadOptions {
    /// When the run ends.
    ///
    /// # Errors
    ///
    /// `--seconds` is no time.
    pub(super) fn bound(&self) -> Result<Bound> {
        match (self.count, self.seconds) {
            (Some(count), _) => Ok(Bound::Count(count)),
            (None, seconds) => {
                let seconds = seconds.unwrap_or(5.0);
                ensure!(seconds > 0.0, "--seconds: expected more than 0, found {seconds}");
                let time = Duration::try_from_secs_f64(seconds).context("--seconds")?;
                Ok(Bound::Time(time))
            }
        }
    }
}

/// Where a work keeps its files.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceOptions {
    /// A directory on the disk to measure. What is made there is deleted afterwards. Default: the working directory.
    #[arg(long, default_value = ".")]
    pub(super) dir: PathBuf,
    /// Keep what was made, and say where it is.
    #[arg(long)]
    pub(super) keep: bool,
    /// Bytes of a log file (mappedFileSizeCommitLog).
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    pub(super) log_file_size: u64,
}

/// What is done with the figures.
#[derive(Debug, Clone, Args)]
pub(super) struct OutputOptions {
    /// What the figures are held against: `limit`, `java`, or the address of a broker.
    #[arg(long, value_name = "limit|java|ADDR", default_value = "limit")]
    pub(super) against: Against,
    /// Write the report as JSON to this file; `-` is standard output, instead of the table.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl OutputOptions {
    /// For works inside this process, which have the limits beside them and nothing else.
    ///
    /// # Errors
    ///
    /// Something else was asked for.
    pub(super) fn only_limits(&self) -> Result<()> {
        match &self.against {
            Against::Limit => Ok(()),
            Against::Java => {
                bail!("--against java: this work runs inside one process; `cargo xtask bench-java` compares")
            }
            Against::Address(address) => {
                bail!("--against {address}: this work runs inside one process; it asks no broker")
            }
        }
    }

    /// Prints the report, and writes it to the file if one was named.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        let Some(path) = &self.json else {
            print_line(report.table());
            return Ok(());
        };
        let text = serde_json::to_string_pretty(report).context("cannot make JSON of the report")?;
        if path.as_os_str() == "-" {
            print_line(text);
            return Ok(());
        }
        print_line(report.table());
        std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
    }
}
