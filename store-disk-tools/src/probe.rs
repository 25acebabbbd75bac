//! What the disk below a directory can do for a store: asked by doing it, in one file that is deleted again.

use crate::env::{Disk, DiskFile, Env, Mappable, OpenMode};
use crate::error::Result;
use crate::inspect::Fields;
use crate::usage::used_percent;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of one small write, as a database or a log's tail has them.
const PAGE: u64 = 4096;
/// Bytes written in one go when throughput is measured.
const STEP: u64 = 1 << 20;

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Bytes written in a row. Default 64 MiB.
    pub bytes: u64,
    /// Small writes that are synced one by one. Default 64.
    pub syncs: u32,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self { bytes: 64 << 20, syncs: 64 }
    }
}

/// The file that [`probe`] makes and deletes.
pub fn probe_file(directory: &Path) -> PathBuf {
    directory.join(format!(".disk-tools-probe-{}", std::process::id()))
}

/// Probes the file system of `directory`: space, reserving of blocks, speed of writing in a row, time of a sync of one
/// page (where blocks are there already, and at the end of a growing file), time of a rename that is made durable,
/// record locks, direct access. Times are in microseconds. Writes and deletes [`probe_file`].
///
/// # Errors
///
/// Whatever the disk reports; the file is deleted all the same.
pub fn probe(env: &Env, directory: &Path, options: ProbeOptions) -> Result<Fields> {
    let disk = env.disk();
    let space = disk.space(directory)?;
    let mut fields = Fields::new()
        .with("directory", directory.display().to_string())
        .with("total", space.total)
        .with("available", space.available)
        .with("usedPercent", used_percent(space));
    let path = probe_file(directory);
    let measured = measure(env, &path, options, &mut fields);
    let removed = disk.remove_file(&path);
    measured?;
    removed?;
    Ok(fields)
}

fn measure(env: &Env, path: &Path, options: ProbeOptions, fields: &mut Fields) -> Result<()> {
    let file = env.disk().open(path, OpenMode::CreateNew)?;
    if let Some(block) = preferred_block(&*file) {
        fields.push("preferredBlock", block);
    }
    let reserved = match file.allocate(0, options.bytes) {
        Ok(()) => true,
        Err(error) if error.io().kind() == io::ErrorKind::Unsupported => false,
        Err(error) => return Err(error),
    };
    fields.push("reservesBlocks", reserved);
    if reserved {
        fields.push("reservedReadsAsHole", file.next_data(0)?.is_none());
    }
    let took = time(env, || write_in_a_row(&*file, options.bytes))?;
    fields.push("writeMiBPerSecond", per_second(options.bytes, took) >> 20);
    let took = time(env, || read_in_a_row(&*file, options.bytes))?;
    fields.push("readCachedMiBPerSecond", per_second(options.bytes, took) >> 20);
    fields.push("syncOverwrite", sync_times(env, &*file, options, 0)?);
    fields.push("syncAppend", sync_times(env, &*file, options, options.bytes)?);
    fields.push("renameDurableMicros", micros(time(env, || rename_durably(env.disk(), path))?));
    fields.push("recordLocks", file.try_lock_first_byte()?);
    match env.disk().direct_alignment(path)? {
        Some(alignment) => fields.push("directAlignment", alignment),
        None => fields.push("directAlignment", "no direct access"),
    }
    Ok(())
}

fn preferred_block(file: &dyn DiskFile) -> Option<u64> {
    #[allow(irrefutable_let_patterns, reason = "without the simulated disk one pattern is left")]
    let Mappable::Os(file) = file.mappable() else { return None };
    let metadata = file.metadata().ok()?;
    Some(std::os::unix::fs::MetadataExt::blksize(&metadata))
}

fn time(env: &Env, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let began = env.clock().monotonic();
    work()?;
    Ok(env.clock().monotonic().saturating_sub(began))
}

fn write_in_a_row(file: &dyn DiskFile, bytes: u64) -> Result<()> {
    // Not zeros, which some disks and file systems do not write.
    let step: Vec<u8> = (0..STEP).map(|at| (at * 7 % 251) as u8).collect();
    let mut at = 0;
    while at < bytes {
        let part = STEP.min(bytes - at);
        file.write_all_at(&step[..part as usize], at)?;
        at += part;
    }
    file.sync_data()
}

fn read_in_a_row(file: &dyn DiskFile, bytes: u64) -> Result<()> {
    let mut step = vec![0; STEP as usize];
    let mut at = 0;
    while at < bytes {
        let part = STEP.min(bytes - at);
        file.read_exact_at(&mut step[..part as usize], at)?;
        at += part;
    }
    Ok(())
}

/// Least, middle and greatest time of a page written from `from` on and synced.
fn sync_times(env: &Env, file: &dyn DiskFile, options: ProbeOptions, from: u64) -> Result<Fields> {
    let mut times = Vec::new();
    for number in 0..u64::from(options.syncs.max(1)) {
        let at = from + number * PAGE;
        let took = time(env, || {
            file.write_all_at(&[number as u8 | 1; PAGE as usize], at)?;
            file.sync_data()
        })?;
        times.push(micros(took));
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    Ok(Fields::new()
        .with("minMicros", at(0))
        .with("medianMicros", at(50))
        .with("p99Micros", at(99))
        .with("maxMicros", at(100)))
}

/// There and back, so that the file keeps its name.
fn rename_durably(disk: &dyn Disk, path: &Path) -> Result<()> {
    let other = path.with_extension("renamed");
    let directory = path.parent().unwrap_or(path);
    disk.rename(path, &other)?;
    let synced = disk.sync_dir(directory);
    disk.rename(&other, path)?;
    synced
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn per_second(bytes: u64, took: Duration) -> u64 {
    (bytes as f64 / took.as_secs_f64().max(1e-9)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::FieldValue;

    #[test]
    fn tells_what_a_disk_can_do_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let options = ProbeOptions { bytes: 3 << 20, syncs: 3 };
        let fields = probe(&Env::os(), dir.path(), options).unwrap();
        assert_eq!(fields.get("recordLocks"), Some(&FieldValue::Flag(true)));
        let Some(FieldValue::Fields(times)) = fields.get("syncAppend") else { panic!("{fields}") };
        let number = |name: &str| match times.get(name) {
            Some(FieldValue::Wide(number)) => *number,
            other => panic!("{name}: {other:?}"),
        };
        assert!(
            number("minMicros") <= number("medianMicros") && number("medianMicros") <= number("maxMicros")
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing");
        let error = probe(&Env::os(), &missing, ProbeOptions::default()).unwrap_err().to_string();
        assert!(error.contains("missing"), "{error}");
    }
}
