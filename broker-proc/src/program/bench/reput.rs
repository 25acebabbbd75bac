//! `stratamq bench reput`.

use super::fill::{End, fill_by_process};
use super::limits;
use super::machine::Machine;
use super::open::open_by_process;
use super::process_usage::cpu_time;
use super::recover::StoreArguments;
use super::report::{Figure, Report};
use super::scratch_directory::ScratchDirectory;
use super::workload::Tally;
use crate::program::progress::Progress;
use anyhow::Result;
use std::time::Instant;
use store_core::Env;
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::rebuild::{RebuildOptions, rebuild};

pub(super) fn run(arguments: &StoreArguments) -> Result<Report> {
    arguments.output.only_limits()?;
    let env = Env::os();
    let scratch = ScratchDirectory::new(&arguments.place)?;
    let mut report = Report::new("reput", Machine::here(scratch.path()));
    let shape @ (count, size, queues) = arguments.shape();
    report.setting("size", size);
    report.setting("count", count);
    let (root, log_file_size) = (scratch.join("store"), arguments.place.log_file_size);
    fill_by_process(&root, shape, log_file_size, End::Stop)?;
    let read = limits::read_and_crc(&env, &root)?.as_secs_f64();

    let store = StoreInspection::open(&env, &root, &InspectOptions::default())?;
    let mut progress = Progress::new(Some(store.log_bytes()?), "bytes of the log");
    let (began, cpu_before) = (Instant::now(), cpu_time());
    let rebuilt = rebuild(&store, &RebuildOptions::default(), &mut |done| {
        progress.add(done.saturating_sub(progress.count()));
    })?;
    let (took, cpu) = (began.elapsed().as_secs_f64(), cpu_time() - cpu_before);
    progress.finish("rebuilt from");

    report.check("records read", count, rebuilt.records);
    report.check("units put", count, rebuilt.units);
    report.check("records indexed", count, rebuilt.indexed);
    report.check("queues built", u64::from(queues).min(count), rebuilt.queues);
    let opened = open_by_process(&root, (size, queues), log_file_size, true)?;
    let (expected, found) = (Tally::of_threads(&[count]), opened.tally.unwrap_or_default());
    report.check("messages read back", expected.count, found.count);
    report.check("checksum of their numbers", expected.checksum(), found.checksum());
    report.figure(
        Figure::new("queues and index from the log", took, "s").with_limit("read + CRC32 of the log", read),
    );
    let messages = count as f64;
    report.figure(
        Figure::new("rebuild", messages / took, "messages/s")
            .with_limit("read + CRC32 of the log", messages / read),
    );
    report.figure(Figure::new("CPU per message", cpu.as_secs_f64() * 1e6 / messages, "us"));
    Ok(report)
}
