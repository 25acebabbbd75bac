//! What the machine allows, measured on the same disk in the same run.

mod group_commit;

pub(super) use group_commit::group_commit;

use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};
use store_core::copy_limit::{Pages, copy_limit};
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::{Env, OpenMode};

/// Bytes of one read call.
const READ_AT_ONCE: usize = 256 << 10;

/// Records per second that can be copied into a mapped file.
///
/// # Errors
///
/// Whatever the disk reports.
pub(super) fn copies(env: &Env, dir: &Path, record_len: usize, bytes: u64, pages: Pages) -> Result<f64> {
    let bytes = usize::try_from(bytes)?.max(record_len);
    let limit = copy_limit(env, &dir.join("copy-limit"), record_len, bytes, pages)?;
    Ok(limit.records as f64 / limit.took.as_secs_f64())
}

/// Records per second that can be written and made durable (`fdatasync`) one by one.
///
/// # Errors
///
/// Whatever the disk reports.
pub(super) fn synced_writes(env: &Env, dir: &Path, record_len: usize, time: Duration) -> Result<f64> {
    let path = dir.join("sync-limit");
    let file = env.disk().open(&path, OpenMode::CreateNew)?;
    let record = vec![7; record_len];
    let began = env.clock().monotonic();
    let mut records = 0_u64;
    let took = loop {
        file.write_all_at(&record, records * record_len as u64)?;
        file.sync_data()?;
        records += 1;
        let took = env.clock().monotonic().saturating_sub(began);
        if took >= time {
            break took;
        }
    };
    env.disk().remove_file(&path)?;
    Ok(records as f64 / took.as_secs_f64())
}

/// Time of reading the log of a store that is not in use once, as far as it is written, with one CRC32 over it; it is read
/// once before, so that it is in the page cache as far as it fits.
///
/// # Errors
///
/// Whatever the disk reports.
pub(super) fn read_and_crc(env: &Env, root: &Path) -> Result<Duration> {
    let store = StoreInspection::open(env, root, &InspectOptions::default())?;
    let (log, bytes) = (store.paths().commit_log().to_owned(), store.log_bytes()?);
    read_files(env, &log, bytes)?;
    let began = env.clock().monotonic();
    read_files(env, &log, bytes)?;
    Ok(env.clock().monotonic().saturating_sub(began))
}

/// Reads the first `bytes` of the files of a directory, taken as one.
fn read_files(env: &Env, directory: &Path, mut bytes: u64) -> Result<u32> {
    let mut buf = vec![0; READ_AT_ONCE];
    let mut crc = crc32fast::Hasher::new();
    for entry in env.disk().read_dir(directory)? {
        let file = env.disk().open(&directory.join(&entry.name), OpenMode::Read)?;
        let end = entry.len.min(bytes);
        for at in (0..end).step_by(READ_AT_ONCE) {
            let part =
                &mut buf[..usize::try_from(end - at).map_or(READ_AT_ONCE, |rest| rest.min(READ_AT_ONCE))];
            file.read_exact_at(part, at)?;
            crc.update(part);
        }
        bytes -= end;
    }
    Ok(std::hint::black_box(crc.finalize()))
}

/// Bytes per second that one thread can read from memory, over a stretch of `bytes`, at most 1 GiB.
///
/// # Errors
///
/// The stretch is more than memory can address.
pub(super) fn memory_read(bytes: u64) -> Result<f64> {
    let memory = vec![7_u8; usize::try_from(bytes.clamp(1 << 20, 1 << 30))?];
    let began = Instant::now();
    std::hint::black_box(touch(std::hint::black_box(&memory)));
    Ok(memory.len() as f64 / began.elapsed().as_secs_f64())
}

/// Reads every byte, as fast as memory gives them.
pub(super) fn touch(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8);
    let rest = words.remainder();
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_be_bytes);
    let sum = words.fold(0_u64, |sum, bytes| sum.wrapping_add(word(bytes)));
    rest.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)))
}
