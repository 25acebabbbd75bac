//! `disk-tools`: looks at files and disks without knowing any format.
//!
//! The programs that know RocketMQ's formats are at the other end of the workspace (`stratamq store …`).

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
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
        Command::Pack { directory, archive } => {
            print_summary(sparse_archive::pack(env.disk(), &directory, &archive)?);
        }
        Command::Unpack { archive, directory, prefix } => {
            print_summary(sparse_archive::unpack(env.disk(), &archive, &prefix, &directory)?);
        }
    }
    Ok(())
}

fn print_summary(summary: sparse_archive::Summary) {
    println!("{} files, {} B, packed {} B", summary.files, summary.bytes, summary.packed);
}
