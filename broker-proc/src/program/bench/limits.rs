//! What the machine allows, measured on the same disk in the same run.

mod group_commit;

pub(super) use group_commit::group_commit;

use anyhow::Result;
use std::path::Path;
use std::time::Duration;
use store_core::copy_limit::{Pages, copy_limit};
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::{Env, OpenMode};

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

/// Time of reading all files of a store that is not in use once, with one CRC32 over them; they are read once before, so
/// that they are in the page cache as far as they fit.
///
/// # Errors
///
/// Whatever the disk reports.
#[allow(dead_code, reason = "for works that read stores")]
pub(super) fn read_and_crc(env: &Env, root: &Path) -> Result<Duration> {
    let store = StoreInspection::open(env, root, &InspectOptions::default())?;
    store.plain_read()?;
    let began = env.clock().monotonic();
    store.plain_read()?;
    Ok(env.clock().monotonic().saturating_sub(began))
}
