//! Shows that a store is of its kind: without that a setting that has no effect would pass.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// First bytes of a record whose topic has two bytes of length, behind its own length.
const V2_MAGIC: [u8; 4] = 0xDAA3_20AB_u32.to_be_bytes();

/// What shows in the files that a store is of its kind.
#[derive(Clone, Copy)]
pub enum Trace {
    None,
    RecordsV2,
    QueueExtensions,
    /// A CRC in each record.
    RecordCrc,
}

impl Trace {
    /// Looks for the trace; `messages` is how many the log holds.
    ///
    /// # Errors
    /// When it is not there.
    pub fn find(self, store: &Path, messages: usize) -> Result<()> {
        match self {
            Trace::None => Ok(()),
            Trace::RecordsV2 => require("records of version 2", count(store, &V2_MAGIC)?, 1),
            Trace::RecordCrc => require("records with a CRC", count(store, b"__CRC32#\x01")?, messages),
            Trace::QueueExtensions => {
                let directory = store.join("consumequeue_ext");
                ensure!(directory.is_dir(), "expected {}, found no such directory", directory.display());
                Ok(())
            }
        }
    }
}

fn require(what: &str, found: usize, least: usize) -> Result<()> {
    ensure!(found >= least, "expected at least {least} {what}, found {found}");
    Ok(())
}

/// How often `bytes` stands in the files of the log.
fn count(store: &Path, bytes: &[u8]) -> Result<usize> {
    let directory = store.join("commitlog");
    let mut count = 0;
    for entry in fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let path = entry?.path();
        let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        count += content.windows(bytes.len()).filter(|window| *window == bytes).count();
    }
    Ok(count)
}
