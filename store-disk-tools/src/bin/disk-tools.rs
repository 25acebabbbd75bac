//! `disk-tools`: looks at files and disks without knowing any format.
//!
//! The programs that know RocketMQ's formats are at the other end of the workspace (`stratamq store …`).

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use store_disk_tools::inspect::{Fields, Report, ReportFormat};
use store_disk_tools::probe::{ProbeOptions, probe, probe_file};
use store_disk_tools::residency::{Residency, residency};
use store_disk_tools::{Env, directory_bytes, sparse_archive, used_percent};

/// Looks at files and disks without knowing any format.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bytes below a directory and the space of its file system.
    Usage {
        /// Directory to look at.
        directory: PathBuf,
    },
    /// Share of each file that is in the page cache; reads nothing.
    Residency {
        /// File or directory to look at.
        path: PathBuf,
        /// Print JSON, one object per line; numbers of 64 bits are text.
        #[arg(long)]
        json: bool,
    },
    /// What the disk below a directory can do: writes and deletes one file there.
    Probe {
        /// Directory on the disk.
        directory: PathBuf,
        /// Bytes to write in a row.
        #[arg(long, default_value_t = ProbeOptions::default().bytes)]
        bytes: u64,
        /// Small writes to sync one by one.
        #[arg(long, default_value_t = ProbeOptions::default().syncs)]
        syncs: u32,
        /// Print JSON; numbers of 64 bits are text.
        #[arg(long)]
        json: bool,
        /// Write nothing, and tell what would be written.
        #[arg(long)]
        dry_run: bool,
    },
    /// Puts a directory of pre-sized files into one small file (zeros are left out).
    Pack {
        /// Directory to pack.
        directory: PathBuf,
        /// File to write.
        archive: PathBuf,
    },
    /// Takes such a file apart again.
    Unpack {
        /// File to read.
        archive: PathBuf,
        /// Directory to write below.
        directory: PathBuf,
        /// Only the paths that begin so.
        #[arg(long, default_value = "")]
        prefix: String,
    },
}

fn main() -> Result<()> {
    let env = Env::os();
    match Arguments::parse().command {
        Command::Usage { directory } => {
            let bytes = directory_bytes(env.disk(), &directory).context("cannot add up the files")?;
            let space = env.disk().space(&directory)?;
            println!("files      {bytes} B");
            println!(
                "disk       {} B, {} B available, {} % used",
                space.total,
                space.available,
                used_percent(space)
            );
        }
        Command::Residency { path, json } => print_residency(&env, &path, json)?,
        Command::Probe { directory, bytes, syncs, json, dry_run } => {
            let file = probe_file(&directory);
            let would = if dry_run { "would write and delete" } else { "writing and deleting" };
            eprintln!("{would} {bytes} B and {syncs} synced pages twice in {}", file.display());
            if !dry_run {
                let fields = probe(&env, &directory, ProbeOptions { bytes, syncs })?;
                report(json).block(&fields)?;
            }
        }
        Command::Pack { directory, archive } => {
            print_summary(sparse_archive::pack(env.disk(), &directory, &archive)?);
        }
        Command::Unpack { archive, directory, prefix } => {
            print_summary(sparse_archive::unpack(env.disk(), &archive, &prefix, &directory)?);
        }
    }
    Ok(())
}

fn report(json: bool) -> Report<io::StdoutLock<'static>> {
    Report::new(io::stdout().lock(), if json { ReportFormat::Json } else { ReportFormat::Text })
}

fn print_residency(env: &Env, path: &Path, json: bool) -> Result<()> {
    let mut report = report(json);
    let mut written = Ok(());
    let mut total = Residency { bytes: 0, resident: Some(0) };
    let mut print = |name: &str, file: Residency| {
        let known = |number: Option<u64>| number.map_or("unknown".to_owned(), |number| number.to_string());
        let mut fields = Fields::new().with("path", name).with("bytes", file.bytes);
        if let (Some(resident), Some(percent)) = (file.resident, file.percent()) {
            fields.push("resident", resident);
            fields.push("percent", percent as u32);
        }
        let row =
            format!("{:>3} % {:>14} {:>14}  {name}", known(file.percent()), known(file.resident), file.bytes);
        report.row(&row, &fields)
    };
    let _ = residency(env.disk(), path, &mut |path, file| {
        total = total.and(file);
        written = print(&path.display().to_string(), file);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    Ok(print("total", total)?)
}

fn print_summary(summary: sparse_archive::Summary) {
    println!("{} files, {} B, packed {} B", summary.files, summary.bytes, summary.packed);
}
