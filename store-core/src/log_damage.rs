//! A place of the log where a record should stand and none does: what it is, what stands behind it, and whether it was
//! durable once.
//!
//! A *torn tail* is what a crash leaves of records that were never made durable: a start cuts it. *Damage* is a record
//! that was durable and cannot be read any more: cutting there would drop records that were acknowledged. The two look
//! alike; what tells them apart is what else is known of how far the log was durable ([`KnownDurable`]).

mod examine;
mod known_durable;
mod torn;

pub(crate) use examine::{Ending, LogEndPlace, examine};
pub(crate) use known_durable::KnownDurable;

use std::fmt;
use std::path::PathBuf;
use store_logic::commit_log::format::{Checksum, Fault};
use store_logic::inspect::Fields;

/// A place of the log that holds no record though something stands there or behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDamage {
    /// Store root.
    pub root: PathBuf,
    /// Directories of the log.
    pub commit_log: Vec<PathBuf>,
    /// The log file.
    pub file: PathBuf,
    /// Byte of the file.
    pub file_offset: u64,
    /// Position in the log.
    pub log_offset: u64,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// From where it is known that the place was durable; `None` when it is not known: a torn tail.
    pub durable: Option<String>,
    /// Position behind the damaged stretch: of the next good record, of the next file, or behind the last byte that is
    /// not zero.
    pub resumes_at: u64,
    /// Good records behind it.
    pub good_records_behind: u64,
    /// Bytes from the place on, zeros at the end of each file left out.
    pub bytes_behind: u64,
    /// What was checked of each record.
    pub(crate) checksum: Checksum,
    /// Store time that a record in its place would have.
    pub(crate) store_timestamp: i64,
    /// A good record or another file of the log follows.
    pub(crate) is_followed: bool,
}

impl std::error::Error for LogDamage {}

impl LogDamage {
    /// Bytes of the damaged stretch.
    pub fn damaged_bytes(&self) -> u64 {
        self.resumes_at - self.log_offset
    }

    /// The command that keeps what stands before the damage.
    pub fn truncate_command(&self) -> String {
        format!("stratamq store truncate {} --at {}", self.target(), self.log_offset)
    }

    /// The command that keeps what stands before and behind it.
    pub fn skip_command(&self) -> String {
        let checksum = if self.checksum == Checksum::Record { " --record-crc" } else { "" };
        format!("stratamq store repair {} --skip{checksum}", self.target())
    }

    fn target(&self) -> String {
        let mut target = self.root.display().to_string();
        if self.commit_log != [self.root.join("commitlog")] {
            let directories: Vec<_> = self.commit_log.iter().map(|path| path.display().to_string()).collect();
            target.push_str(&format!(" --commit-log {}", directories.join(",")));
        }
        target
    }

    /// What stands there, in a sentence.
    pub fn summary(&self) -> String {
        let what = match &self.durable {
            Some(why) => format!("is damaged; it was durable: {why}"),
            None => "is torn; nothing says that it was durable, and a start cuts it".to_owned(),
        };
        format!(
            "{}: the record at byte {} (log offset {}) {what}; expected {}, found {}; from it on stand {} B with {} good \
             records, the next at {}",
            self.file.display(),
            self.file_offset,
            self.log_offset,
            self.expected,
            self.found,
            self.bytes_behind,
            self.good_records_behind,
            self.resumes_at,
        )
    }

    /// As fields.
    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new()
            .with("file", self.file.display().to_string())
            .with("fileOffset", self.file_offset)
            .with("offset", self.log_offset)
            .with("expected", self.expected.clone())
            .with("found", self.found.clone())
            .with("damaged", self.durable.is_some());
        if let Some(durable) = &self.durable {
            fields.push("durable", durable.clone());
        }
        fields
            .with("resumesAt", self.resumes_at)
            .with("damagedBytes", self.damaged_bytes())
            .with("goodRecordsBehind", self.good_records_behind)
            .with("bytesBehind", self.bytes_behind)
    }
}

impl fmt::Display for LogDamage {
    /// What stands there, and the commands that go on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; nothing was changed. To keep what is before it: `{}`. To keep what is behind it, too: `{}`. Both first \
             save what they cut. Or set damagedCommitLogPolicy=truncate or skip in broker.conf",
            self.summary(),
            self.truncate_command(),
            self.skip_command(),
        )
    }
}

/// What a fault expected and found.
pub(crate) fn expected_and_found(fault: &Fault) -> (String, String) {
    match fault {
        Fault::Nothing => ("a record".to_owned(), "zeros".to_owned()),
        Fault::Short { expected, found } => {
            (format!("{expected} B of a record"), format!("{found} B up to the end of the file"))
        }
        Fault::Magic { found } => {
            ("magic DAA320A7, DAA320AB or CBD43194 at byte 4".to_owned(), format!("{found:08X}"))
        }
        Fault::Field { field, expected, found } => (format!("{field} {expected}"), found.clone()),
        Fault::BodyCrc { expected, found } => {
            (format!("body CRC {expected:08X} as stored"), format!("{found:08X} over the body"))
        }
        Fault::RecordCrc { expected, found } => {
            (format!("record CRC {expected} as stored"), format!("{found} over the record"))
        }
    }
}
