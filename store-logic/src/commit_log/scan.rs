//! Walking the log record by record: dispatch does it behind the writer, recovery to find the end.

use super::CommitLog;
use super::format::{self, Checksum, Decoded, Fault, MessageView};
use std::ops::ControlFlow;

/// Where a scan of the log came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEnd {
    /// Position behind the last good record (the start of a final blank record, as Apache counts).
    pub offset: u64,
    /// Position of the last good record.
    pub last_record: Option<u64>,
    /// Store time of the last good record, 0 without one.
    pub last_store_timestamp: i64,
    /// Good records seen.
    pub records: u64,
    /// What stands at the end, when it is not simply the end of what was written.
    pub fault: Option<Fault>,
}

/// First record of a file, for choosing where a scan begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanStart {
    /// Position of the file's first byte.
    pub offset: u64,
    /// Store time of its first record; `None` when it begins with none.
    pub store_timestamp: Option<i64>,
}

impl CommitLog {
    /// The files as places where a scan may begin, in order.
    pub fn scan_starts(&self) -> Vec<ScanStart> {
        let describe = |file: &std::sync::Arc<store_mmap::MappedFile>| {
            let rest = file.slice_rest(0);
            let first = rest.as_deref().map(|bytes| format::decode(bytes, false));
            let store_timestamp = match first {
                Some(Ok(Decoded::Record(view))) => Some(view.store_timestamp),
                _ => None,
            };
            ScanStart { offset: file.file_from_offset(), store_timestamp }
        };
        self.files.files().iter().map(describe).collect()
    }

    /// Walks the records from `start` (a record's or a file's position), checking each one, and calls `visit` with its
    /// position until that breaks, something is no record, or the log ends. A broken-off scan reports where it stopped.
    ///
    /// A record whose own position differs from where it stands is no record: it is a stale copy.
    pub fn scan(
        &self,
        start: u64,
        checksum: Checksum,
        mut visit: impl FnMut(u64, &MessageView<'_>) -> ControlFlow<()>,
    ) -> LogEnd {
        let mut end =
            LogEnd { offset: start, last_record: None, last_store_timestamp: 0, records: 0, fault: None };
        let mut at = start;
        while let Some(rest) = self.files.slice_rest(at) {
            let mut position = 0;
            let file_end = loop {
                let phy_offset = at + position as u64;
                match decode_at(&rest[position..], phy_offset, checksum) {
                    Ok(Decoded::Record(view)) => {
                        if visit(phy_offset, &view).is_break() {
                            end.offset = phy_offset;
                            return end;
                        }
                        position += view.total_size as usize;
                        end.offset = at + position as u64;
                        end.last_record = Some(phy_offset);
                        end.last_store_timestamp = view.store_timestamp;
                        end.records += 1;
                        if position == rest.len() {
                            break self.files.roll_next(phy_offset);
                        }
                    }
                    Ok(Decoded::Blank) => break self.files.roll_next(phy_offset),
                    Err(Fault::Nothing) => return end,
                    Err(fault) => return LogEnd { fault: Some(fault), ..end },
                }
            };
            if self.files.find(file_end).is_none() {
                return end;
            }
            end.offset = file_end;
            at = file_end;
        }
        end
    }
}

impl CommitLog {
    /// Good records behind the end of a scan: behind the faulty one if that tells its size, else from the next file on.
    /// They are lost when the log is cut; this counts them for the report.
    pub fn count_behind(&self, end: &LogEnd) -> u64 {
        let next_file = self.files.roll_next(end.offset);
        let behind_fault = self.files.slice_rest(end.offset).and_then(|rest| format::claimed_size(&rest));
        let candidates = behind_fault.map(|size| end.offset + u64::from(size)).into_iter().chain([next_file]);
        let records = |start| self.scan(start, Checksum::Body, |_, _| ControlFlow::Continue(())).records;
        candidates.map(records).find(|records| *records > 0).unwrap_or(0)
    }
}

/// Reads what stands at `phy_offset`; a record must say so itself.
pub(crate) fn decode_at(bytes: &[u8], phy_offset: u64, checksum: Checksum) -> Result<Decoded<'_>, Fault> {
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
