//! Every key of a record has its entry, and every entry has its record.

use super::Context;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use store_logic::dispatch::DispatchRequest;
use store_logic::index_file::format::{ENTRY_SIZE, IndexEntry, time_diff};
use store_logic::index_file::{key_hashes_of, keys_of, tags_hash_of};
use store_logic::inspect::{Fields, Finding, InspectError, Severity};
use store_logic::inspectors::IndexReader;
use store_logic::message::sys_flag;

/// Entries looked at together when they are as expected: those of a record with a few keys and the next one's first.
const ENTRIES_AHEAD: usize = 8;

/// An entry and where it stands.
#[derive(Debug, Clone)]
struct Placed {
    entry: IndexEntry,
    file: Rc<Path>,
    number: u32,
    /// Byte of the file.
    at: u64,
    /// Store time of the file's first entry.
    begin_timestamp: i64,
}

impl Placed {
    fn finding(&self, kind: &'static str, expected: impl Into<String>, is: impl Into<String>) -> Finding {
        let subject = Fields::new()
            .with("entry", self.number)
            .with("keyHash", self.entry.key_hash)
            .with("offset", self.entry.phy_offset);
        Finding::error(kind, &self.file, expected, is).at(self.at).about(subject)
    }
}

/// A file of which entries are left.
struct OpenFile {
    reader: IndexReader,
    path: Rc<Path>,
    /// The next entry.
    number: u32,
    count: u32,
    begin_timestamp: i64,
}

impl OpenFile {
    fn placed(&mut self, number: u32) -> Result<Option<Placed>, InspectError> {
        let Some(entry) = self.reader.entry(number)? else { return Ok(None) };
        Ok(Some(Placed {
            entry,
            file: Rc::clone(&self.path),
            number,
            at: self.reader.geometry().entry_at(number),
            begin_timestamp: self.begin_timestamp,
        }))
    }
}

/// All index files as one row of entries, in the order they were put.
struct Entries<'a> {
    context: &'a Context<'a>,
    files: std::vec::IntoIter<PathBuf>,
    /// Two at most: the next entry and the one behind it may lie in two files.
    open: VecDeque<OpenFile>,
    seen: u64,
}

impl Entries<'_> {
    /// The next entry, or one so many behind it.
    fn ahead(&mut self, mut skip: u32) -> Result<Option<Placed>, InspectError> {
        let mut file = 0;
        loop {
            if file == self.open.len() && !self.open_next()? {
                return Ok(None);
            }
            let open = &mut self.open[file];
            let left = open.count - open.number;
            if skip < left {
                return open.placed(open.number + skip);
            }
            skip -= left;
            file += 1;
        }
    }

    fn open_next(&mut self) -> Result<bool, InspectError> {
        let Some(path) = self.files.next() else { return Ok(false) };
        let reader = self.context.store.open_index(&path)?;
        let (count, begin_timestamp) = (reader.index_count()?, reader.header()?.begin_timestamp);
        self.open.push_back(OpenFile { reader, path: path.into(), number: 1, count, begin_timestamp });
        Ok(true)
    }

    /// Passes over the next entries, which lie in one file.
    fn pass(&mut self, entries: u32) {
        while self.open.front().is_some_and(|open| open.number >= open.count) {
            self.open.pop_front();
        }
        if let Some(open) = self.open.front_mut() {
            open.number += entries;
            self.seen += u64::from(entries);
        }
    }
}

/// Records in a row whose keys are not in the index, not told yet.
struct Missing {
    first: u64,
    last: u64,
    records: u64,
}

/// Entries in a row whose records are not there, not told yet.
struct Foreign {
    first: Placed,
    entries: u64,
    expected: String,
}

/// The index while the log is read.
pub(super) struct IndexCheck<'a> {
    context: &'a Context<'a>,
    entries: Entries<'a>,
    /// Record of the entry that was taken last.
    last: u64,
    missing: Option<Missing>,
    foreign: Option<Foreign>,
    log_min: u64,
    has_files: bool,
    /// Entries of the present record; kept for its memory.
    present: Vec<Placed>,
    /// Hashes of its keys; likewise.
    hashes: Vec<u32>,
}

