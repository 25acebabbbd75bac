use crate::commit_log::format::{
    self, BLANK_LEN, BLANK_MAGIC, Checksum, Decoded, Fault, MAGIC_V1, MAGIC_V2, MessageView,
};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use store_mmap::inspect::{FileSequence, SequenceFile};
use store_mmap::{DiskError, Env};

/// Largest record that is read. The largest body a broker takes is configured; this is far beyond what clients send.
pub const MAX_RECORD: u32 = 128 << 20;
/// Bytes that tell whether a record may begin here: up to the end of its own position.
const START_LEN: usize = format::PHYSICAL_OFFSET_AT + 8;

/// What stands at a place of the log.
#[derive(Debug)]
pub enum LogItem<'a> {
    /// A record.
    Record(&'a MessageView<'a>),
    /// The unused rest of a file.
    Blank,
    /// Something else.
    Damage(&'a Damage),
}

/// Bytes of the log that are no record though there should be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong where the record should begin.
    pub fault: Fault,
    /// Where the next good record or the end of its file was found; `None` when nothing good stands behind.
    pub resumes_at: Option<u64>,
}

/// What a walk came across.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogSummary {
    /// Good records.
    pub records: u64,
    /// Position behind the last good record, or behind the blank record that ends its file: a store stopped between the
    /// two goes on there.
    pub end: u64,
    /// Store time of the last good record, 0 without one.
    pub last_store_timestamp: i64,
}

/// The log, read from its files without mapping them and past any damage.
#[derive(Debug)]
pub struct LogReader {
    env: Env,
    files: FileSequence,
    checksum: Checksum,
}

/// Damage that is not told yet: whether something good stands behind is not known.
struct Pending {
    at: u64,
    fault: Fault,
    /// False for zeros up to the end of the file, which are no damage unless something stands behind.
    written: bool,
}

