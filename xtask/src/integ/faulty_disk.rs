//! A disk whose writes fail when they are told to: one file, served by this process (FUSE), for a loop device to sit on.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, WriteFlags,
};

use super::ledger::MARKER;
use crate::harness::process;
use crate::harness::report::NotRun;

/// Name and number of the only file.
const NAME: &str = "disk.img";
const FILE: INodeNo = INodeNo(2);
/// How long the kernel may believe what it was told of the file: nothing ever changes.
const TTL: Duration = Duration::from_secs(3_600);
const DEADLINE: Duration = Duration::from_secs(20);

/// What happens to writes that hold a message's body. Others, such as those of the file system's journal, succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The next one fails and leaves nothing.
    OneWrite,
    /// The next one fails after its first half.
    HalfAWrite,
    /// All fail.
    AllWrites,
}

/// The disk, as long as it is there.
pub struct FaultyDisk {
    state: Arc<State>,
    mount_point: PathBuf,
    log: PathBuf,
    session: Option<BackgroundSession>,
}

struct State {
    content: File,
    length: u64,
    fault: Mutex<Fault>,
    /// When the first write of the present fault failed.
    failed_at: Mutex<Option<Instant>>,
    failures: AtomicUsize,
}

impl FaultyDisk {
    /// Serves the content of a file below `directory`.
    ///
    /// # Errors
    /// [`NotRun`] where FUSE cannot be had.
    pub fn serve(directory: &Path, content: &Path) -> Result<Self> {
        let mount_point = directory.join("fuse");
        fs::create_dir_all(&mount_point)?;
        let file = File::options().read(true).write(true).open(content);
        let file = file.with_context(|| format!("cannot open {}", content.display()))?;
        let state = Arc::new(State {
            length: file.metadata()?.len(),
            content: file,
            fault: Mutex::new(Fault::None),
            failed_at: Mutex::new(None),
            failures: AtomicUsize::new(0),
        });
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("xtask-integ".to_owned())];
        let session = fuser::spawn_mount(Served(Arc::clone(&state)), &mount_point, &config)
            .map_err(|error| NotRun(format!("cannot mount a FUSE file system: {error}")))?;
        Ok(FaultyDisk { state, mount_point, log: directory.join("system.log"), session: Some(session) })
    }

    /// The file to put a loop device on.
    pub fn path(&self) -> PathBuf {
        self.mount_point.join(NAME)
    }

    /// What happens from now on.
    pub fn set(&self, fault: Fault) {
        *lock(&self.state.failed_at) = None;
        *lock(&self.state.fault) = fault;
    }

    /// When the first write failed since [`FaultyDisk::set`].
    pub fn failed_at(&self) -> Option<Instant> {
        *lock(&self.state.failed_at)
    }

    /// How many writes failed in all.
    pub fn failures(&self) -> usize {
        self.state.failures.load(Ordering::Relaxed)
    }
}

impl Drop for FaultyDisk {
    fn drop(&mut self) {
        // The loop device may still hold the file for a moment: the mount goes when it lets go, and the thread with it.
        let mut command = Command::new("umount");
        let _ = process::run(command.arg("-l").arg(&self.mount_point), &self.log, DEADLINE);
        drop(self.session.take());
    }
}

impl State {
    /// How many bytes of a write succeed; none when all do.
    fn cut(&self, data: &[u8]) -> Option<usize> {
        let mut fault = lock(&self.fault);
        if *fault == Fault::None || !data.windows(MARKER.len()).any(|window| window == MARKER) {
            return None;
        }
        lock(&self.failed_at).get_or_insert_with(Instant::now);
        self.failures.fetch_add(1, Ordering::Relaxed);
        match *fault {
            Fault::None => None,
            Fault::AllWrites => Some(0),
            Fault::OneWrite => {
                *fault = Fault::None;
                Some(0)
            }
            Fault::HalfAWrite => {
                *fault = Fault::None;
                // Whole sectors.
                Some(data.len() / 2 / 512 * 512)
            }
        }
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let (kind, perm, size) = if inode == FILE {
            (FileType::RegularFile, 0o600, self.length)
        } else {
            (FileType::Directory, 0o700, 0)
        };
        FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The side that the kernel asks.
struct Served(Arc<State>);

impl Filesystem for Served {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == NAME {
            reply.entry(&TTL, &self.0.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&TTL, &self.0.attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        // Nothing is kept in the page cache: what is read is what is on the disk.
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut data = vec![0; self.0.length.saturating_sub(offset).min(u64::from(size)) as usize];
        match self.0.content.read_exact_at(&mut data, offset) {
            Ok(()) => reply.data(&data),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let cut = self.0.cut(data);
        let written = self.0.content.write_all_at(&data[..cut.unwrap_or(data.len())], offset);
        match (written, cut) {
            (Err(error), _) => reply.error(error.into()),
            (Ok(()), Some(_)) => reply.error(Errno::EIO),
            (Ok(()), None) => reply.written(data.len() as u32),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}