impl<'a> IndexCheck<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Result<Self, InspectError> {
        let files = context.store.index_files()?;
        let has_files = !files.is_empty();
        let entries = Entries { context, files: files.into_iter(), open: VecDeque::new(), seen: 0 };
        let log_min = context.store.log()?.min_offset();
        Ok(Self {
            context,
            entries,
            last: 0,
            missing: None,
            foreign: None,
            log_min,
            has_files,
            present: Vec::new(),
            hashes: Vec::new(),
        })
    }

    /// Takes in the next record of the log.
    pub(super) fn check(
        &mut self,
        request: &DispatchRequest<'_>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        if self.take_expected(request)? {
            return Ok(());
        }
        let phy_offset = request.phy_offset;
        self.pass_before(phy_offset, found)?;
        let mut present = std::mem::take(&mut self.present);
        while self.peek(found)? == Some(phy_offset) {
            present.extend(self.advance()?);
        }
        if !present.is_empty() {
            self.tell_foreign(found);
        }
        if sys_flag::transaction(request.sys_flag) != sys_flag::TRANSACTION_ROLLBACK {
            self.check_record(request, &present, found);
        }
        present.clear();
        self.present = present;
        Ok(())
    }

    /// Takes the record's entries when they are the next ones, in the order they were put, and all as they should be:
    /// the ordinary case, in which nothing has to be kept or told. False, with nothing done, in any other.
    fn take_expected(&mut self, request: &DispatchRequest<'_>) -> Result<bool, InspectError> {
        let phy_offset = request.phy_offset;
        let is_quiet = self.missing.is_none() && self.foreign.is_none() && phy_offset >= self.last;
        let rolled_back = sys_flag::transaction(request.sys_flag) == sys_flag::TRANSACTION_ROLLBACK;
        // The first entry counts from the end of the file before.
        let file = self.entries.open.front_mut().filter(|file| file.number > 1 && file.number < file.count);
        let Some(file) = file.filter(|_| is_quiet && !rolled_back) else { return Ok(false) };
        let left = (file.count - file.number) as usize;
        let bytes = file.reader.entries_from(file.number, ENTRIES_AHEAD)?;
        let mut entries = bytes.chunks_exact(ENTRY_SIZE as usize).take(left).map_while(IndexEntry::decode);
        let seconds = time_diff(file.begin_timestamp, request.store_timestamp);
        let is_own = |entry: &IndexEntry| entry.phy_offset == phy_offset && entry.time_diff == seconds;
        let mut taken = 0;
        for hash in key_hashes_of(request) {
            if !entries.next().is_some_and(|entry| entry.key_hash == hash && is_own(&entry)) {
                return Ok(false);
            }
            taken += 1;
        }
        let mut behind = entries.next();
        if let Some(entry) = behind.filter(|entry| entry.phy_offset == phy_offset) {
            if !is_own(&entry) || tags_hash_of(request) != Some(entry.key_hash) {
                return Ok(false);
            }
            taken += 1;
            behind = entries.next();
        }
        // It shows that these were all, and that they are in order.
        if behind.is_none_or(|entry| entry.phy_offset <= phy_offset) {
            return Ok(false);
        }
        if taken > 0 {
            self.entries.pass(taken);
            self.last = phy_offset;
        }
        Ok(true)
    }

    fn check_record(
        &mut self,
        request: &DispatchRequest<'_>,
        present: &[Placed],
        found: &mut dyn FnMut(Finding),
    ) {
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(key_hashes_of(request));
        // Releases before 5.5.0 do not index tags.
        let tags = tags_hash_of(request);
        for placed in present {
            check_entry(placed, request, &hashes, tags, found);
        }
        self.check_keys(request, &hashes, present, found);
        self.hashes = hashes;
    }

    fn check_keys(
        &mut self,
        request: &DispatchRequest<'_>,
        hashes: &[u32],
        present: &[Placed],
        found: &mut dyn FnMut(Finding),
    ) {
        if hashes.is_empty() || !self.has_files {
            return;
        }
        let phy_offset = request.phy_offset;
        if present.is_empty() {
            let run = self.missing.get_or_insert(Missing { first: phy_offset, last: phy_offset, records: 0 });
            run.last = phy_offset;
            run.records += 1;
            return;
        }
        self.tell_missing(Severity::Error, found);
        for (number, hash) in hashes.iter().enumerate() {
            if !present.iter().any(|placed| placed.entry.key_hash == *hash) {
                let key = keys_of(request, false).swap_remove(number);
                let subject = Fields::new()
                    .with("topic", request.topic)
                    .with("queueId", request.queue_id)
                    .with("queueOffset", request.consume_queue_offset)
                    .with("offset", phy_offset);
                let index = self.context.store.paths().index();
                let expected = format!("an entry of key {key}, hash {hash}");
                found(Finding::error("missing-index-entry", &index, expected, "none").about(subject));
            }
        }
    }

    /// Record of the next entry. An entry that is out of order is told of and passed over.
    fn peek(&mut self, found: &mut dyn FnMut(Finding)) -> Result<Option<u64>, InspectError> {
        loop {
            let Some(next) = self.entries.ahead(0)? else { return Ok(None) };
            let at = next.entry.phy_offset;
            let is_odd = at < self.last
                || self.entries.ahead(1)?.is_some_and(|behind| {
                    at > behind.entry.phy_offset && behind.entry.phy_offset >= self.last
                });
            if !is_odd {
                return Ok(Some(at));
            }
            let expected = format!("a record at or behind {}, in the order of the log", self.last);
            found(next.finding("index-order", expected, at.to_string()));
            self.entries.pass(1);
        }
    }

    /// Takes the next entry.
    fn advance(&mut self) -> Result<Option<Placed>, InspectError> {
        let taken = self.entries.ahead(0)?;
        if let Some(taken) = &taken {
            self.entries.pass(1);
            self.last = taken.entry.phy_offset;
        }
        Ok(taken)
    }

    /// Passes over entries of records before `phy_offset`: no record has come for them.
    fn pass_before(&mut self, phy_offset: u64, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        while self.peek(found)?.is_some_and(|at| at < phy_offset) {
            let Some(placed) = self.advance()? else { break };
            // Records before the log's beginning were deleted; the index follows file by file.
            let phy_offset = placed.entry.phy_offset;
            if phy_offset >= self.log_min && !self.context.is_lost(phy_offset) {
                let expected = format!("a record at {phy_offset}");
                self.note_foreign(placed, expected);
            }
        }
        Ok(())
    }

    fn note_foreign(&mut self, placed: Placed, expected: String) {
        let run = self.foreign.get_or_insert(Foreign { first: placed, entries: 0, expected });
        run.entries += 1;
    }

    fn tell_foreign(&mut self, found: &mut dyn FnMut(Finding)) {
        let Some(run) = self.foreign.take() else { return };
        let is = match run.entries {
            1 => "none".to_owned(),
            entries => format!("none, as for {entries} entries in a row"),
        };
        found(run.first.finding("foreign-index-entry", run.expected, is));
    }

    fn tell_missing(&mut self, severity: Severity, found: &mut dyn FnMut(Finding)) {
        let Some(run) = self.missing.take() else { return };
        let index = self.context.store.paths().index();
        let expected = format!("entries of {} records with keys", run.records);
        let is = format!("none for those from {} to {}", run.first, run.last);
        let subject = Fields::new().with("offset", run.first).with("records", run.records);
        let finding = Finding::error("missing-index-entries", &index, expected, is).about(subject);
        found(Finding { severity, ..finding });
    }

    /// Tells of the rest. Returns the number of entries.
    pub(super) fn finish(
        mut self,
        log_end: u64,
        found: &mut dyn FnMut(Finding),
    ) -> Result<u64, InspectError> {
        self.tell_missing(self.context.lag_severity(), found);
        self.pass_before(log_end, found)?;
        while self.peek(found)?.is_some() {
            let Some(placed) = self.advance()? else { break };
            let is_lost = self.context.is_lost(placed.entry.phy_offset);
            if !is_lost && !self.context.in_use {
                let expected = format!("a record before the end of the log at {log_end}");
                self.note_foreign(placed, expected);
            }
        }
        self.tell_foreign(found);
        if !self.has_files {
            let index = self.context.store.paths().index();
            found(Finding::note("no-index", &index, "index files of a known size", "none; not checked"));
        }
        Ok(self.entries.seen)
    }
}

fn check_entry(
    placed: &Placed,
    request: &DispatchRequest<'_>,
    hashes: &[u32],
    tags: Option<u32>,
    found: &mut dyn FnMut(Finding),
) {
    let hash = placed.entry.key_hash;
    if !hashes.contains(&hash) && tags != Some(hash) {
        let keys = keys_of(request, false);
        let keys: Vec<String> =
            keys.iter().zip(hashes).map(|(key, hash)| format!("{hash} ({key})")).collect();
        let expected = format!("the hash of a key of its record: {}", keys.join(", "));
        found(placed.finding("wrong-index-entry", expected, hash.to_string()));
    }
    let seconds = time_diff(placed.begin_timestamp, request.store_timestamp);
    // The first entry counts from the end of the file before.
    if placed.number > 1 && placed.entry.time_diff != seconds {
        let expected = format!("{seconds} seconds after the first entry");
        found(placed.finding("index-time", expected, placed.entry.time_diff.to_string()));
    }
}
