//! Small file systems of a check's own, on a file by a loop device or in memory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::Context;
use super::environment::{has_program, require_program};
use crate::harness::process;
use crate::harness::report::NotRun;

/// No call of a system program takes as long.
const DEADLINE: Duration = Duration::from_secs(60);
/// How often unmounting is tried, and the rest between: the kernel may still hold files of a process that just ended.
const UNMOUNTS: usize = 50;
const REST: Duration = Duration::from_millis(100);
/// A file that takes space away.
const FILLER: &str = "filler";

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ext4,
    Xfs,
    Tmpfs,
}

impl Kind {
    /// Megabytes: as small as the store's files allow, or as `mkfs` does.
    fn megabytes(self) -> u64 {
        match self {
            Kind::Xfs => 320,
            Kind::Ext4 | Kind::Tmpfs => 64,
        }
    }
}

/// How a file system is shut down under those who use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutDown {
    /// Everything is written first, then nothing more.
    Frozen,
    /// The journal is written first.
    JournalFlushed,
    /// At once.
    AtOnce,
}

/// A mounted file system; unmounted when dropped.
pub struct FileSystem {
    kind: Kind,
    directory: PathBuf,
    /// What is mounted by a loop device; none for tmpfs.
    image: Option<PathBuf>,
    mounted: bool,
}

impl FileSystem {
    /// Makes and mounts one below a directory.
    ///
    /// # Errors
    /// [`NotRun`] where that is not possible.
    pub fn make(context: &Context, directory: &Path, kind: Kind) -> Result<Self> {
        context.require_mounts()?;
        let image = match kind {
            Kind::Tmpfs => None,
            Kind::Ext4 | Kind::Xfs => Some(make_image(directory, kind)?),
        };
        FileSystem::mount_first(directory, kind, image)
    }

    /// Mounts one that is on a file already.
    ///
    /// # Errors
    /// [`NotRun`] where that is not possible.
    pub fn mount_first(directory: &Path, kind: Kind, image: Option<PathBuf>) -> Result<Self> {
        let mut made = FileSystem { kind, directory: directory.to_owned(), image, mounted: false };
        fs::create_dir_all(made.path())?;
        made.mount().map_err(|error| NotRun(format!("cannot mount {kind:?}: {error:#}")))?;
        Ok(made)
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.directory.join("mnt")
    }

    /// # Errors
    /// When the kernel does not want it.
    pub fn mount(&mut self) -> Result<()> {
        let mut command = Command::new("mount");
        match &self.image {
            Some(image) => command.args(["-o", "loop"]).arg(image),
            None => {
                let size = format!("size={}m", self.kind.megabytes());
                command.args(["-t", "tmpfs", "-o", &size, "xtask-integ"])
            }
        };
        self.run(command.arg(self.path()))?;
        self.mounted = true;
        Ok(())
    }

    /// # Errors
    /// When it is still in use after a while.
    pub fn unmount(&mut self) -> Result<()> {
        let mut last = None;
        for _ in 0..UNMOUNTS {
            match self.run(Command::new("umount").arg(self.path())) {
                Ok(()) => {
                    self.mounted = false;
                    return Ok(());
                }
                Err(error) => last = Some(error),
            }
            thread::sleep(REST);
        }
        Err(last.context("never tried")?)
    }

    /// Unmounts and mounts it: what the kernel kept in memory is gone.
    ///
    /// # Errors
    /// When the kernel refuses either.
    pub fn mount_again(&mut self) -> Result<()> {
        self.unmount()?;
        self.mount()
    }

    /// Mounts it for reading only; nobody may use it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn mount_read_only(&mut self) -> Result<()> {
        self.run(Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()))
    }

    /// Lets an ext4 take a failure and turn read-only under those who use it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn turn_read_only(&self) -> Result<()> {
        self.run(Command::new("mount").args(["-o", "remount,abort"]).arg(self.path()))
    }

    /// Stops all writing, as a power cut does. Needs mounting again.
    ///
    /// # Errors
    /// [`NotRun`] without a program for it.
    pub fn shut_down(&self, how: ShutDown) -> Result<()> {
        // The quicker program first: what is acknowledged while it starts does not count.
        let command = match how {
            ShutDown::Frozen => None,
            ShutDown::JournalFlushed => Some("shutdown -f"),
            ShutDown::AtOnce => Some("shutdown"),
        };
        if let Some(command) = command.filter(|_| has_program("xfs_io")) {
            return self.run(Command::new("xfs_io").args(["-x", "-c", command]).arg(self.path()));
        }
        if !has_program("python3") {
            let needed = if command.is_some() { "one of the programs xfs_io and" } else { "the program" };
            bail!(NotRun(format!("needs {needed} python3")));
        }
        let flag = match how {
            ShutDown::Frozen => "0",
            ShutDown::JournalFlushed => "1",
            ShutDown::AtOnce => "2",
        };
        // FS_IOC_SHUTDOWN of Linux.
        let script = "import fcntl, os, struct, sys\n\
                      mount = os.open(sys.argv[1], os.O_RDONLY)\n\
                      fcntl.ioctl(mount, 0x8004587D, struct.pack('I', int(sys.argv[2])))\n";
        self.run(Command::new("python3").args(["-c", script]).arg(self.path()).arg(flag))
    }

    /// Takes space away until only so much is left.
    ///
    /// # Errors
    /// When the file that takes it cannot be made.
    pub fn fill(&self, bytes_left: u64) -> Result<()> {
        let path = self.path().join(FILLER);
        let filler = File::options().create(true).append(true).open(&path);
        let filler = filler.with_context(|| format!("cannot open {}", path.display()))?;
        // What is free may not all be had, and what is had also needs space to note it.
        for share in [1, 2, 4, 8, 16] {
            let too_much = self.available()?.saturating_sub(bytes_left) / share;
            if too_much > 0 {
                let end = filler.metadata()?.len();
                let _ = fallocate(&filler, FallocateFlags::empty(), end, too_much);
            }
        }
        Ok(())
    }

    /// Gives it back.
    ///
    /// # Errors
    /// When the file cannot be deleted.
    pub fn make_room(&self) -> Result<()> {
        fs::remove_file(self.path().join(FILLER)).context("cannot delete the file that fills the disk")
    }

    /// Bytes that a user may still take.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn available(&self) -> Result<u64> {
        let state = statvfs(self.path())?;
        Ok(state.f_bavail * state.f_frsize)
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        process::run(command, &self.directory.join("system.log"), DEADLINE)
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        if self.mounted && self.unmount().is_err() {
            // It goes as soon as nobody uses it.
            let _ = self.run(Command::new("umount").arg("-l").arg(self.path()));
        }
    }
}

/// An empty file system on a sparse file.
///
/// # Errors
/// [`NotRun`] when the program that makes it is missing.
pub fn make_image(directory: &Path, kind: Kind) -> Result<PathBuf> {
    let program = match kind {
        Kind::Xfs => "mkfs.xfs",
        Kind::Ext4 | Kind::Tmpfs => "mkfs.ext4",
    };
    require_program(program)?;
    let image = directory.join("disk.img");
    let file = File::create(&image).with_context(|| format!("cannot make {}", image.display()))?;
    file.set_len(kind.megabytes() << 20)?;
    let mut command = Command::new(program);
    if kind == Kind::Ext4 {
        // All of it now, so that nothing is written behind a check's back; no blocks for root alone.
        let options = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";
        command.args(["-F", "-m", "0", "-E", options]);
    }
    process::run(command.arg("-q").arg(&image), &directory.join("system.log"), DEADLINE)?;
    Ok(image)
}
