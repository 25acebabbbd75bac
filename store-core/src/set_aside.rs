//! Copies of what is cut from the log, in a directory of the store root that Apache ignores (`stratamq.cut`).
//!
//! One file per log file, named by the position of its first byte in the log and the time, `{20 digits}-{17 digits}`.
//! Zeros at the end are left out. Nothing ever deletes them; whoever does not need them may.

use crate::error::StoreError;
use crate::store_paths::StorePaths;
use std::path::PathBuf;
use store_logic::inspect::{FieldValue, Fields, FileSequence, last_data};
use store_logic::{DiskError, Env, OpenMode, directory_bytes, file_name};

/// Bytes copied at a time.
const STEP: u64 = 1 << 20;

/// How much may be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The tail that every start after a crash may have to cut: the first 64 MiB, and nothing once the directory holds
    /// 1 GiB.
    Tail,
    /// All of it: somebody chose to cut what was durable.
    Everything,
}

/// Most that one start copies of a torn tail.
const MOST_OF_A_TAIL: u64 = 64 << 20;
/// A directory that holds so much gets no more tails.
const MOST_OF_ALL_TAILS: u64 = 1 << 30;

/// What was cut, and what of it was saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetAside {
    /// Bytes cut, zeros at the end of each file left out.
    pub cut_bytes: u64,
    /// Bytes of them that were copied; fewer only for a tail of more than 64 MiB, or when the directory holds 1 GiB.
    pub saved_bytes: u64,
    /// The copies.
    pub files: Vec<PathBuf>,
}

impl SetAside {
    /// As fields.
    pub fn fields(&self) -> Fields {
        let files: Vec<FieldValue> =
            self.files.iter().map(|path| path.display().to_string().into()).collect();
        Fields::new()
            .with("cutBytes", self.cut_bytes)
            .with("savedBytes", self.saved_bytes)
            .with("savedIn", files)
    }
}

/// What [`set_aside`] would do.
pub(crate) fn plan(env: &Env, paths: &StorePaths, from: u64, to: u64) -> Result<SetAside, DiskError> {
    let cut_bytes = stretches(env, paths, from, to)?.iter().map(|stretch| stretch.len).sum();
    Ok(SetAside { cut_bytes, ..SetAside::default() })
}

/// Copies the bytes `from..to` of the log; the copies are durable when this returns.
///
/// # Errors
///
/// Whatever the disk reports: then nothing may be cut.
pub(crate) fn set_aside(
    env: &Env,
    paths: &StorePaths,
    from: u64,
    to: u64,
    bound: Bound,
) -> Result<SetAside, StoreError> {
    let mut done = SetAside::default();
    let stretches = stretches(env, paths, from, to)?;
    if stretches.is_empty() {
        return Ok(done);
    }
    let directory = paths.set_aside();
    env.disk().create_dir_all(&directory)?;
    let mut left = match bound {
        Bound::Everything => u64::MAX,
        Bound::Tail if directory_bytes(env.disk(), &directory)? >= MOST_OF_ALL_TAILS => 0,
        Bound::Tail => MOST_OF_A_TAIL,
    };
    let time = file_name::human_time_name(env.now_millis());
    for stretch in stretches {
        done.cut_bytes += stretch.len;
        let len = stretch.len.min(left);
        if len == 0 {
            continue;
        }
        let path = directory.join(format!("{}-{time}", file_name::offset_name(stretch.log_offset)));
        copy(env, &stretch, len, &path)?;
        done.saved_bytes += len;
        left -= len;
        done.files.push(path);
    }
    env.disk().sync_dir(&directory)?;
    tracing::warn!(
        from,
        cut_bytes = done.cut_bytes,
        saved_bytes = done.saved_bytes,
        directory = %directory.display(),
        "bytes are cut from the log; what was saved of them is in the directory"
    );
    Ok(done)
}

/// Bytes of one log file.
struct Stretch {
    file: PathBuf,
    file_offset: u64,
    log_offset: u64,
    len: u64,
}

fn stretches(env: &Env, paths: &StorePaths, from: u64, to: u64) -> Result<Vec<Stretch>, DiskError> {
    let mut stretches = Vec::new();
    let files = FileSequence::list_all(env.disk(), paths.commit_logs().all())?;
    for file in files.files().iter().filter(|file| file.end() > from && file.offset < to) {
        let first = from.saturating_sub(file.offset);
        let end = file.len.min(to.saturating_sub(file.offset));
        let open = env.disk().open(&file.path, OpenMode::Read)?;
        if let Some(used) = last_data(&*open, first, end)? {
            stretches.push(Stretch {
                file: file.path.clone(),
                file_offset: first,
                log_offset: file.offset + first,
                len: used - first,
            });
        }
    }
    Ok(stretches)
}

fn copy(env: &Env, stretch: &Stretch, len: u64, to: &std::path::Path) -> Result<(), DiskError> {
    let from = env.disk().open(&stretch.file, OpenMode::Read)?;
    let target = env.disk().open(to, OpenMode::OpenOrCreate)?;
    target.set_len(0)?;
    let mut done = 0;
    while done < len {
        let mut bytes = vec![0; STEP.min(len - done) as usize];
        from.read_exact_at(&mut bytes, stretch.file_offset + done)?;
        target.write_all_at(&bytes, done)?;
        done += bytes.len() as u64;
    }
    target.sync_all()
}
