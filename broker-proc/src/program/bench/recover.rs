//! `stratamq bench recover`.

use super::fill::{End, fill_by_process, messages_of};
use super::limits;
use super::machine::Machine;
use super::open::open_by_process;
use super::options::{OutputOptions, PlaceOptions};
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use super::workload::Tally;
use anyhow::Result;
use clap::Args;
use store_core::Env;

/// Queues of the store.
const QUEUES: u32 = 8;
/// Starts after a stop in order; the median counts.
const CLEAN_STARTS: usize = 3;

/// Arguments of `stratamq bench recover` and `stratamq bench reput`.
#[derive(Debug, Args)]
pub(super) struct StoreArguments {
    /// Bytes of a message's body, at least 8.
    #[arg(long, value_name = "BYTES", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(8..))]
    pub(super) size: u32,
    /// Bytes of the log, about.
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 30)]
    log_size: u64,
    /// How many messages, instead of the log's bytes.
    #[arg(long, conflicts_with = "log_size", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    pub(super) place: PlaceOptions,
    #[command(flatten)]
    pub(super) output: OutputOptions,
}

impl StoreArguments {
    /// Messages, bytes of a body, queues.
    pub(super) fn shape(&self) -> (u64, u32, u32) {
        (self.count.unwrap_or_else(|| messages_of(self.log_size, self.size)), self.size, QUEUES)
    }
}

pub(super) fn run(arguments: &StoreArguments) -> Result<Report> {
    arguments.output.only_limits()?;
    let scratch = ScratchDirectory::new(&arguments.place)?;
    let mut report = Report::new("recover", Machine::here(scratch.path()));
    let shape @ (count, size, queues) = arguments.shape();
    report.setting("size", size);
    report.setting("count", count);
    let (root, log_file_size) = (scratch.join("store"), arguments.place.log_file_size);
    fill_by_process(&root, shape, log_file_size, End::Kill)?;
    let read = limits::read_and_crc(&Env::os(), &root)?.as_secs_f64();

    let killed = open_by_process(&root, (size, queues), log_file_size, false)?;
    report.check("the store knows that it was killed", true, !killed.clean);
    report.figure(
        Figure::new("open after a kill", killed.seconds, "s").with_limit("read + CRC32 of the log", read),
    );
    report.figure(Figure::new("CPU of it", killed.cpu_seconds, "s"));
    let expected = Tally::of_threads(&[count]);
    let mut clean = Vec::new();
    for start in 0..CLEAN_STARTS {
        let check = start == 0;
        let opened = open_by_process(&root, (size, queues), log_file_size, check)?;
        report.check("the store knows that it was stopped", true, opened.clean);
        if let Some(found) = opened.tally {
            report.check("messages read back", expected.count, found.count);
            report.check("checksum of their numbers", expected.checksum(), found.checksum());
        }
        clean.push(opened);
    }
    clean.sort_by(|left, right| left.seconds.total_cmp(&right.seconds));
    let median = &clean[CLEAN_STARTS / 2];
    report.figure(
        Figure::new("open after a stop", median.seconds * 1e3, "ms")
            .with_limit("read + CRC32 of the log", read * 1e3),
    );
    report.figure(Figure::new("CPU of it", median.cpu_seconds * 1e3, "ms"));
    Ok(report)
}
