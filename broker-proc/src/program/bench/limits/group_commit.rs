use crate::program::bench::histogram::Latencies;
use anyhow::{Result, anyhow};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use store_core::{DiskFile, Env, OpenMode};

/// Bytes reserved at a time ahead of the writes.
const RESERVED_AT_ONCE: u64 = 64 << 20;

/// What the raw group commit did.
#[derive(Debug)]
pub(in super::super) struct GroupCommitLimit {
    pub(in super::super) records_per_second: f64,
    pub(in super::super) latencies: Latencies,
}

/// What those who append and the one who writes share.
#[derive(Default)]
struct State {
    /// Bytes of the log handed over and not written yet.
    pending: Vec<u8>,
    /// Bytes handed over.
    end: u64,
    /// Bytes on disk.
    durable: u64,
    failed: bool,
    /// Threads that still append.
    appending: u32,
}

struct Log {
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Group commit and nothing else: `threads` threads, each with up to `window` records under way, hand records of
/// `record_len` bytes to one thread, which writes whatever has arrived to a file with reserved blocks and syncs it.
///
/// # Errors
///
/// Whatever the disk reports.
pub(in super::super) fn group_commit(
    env: &Env,
    dir: &Path,
    record_len: usize,
    (threads, window): (u32, u32),
    time: Duration,
) -> Result<GroupCommitLimit> {
    let path = dir.join("group-commit-limit");
    let file = env.disk().open(&path, OpenMode::CreateNew)?;
    let state = State { appending: threads, ..State::default() };
    let log = Log { state: Mutex::new(state), work: Condvar::new(), done: Condvar::new() };
    let record = vec![7_u8; record_len];
    let began = Instant::now();
    let (written, latencies) = std::thread::scope(|scope| {
        let appenders: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| append_until(&log, &record, window as usize, began + time)))
            .collect();
        let written = write_all(&log, &*file);
        let mut all = Latencies::new();
        for appender in appenders {
            let latencies = appender.join().map_err(|_| anyhow!("a thread of the raw group commit panicked"));
            match latencies {
                Ok(latencies) => all.add(&latencies),
                Err(error) => return (Err(error), all),
            }
        }
        (written, all)
    });
    let took = began.elapsed();
    env.disk().remove_file(&path)?;
    written?;
    Ok(GroupCommitLimit { records_per_second: latencies.count() as f64 / took.as_secs_f64(), latencies })
}

/// Appends with at most `window` records under way; ends when time is up and all of them are durable.
fn append_until(log: &Log, record: &[u8], window: usize, end: Instant) -> Latencies {
    let mut latencies = Latencies::new();
    let mut waiting: VecDeque<(u64, Instant)> = VecDeque::with_capacity(window);
    let mut open = true;
    while open || !waiting.is_empty() {
        let began = Instant::now();
        open = began < end;
        let mut state = log.lock();
        if open && waiting.len() < window {
            state.pending.extend_from_slice(record);
            state.end += record.len() as u64;
            waiting.push_back((state.end, began));
            if state.pending.len() == record.len() {
                log.work.notify_one();
            }
            if waiting.len() < window {
                continue;
            }
        }
        let Some((position, _)) = waiting.front().copied() else { continue };
        while state.durable < position && !state.failed {
            state = log.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (durable, failed) = (state.durable, state.failed);
        drop(state);
        let now = Instant::now();
        while let Some((position, began)) =
            waiting.front().copied().filter(|first| first.0 <= durable || failed)
        {
            debug_assert!(position > 0);
            latencies.record(now.duration_since(began));
            waiting.pop_front();
        }
        open &= !failed;
    }
    log.lock().appending -= 1;
    log.work.notify_one();
    latencies
}

/// Writes and syncs what has arrived, again and again, until nobody appends any more.
fn write_all(log: &Log, file: &dyn DiskFile) -> Result<()> {
    let (mut bytes, mut at, mut reserved) = (Vec::new(), 0_u64, 0_u64);
    loop {
        let mut state = log.lock();
        while state.pending.is_empty() && state.appending > 0 {
            state = log.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.pending.is_empty() {
            return Ok(());
        }
        std::mem::swap(&mut state.pending, &mut bytes);
        drop(state);
        let written = write_group(file, &bytes, at, &mut reserved);
        at += bytes.len() as u64;
        bytes.clear();
        let mut state = log.lock();
        state.durable = at;
        state.failed = written.is_err();
        drop(state);
        log.done.notify_all();
        written?;
    }
}

fn write_group(file: &dyn DiskFile, bytes: &[u8], at: u64, reserved: &mut u64) -> Result<()> {
    if at + bytes.len() as u64 > *reserved {
        let more = RESERVED_AT_ONCE.max(bytes.len() as u64);
        // Without reserved blocks the file just grows.
        let _ = file.allocate(*reserved, more);
        *reserved += more;
    }
    file.write_all_at(bytes, at)?;
    file.sync_data()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_answered() {
        let dir = tempfile::tempdir().unwrap();
        for (threads, window) in [(1, 1), (3, 1), (2, 8)] {
            let time = Duration::from_millis(30);
            let limit = group_commit(&Env::os(), dir.path(), 100, (threads, window), time).unwrap();
            assert!(limit.latencies.count() >= u64::from(threads));
            assert!(limit.records_per_second > 0.0);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }
}
