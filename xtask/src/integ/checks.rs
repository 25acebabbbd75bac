//! The checks, one after the other: each has a directory, a store and a broker of its own.

mod full_disk;
mod kill_nine;
mod limits;
mod power_cut;
mod read_only;
mod store_lock;
mod write_error;

use std::path::Path;

use anyhow::Result;

use self::full_disk::Filling;
use self::kill_nine::When;
use super::Context;
use super::broker::Flush;
use super::faulty_disk::Fault;
use super::file_system::{Kind, ShutDown};
use crate::harness::report::{Report, Section};

struct Check {
    name: &'static str,
    /// Its directory below the run directory.
    directory: &'static str,
    /// Whether a quick run has it.
    quick: bool,
    /// Returns a remark for its line.
    run: fn(&Context, &Path) -> Result<String>,
}

const CHECKS: [Check; 24] = [
    Check {
        name: "kill -9 under load, SYNC_FLUSH",
        directory: "kill-sync",
        quick: true,
        run: |context, directory| kill_nine::run(context, directory, Flush::Sync, When::UnderLoad),
    },
    Check {
        name: "kill -9 under load, ASYNC_FLUSH",
        directory: "kill-async",
        quick: true,
        run: |context, directory| kill_nine::run(context, directory, Flush::Async, When::UnderLoad),
    },
    Check {
        name: "kill -9 under load and again during recovery",
        directory: "kill-recovery",
        quick: true,
        run: |context, directory| kill_nine::run(context, directory, Flush::Async, When::AlsoDuringRecovery),
    },
    Check {
        name: "power cut, ext4, journal not flushed",
        directory: "power-ext4",
        quick: true,
        run: |context, directory| power_cut::run(context, directory, Kind::Ext4, ShutDown::AtOnce),
    },
    Check {
        name: "power cut, ext4, journal flushed",
        directory: "power-ext4-journal",
        quick: false,
        run: |context, directory| power_cut::run(context, directory, Kind::Ext4, ShutDown::JournalFlushed),
    },
    Check {
        name: "power cut, ext4, after a freeze",
        directory: "power-ext4-frozen",
        quick: false,
        run: |context, directory| power_cut::run(context, directory, Kind::Ext4, ShutDown::Frozen),
    },
    Check {
        name: "power cut, XFS, journal not flushed",
        directory: "power-xfs",
        quick: true,
        run: |context, directory| power_cut::run(context, directory, Kind::Xfs, ShutDown::AtOnce),
    },
    Check {
        name: "power cut, XFS, journal flushed",
        directory: "power-xfs-journal",
        quick: false,
        run: |context, directory| power_cut::run(context, directory, Kind::Xfs, ShutDown::JournalFlushed),
    },
    Check {
        name: "power cut, XFS, after a freeze",
        directory: "power-xfs-frozen",
        quick: false,
        run: |context, directory| power_cut::run(context, directory, Kind::Xfs, ShutDown::Frozen),
    },
    Check {
        name: "I/O error of one write, later ones succeed",
        directory: "eio-one",
        quick: true,
        run: |context, directory| write_error::run(context, directory, Fault::OneWrite),
    },
    Check {
        name: "I/O error in the middle of a write",
        directory: "eio-half",
        quick: false,
        run: |context, directory| write_error::run(context, directory, Fault::HalfAWrite),
    },
    Check {
        name: "I/O error of all writes",
        directory: "eio-all",
        quick: false,
        run: |context, directory| write_error::run(context, directory, Fault::AllWrites),
    },
    Check {
        name: "full disk, ext4, no space for files",
        directory: "full-ext4",
        quick: true,
        run: |context, directory| full_disk::run(context, directory, Kind::Ext4, Filling::ToTheLastByte),
    },
    Check {
        name: "full disk, XFS, no space for files",
        directory: "full-xfs",
        quick: false,
        run: |context, directory| full_disk::run(context, directory, Kind::Xfs, Filling::ToTheLastByte),
    },
    Check {
        name: "full disk, tmpfs, no space for files",
        directory: "full-tmpfs",
        quick: true,
        run: |context, directory| full_disk::run(context, directory, Kind::Tmpfs, Filling::ToTheLastByte),
    },
    Check {
        name: "full disk, ext4, beyond the warning level",
        directory: "level-ext4",
        quick: false,
        run: |context, directory| full_disk::run(context, directory, Kind::Ext4, Filling::BeyondTheLevel),
    },
    Check {
        name: "full disk, tmpfs, beyond the warning level",
        directory: "level-tmpfs",
        quick: false,
        run: |context, directory| full_disk::run(context, directory, Kind::Tmpfs, Filling::BeyondTheLevel),
    },
    Check {
        name: "ext4 turns read-only under load",
        directory: "turns-read-only",
        quick: true,
        run: read_only::turns_read_only,
    },
    Check {
        name: "start on a read-only file system",
        directory: "read-only-start",
        quick: true,
        run: read_only::start,
    },
    Check {
        name: "start without locked memory (RLIMIT_MEMLOCK 0)",
        directory: "memlock",
        quick: true,
        run: limits::locked_memory,
    },
    Check {
        name: "too few open files to start (RLIMIT_NOFILE)",
        directory: "nofile-start",
        quick: true,
        run: limits::open_files_at_the_start,
    },
    Check {
        name: "too few open files under load (RLIMIT_NOFILE)",
        directory: "nofile-load",
        quick: true,
        run: limits::open_files_under_load,
    },
    Check {
        name: "two processes on one store, and one that only looks",
        directory: "two-processes",
        quick: true,
        run: store_lock::two_processes,
    },
    Check {
        name: "lock file left behind, or not to be opened",
        directory: "lock-file",
        quick: true,
        run: store_lock::lock_file,
    },
];

/// Runs every wanted check.
pub fn run_all(context: &Context, report: &Report) {
    for check in CHECKS.iter().filter(|check| check.quick || !context.quick) {
        let section = Section::new(report, vec![check.name.to_owned()]);
        if !section.is_wanted() {
            continue;
        }
        section.check(check.name, || (check.run)(context, &context.run.scenario(check.directory)?));
        if section.close(Ok(())) && !context.keep {
            context.run.remove_scenario(check.directory);
        }
    }
}
