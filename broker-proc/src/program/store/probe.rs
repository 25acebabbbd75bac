//! `stratamq store probe`.

use super::{Outcome, finish};
use crate::program::standard_streams::tell;
use anyhow::{Result, ensure};
use clap::Args;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use store_core::inspect::{Report, ReportFormat};
use store_core::probe::{ProbeOptions, probe, probe_file};
use store_core::{Env, FileKind};

/// Arguments of `stratamq store probe`.
#[derive(Debug, Args)]
pub(super) struct ProbeArguments {
    /// A directory on the disk; a store root will do, also one in use.
    path: PathBuf,
    /// Print JSON; numbers of 64 bits are text.
    #[arg(long)]
    json: bool,
    /// Bytes to write in a row.
    #[arg(long, default_value_t = ProbeOptions::default().bytes)]
    bytes: u64,
    /// Small writes to sync one by one.
    #[arg(long, default_value_t = ProbeOptions::default().syncs)]
    syncs: u32,
    /// Write nothing, and tell what would be written.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &ProbeArguments) -> Result<Outcome> {
    let env = Env::os();
    let ProbeArguments { path, bytes, syncs, .. } = arguments;
    let is_directory = env.disk().stat(path)?.is_some_and(|stat| stat.kind == FileKind::Directory);
    ensure!(is_directory, "{}: expected a directory", path.display());
    let would = if arguments.dry_run { "would write and delete" } else { "writing and deleting" };
    let file = probe_file(path);
    tell(format_args!("{would} {bytes} bytes and 2 x {syncs} synced pages in {}", file.display()));
    if arguments.dry_run {
        return Ok(Outcome::Good);
    }
    let fields = probe(&env, path, ProbeOptions { bytes: *bytes, syncs: *syncs })?;
    let format = if arguments.json { ReportFormat::Json } else { ReportFormat::Text };
    let mut output = Report::new(BufWriter::new(io::stdout().lock()), format);
    output.block(&fields)?;
    finish(output)?;
    Ok(Outcome::Good)
}