impl LogReader {
    /// The log in a directory.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn open(env: &Env, directory: &Path) -> Result<Self, DiskError> {
        Self::open_all(env, [directory])
    }

    /// The log in several directories.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn open_all<'a>(
        env: &Env,
        directories: impl IntoIterator<Item = &'a Path>,
    ) -> Result<Self, DiskError> {
        let files = FileSequence::list_all(env.disk(), directories)?;
        Ok(Self { env: env.clone(), files, checksum: Checksum::Body })
    }

    /// One file of a log.
    pub fn of_file(env: &Env, path: &Path, offset: u64, len: u64) -> Self {
        Self { env: env.clone(), files: FileSequence::of_file(path, offset, len), checksum: Checksum::Body }
    }

    /// The same reader, which leaves the CRC of bodies unchecked.
    #[must_use]
    pub fn without_crc(mut self) -> Self {
        self.checksum = Checksum::Skip;
        self
    }

    /// The same reader, which checks this of each record.
    #[must_use]
    pub fn with_checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = checksum;
        self
    }

    /// The files.
    pub fn files(&self) -> &FileSequence {
        &self.files
    }

    /// Position of the first byte; 0 without files.
    pub fn min_offset(&self) -> u64 {
        self.files.start().unwrap_or(0)
    }

    /// Bytes of the record at `phy_offset`; `None` when none begins there.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn record_at(&mut self, phy_offset: u64) -> Result<Option<Vec<u8>>, DiskError> {
        let checksum = self.checksum;
        let bytes = self.bytes_of_record(phy_offset)?;
        match decode_at(bytes, phy_offset, checksum) {
            Ok(Decoded::Record(view)) => {
                let size = view.total_size as usize;
                Ok(Some(bytes[..size].to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// Position of the file in which records stored at or after `time` begin, by the first record of each file.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn start_for_time(&mut self, time: i64) -> Result<u64, DiskError> {
        let mut start = self.min_offset();
        let offsets: Vec<u64> = self.files.files().iter().map(|file| file.offset).collect();
        for offset in offsets {
            match self.first_store_timestamp(offset)? {
                Some(first) if first > time => break,
                Some(_) => start = offset,
                None => {}
            }
        }
        Ok(start)
    }

    /// Store time of the record at `phy_offset`, without reading its body.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn first_store_timestamp(&mut self, phy_offset: u64) -> Result<Option<i64>, DiskError> {
        let bytes = self.files.bytes(self.env.disk(), phy_offset, format::STORE_TIMESTAMP_END)?;
        Ok(if begins_record(bytes, phy_offset) { format::store_timestamp(bytes) } else { None })
    }

    /// Walks the log from `from` up to `to` and shows what stands there until `visit` breaks. What is damaged is shown
    /// once, and the walk goes on behind it: where its size says, or else where the next bytes look like a record that
    /// knows its own place.
    ///
    /// # Errors
    ///
    /// Whatever the disk reports.
    pub fn walk(
        &mut self,
        from: u64,
        to: u64,
        visit: &mut dyn FnMut(u64, LogItem<'_>) -> ControlFlow<()>,
    ) -> Result<LogSummary, DiskError> {
        let mut summary = LogSummary { end: from, ..LogSummary::default() };
        let mut pending: Option<Pending> = None;
        let mut at = from;
        let mut current: Option<SequenceFile> = None;
        while at < to {
            let known = current.take().filter(|file| (file.offset..file.end()).contains(&at));
            let Some(file) = known.or_else(|| self.files.file_at(at).cloned()) else {
                match self.files.files().iter().find(|file| file.offset > at) {
                    Some(next) => at = next.offset,
                    None => break,
                }
                continue;
            };
            if file.end() - at < BLANK_LEN as u64 {
                at = file.end();
                continue;
            }
            let checksum = self.checksum;
            let bytes = self.bytes_of_record(at)?;
            if pending.is_none() {
                let (flow, next) = show_whole(at..to, bytes, checksum, &mut summary, visit);
                if flow.is_break() {
                    return Ok(summary);
                }
                if next > at {
                    at = next;
                    current = Some(file);
                    continue;
                }
            }
            match decode_in(&file, bytes, at, checksum) {
                Ok(decoded) => {
                    if tell(&mut pending, Some(at), visit).is_break() {
                        return Ok(summary);
                    }
                    let (flow, next) = show(at, &file, &decoded, &mut summary, visit);
                    if flow.is_break() {
                        return Ok(summary);
                    }
                    at = next;
                }
                Err(fault) => {
                    let written =
                        fault != Fault::Nothing || self.files.next_nonzero(self.env.disk(), at)?.is_some();
                    let next = if written { self.resume(at, &fault, &file)? } else { file.end() };
                    pending.get_or_insert(Pending { at, fault, written }).written |= written;
                    at = next;
                }
            }
            current = Some(file);
        }
        let _ = tell(&mut pending, None, visit);
        Ok(summary)
    }

    /// Where to go on behind what is damaged: at a record, a blank, or the end of the file.
    fn resume(&mut self, at: u64, fault: &Fault, file: &SequenceFile) -> Result<u64, DiskError> {
        if *fault != Fault::Nothing {
            let claimed = format::claimed_size(self.files.bytes(self.env.disk(), at, BLANK_LEN)?);
            let behind = claimed.map(|size| at.saturating_add(u64::from(size)));
            if let Some(behind) = behind.filter(|behind| *behind < file.end()) {
                if begins_something(self.files.bytes(self.env.disk(), behind, START_LEN)?, behind, file) {
                    return Ok(behind);
                }
            }
        }
        let mut from = at + 1;
        while let Some(data) = self.files.next_nonzero(self.env.disk(), from)? {
            // The first bytes of a size are zero.
            from = data.saturating_sub(4).max(from);
            let bytes = self.files.bytes(self.env.disk(), from, START_LEN)?;
            let found =
                (0..bytes.len()).find(|skip| begins_something(&bytes[*skip..], from + *skip as u64, file));
            if let Some(skip) = found {
                return Ok(from + skip as u64);
            }
            let rest = file.end() - from;
            if bytes.len() as u64 >= rest {
                break;
            }
            from += (bytes.len() - START_LEN).max(1) as u64;
        }
        Ok(file.end())
    }

    /// Bytes from `at` on, as many as the record there says it has.
    fn bytes_of_record(&mut self, at: u64) -> Result<&[u8], DiskError> {
        let head = self.files.bytes(self.env.disk(), at, BLANK_LEN)?;
        let want = format::claimed_size(head).filter(|size| *size <= MAX_RECORD).unwrap_or(0) as usize;
        self.files.bytes(self.env.disk(), at, want.max(BLANK_LEN))
    }
}

/// Shows the good records that begin in `range`, follow one another from its start on and are whole in `bytes`. Returns the
/// position behind them; what stands there is not looked at.
fn show_whole(
    range: Range<u64>,
    mut bytes: &[u8],
    checksum: Checksum,
    summary: &mut LogSummary,
    visit: &mut dyn FnMut(u64, LogItem<'_>) -> ControlFlow<()>,
) -> (ControlFlow<()>, u64) {
    let mut at = range.start;
    while at < range.end {
        let claimed = format::claimed_size(bytes).filter(|size| *size <= MAX_RECORD);
        if claimed.is_none_or(|size| size as usize > bytes.len()) {
            break;
        }
        let Ok(Decoded::Record(view)) = decode_at(bytes, at, checksum) else { break };
        let next = at + u64::from(view.total_size);
        summary.records += 1;
        summary.end = next;
        summary.last_store_timestamp = view.store_timestamp;
        if visit(at, LogItem::Record(&view)).is_break() {
            return (ControlFlow::Break(()), next);
        }
        bytes = &bytes[view.total_size as usize..];
        at = next;
    }
    (ControlFlow::Continue(()), at)
}

fn show(
    at: u64,
    file: &SequenceFile,
    decoded: &Decoded<'_>,
    summary: &mut LogSummary,
    visit: &mut dyn FnMut(u64, LogItem<'_>) -> ControlFlow<()>,
) -> (ControlFlow<()>, u64) {
    match decoded {
        Decoded::Record(view) => {
            let next = at + u64::from(view.total_size);
            summary.records += 1;
            summary.end = next;
            summary.last_store_timestamp = view.store_timestamp;
            (visit(at, LogItem::Record(view)), next)
        }
        Decoded::Blank => {
            summary.end = file.end();
            (visit(at, LogItem::Blank), file.end())
        }
    }
}

fn tell(
    pending: &mut Option<Pending>,
    resumes_at: Option<u64>,
    visit: &mut dyn FnMut(u64, LogItem<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(Pending { at, fault, written }) = pending.take() else { return ControlFlow::Continue(()) };
    if resumes_at.is_none() && !written {
        return ControlFlow::Continue(());
    }
    visit(at, LogItem::Damage(&Damage { fault, resumes_at }))
}

/// Reads what stands at `phy_offset` of `file`; of a blank record `bytes` is only the beginning.
fn decode_in<'a>(
    file: &SequenceFile,
    bytes: &'a [u8],
    phy_offset: u64,
    checksum: Checksum,
) -> Result<Decoded<'a>, Fault> {
    if format::has_blank_magic(bytes) {
        return format::check_blank(bytes, file.end() - phy_offset).map(|()| Decoded::Blank);
    }
    decode_at(bytes, phy_offset, checksum)
}

/// Reads what stands at `phy_offset`; a record must know its place and not be larger than anything a broker takes.
fn decode_at(bytes: &[u8], phy_offset: u64, checksum: Checksum) -> Result<Decoded<'_>, Fault> {
    if let Some(size) = format::claimed_size(bytes).filter(|size| *size > MAX_RECORD) {
        return Err(Fault::Field {
            field: "totalSize",
            expected: format!("at most {MAX_RECORD}"),
            found: size.to_string(),
        });
    }
    let decoded = format::decode_checked(bytes, checksum)?;
    if let Decoded::Record(view) = &decoded {
        if u64::try_from(view.physical_offset) != Ok(phy_offset) {
            return Err(Fault::Field {
                field: "physicalOffset",
                expected: phy_offset.to_string(),
                found: view.physical_offset.to_string(),
            });
        }
    }
    Ok(decoded)
}

/// True when a record that stands at `at` begins so.
fn begins_record(bytes: &[u8], at: u64) -> bool {
    let Some(start) = bytes.get(..START_LEN) else { return false };
    let magic = [start[4], start[5], start[6], start[7]];
    (magic == MAGIC_V1.to_be_bytes() || magic == MAGIC_V2.to_be_bytes())
        && start[format::PHYSICAL_OFFSET_AT..] == at.to_be_bytes()
}

/// True when a record or the blank rest of the file begins at `at`.
fn begins_something(bytes: &[u8], at: u64, file: &SequenceFile) -> bool {
    let blank = || {
        let rest = u32::try_from(file.end() - at).ok();
        rest.zip(bytes.get(..BLANK_LEN)).is_some_and(|(rest, bytes)| bytes == format::blank(rest))
    };
    match bytes.get(4) {
        Some(first) if *first == MAGIC_V1.to_be_bytes()[0] => begins_record(bytes, at),
        Some(first) if *first == BLANK_MAGIC.to_be_bytes()[0] => blank(),
        _ => false,
    }
}
