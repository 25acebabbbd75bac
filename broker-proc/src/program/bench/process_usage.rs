//! What a process and its disk have used, as the operating system counts it (Linux; elsewhere little is told).

use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a sector in the counters of block devices, whatever the device's own sectors are.
const SECTOR: u64 = 512;

/// CPU time of all threads of this process, user and system, in nanoseconds' precision.
pub(super) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// CPU time of the threads of a process up to some moment, in nanoseconds' precision.
#[derive(Debug, Clone)]
pub(super) struct ProcessCpu {
    pid: u32,
    /// Nanoseconds of each thread.
    threads: HashMap<u32, u64>,
}

impl ProcessCpu {
    /// Up to now; `None` when it cannot be told.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let mut threads = HashMap::new();
        for entry in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
            let thread = entry.file_name().to_str()?.parse().ok()?;
            // A thread may end meanwhile.
            let Ok(text) = fs::read_to_string(entry.path().join("schedstat")) else { continue };
            threads.insert(thread, parse_schedstat(&text)?);
        }
        Some(Self { pid, threads })
    }

    /// What the process has used since then. Threads that have ended in between do not count.
    pub(super) fn since(&self) -> Option<Duration> {
        let now = Self::of(self.pid)?;
        let used = |(thread, nanos): (&u32, &u64)| {
            nanos.saturating_sub(self.threads.get(thread).copied().unwrap_or_default())
        };
        Some(Duration::from_nanos(now.threads.iter().map(used).sum()))
    }
}

/// Bytes of a process's memory that belong to no file (`RssAnon`): what it needs besides the mapped store.
pub(super) fn anonymous_memory(pid: u32) -> Option<u64> {
    parse_anonymous(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// Bytes of the pages that this process has made dirty and that have gone or will go to a disk (`write_bytes`): a page that
/// is written to again after it was written back counts again, and so does the whole of a large folio of which a part was
/// written.
pub(super) fn dirtied_bytes() -> Option<u64> {
    parse_dirtied(&fs::read_to_string("/proc/self/io").ok()?)
}

/// The counters of the block device that holds a path.
#[derive(Debug, Clone)]
pub(super) struct DeviceCounters {
    stat: PathBuf,
}

impl DeviceCounters {
    /// Of the device below `path`; `None` when there is none to be seen, as under a network or overlay file system.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let device = fs::metadata(path).ok()?.dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let stat = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/stat"));
        stat.exists().then_some(Self { stat })
    }

    /// Bytes the device was given to write since it is there, by everybody.
    pub(super) fn written_bytes(&self) -> Option<u64> {
        parse_written(&fs::read_to_string(&self.stat).ok()?)
    }
}

/// The first number is the time on a CPU.
fn parse_schedstat(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

fn parse_anonymous(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

fn parse_dirtied(io: &str) -> Option<u64> {
    io.lines().find_map(|line| line.strip_prefix("write_bytes:"))?.trim().parse().ok()
}

fn parse_written(stat: &str) -> Option<u64> {
    let sectors: u64 = stat.split_ascii_whitespace().nth(6)?.parse().ok()?;
    Some(sectors * SECTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_the_kernel_are_read() {
        assert_eq!(parse_schedstat("3000000 17 5\n"), Some(3_000_000));
        assert_eq!(parse_anonymous("Name:\tx\nRssAnon:\t    2048 kB\nRssFile:\t1 kB\n"), Some(2 << 20));
        assert_eq!(parse_written("  10 0 80 5 20 0 16 7 0 9 12"), Some(16 * 512));
        assert_eq!(parse_schedstat(""), None);
        assert_eq!(parse_dirtied("wchar: 1\nwrite_bytes: 4096\ncancelled_write_bytes: 0\n"), Some(4096));
        assert_eq!(parse_anonymous(""), None);
        assert_eq!(parse_written("1 2 3"), None);
    }

    #[test]
    fn this_process_uses_what_it_uses() {
        let before = cpu_time();
        let mut sum = 0_u64;
        while cpu_time() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(cpu_time() > before);
    }
}
