//! `stratamq store export`.

use super::dump::Filter;
use super::scan_progress::ScanProgress;
use super::{Outcome, Target};
use crate::program::standard_streams::tell;
use anyhow::Result;
use clap::Args;
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use store_core::Env;
use store_core::exchange::{MessageLine, export};

/// Arguments of `stratamq store export`.
#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    filter: Filter,
    /// Write bodies that are UTF-8 as text; default: all as base64.
    #[arg(long)]
    text: bool,
}

pub(super) fn run(arguments: &ExportArguments) -> Result<Outcome> {
    let store = arguments.target.store(&Env::os())?;
    let mut progress = ScanProgress::new(store.log_bytes()?);
    let bar = progress.bar();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut left = arguments.filter.limit.unwrap_or(u64::MAX);
    let mut written = Ok(());
    let selection = arguments.filter.selection();
    let report = export(&store, &selection, &mut |done| progress.set(done), &mut |phy_offset, view| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        let line = MessageLine::new(phy_offset, view, arguments.text);
        written = bar.suspend(|| {
            serde_json::to_writer(&mut output, &line)?;
            output.write_all(b"\n")
        });
        if left == 0 || written.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.finish();
    written?;
    output.flush()?;
    let report = report?;
    tell(report.fields());
    Ok(if report.damages == 0 { Outcome::Good } else { Outcome::Bad })
}
