use super::commit_log::offset_bounds;
use super::conditions;
use super::index_reader::{IndexReader, expected_lengths, geometry_of};
use crate::index_file::IndexHeader;
use crate::index_file::format::{self, IndexEntry, IndexGeometry, key_hash};
use std::ops::ControlFlow;
use store_mmap::Env;
use store_mmap::inspect::{FieldValue, Fields, Finding, InspectError, Inspector, Place, Selection};

/// Knows the files of the key index: `index/{local time}`.
#[derive(Debug)]
pub struct IndexFileInspector {
    env: Env,
    geometries: Vec<IndexGeometry>,
}

impl IndexFileInspector {
    /// An inspector for files of one of these shapes, which are not in the files themselves.
    pub fn new(env: &Env, geometries: &[IndexGeometry]) -> Self {
        Self { env: env.clone(), geometries: geometries.to_vec() }
    }

    fn open(&self, place: &Place) -> Result<IndexReader, InspectError> {
        IndexReader::open(self.env.disk(), place.path(), &self.geometries)
    }
}

/// Store time of an entry, to the second.
fn entry_time(header: &IndexHeader, entry: &IndexEntry) -> i64 {
    header.begin_timestamp.saturating_add(i64::from(entry.time_diff) * 1000)
}

fn entry_fields(number: u32, entry: &IndexEntry, header: &IndexHeader) -> Fields {
    Fields::new()
        .with("entry", number)
        .with("keyHash", entry.key_hash)
        .with("offset", entry.phy_offset)
        .with("storeTime", FieldValue::Millis(entry_time(header, entry)))
        .with("previous", entry.previous)
}

impl Inspector for IndexFileInspector {
    fn name(&self) -> &'static str {
        "index file"
    }

    fn recognises(&self, place: &Place) -> bool {
        place.directory(1) == "index" && crate::index_file::IndexFile::is_file_name(place.name())
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let Some(geometry) = geometry_of(place.len(), &self.geometries) else {
            let expected = expected_lengths(&self.geometries);
            return Ok(Fields::new().with("geometry", format!("unknown: expected {expected}")));
        };
        let header = self.open(place)?.header()?;
        Ok(Fields::new()
            .with("entries", header.index_count.saturating_sub(1))
            .with("slotsUsed", header.hash_slot_count)
            .with("maxHashSlotNum", geometry.slots)
            .with("maxIndexNum", geometry.entries)
            .with("from", header.begin_phy_offset)
            .with("to", header.end_phy_offset)
            .with("firstStoreTime", FieldValue::Millis(header.begin_timestamp))
            .with("lastStoreTime", FieldValue::Millis(header.end_timestamp)))
    }

    fn conditions(&self) -> &'static [&'static str] {
        &[conditions::TOPIC, conditions::KEY, conditions::OFFSET, conditions::TIME]
    }

    /// A key is found by its hash, which needs its topic; without one the key stands for `topic#key`.
    fn dump(
        &self,
        place: &Place,
        selection: &Selection,
        visit: &mut dyn FnMut(Fields) -> ControlFlow<()>,
    ) -> Result<(), InspectError> {
        selection.check(self)?;
        let hash = selection.text(conditions::KEY).map(|key| match selection.text(conditions::TOPIC) {
            Some(topic) => key_hash(&format::key_of(topic, key)),
            None => key_hash(key),
        });
        let (from, to) = offset_bounds(selection.range(conditions::OFFSET));
        let times = selection.range(conditions::TIME);
        let mut reader = self.open(place)?;
        let header = reader.header()?;
        let count = reader.index_count()?;
        reader.walk(1, count, &mut |number, entry| {
            let time = entry_time(&header, &entry);
            let wanted = hash.is_none_or(|hash| hash == entry.key_hash)
                && (from..to).contains(&entry.phy_offset)
                // The entry's time is rounded down to the second.
                && (times.contains(time) || times.contains(time + 999));
            if wanted { visit(entry_fields(number, &entry, &header)) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }

    /// Puts the entries once more, in memory and without their keys, and compares chains, slots and header. Takes 4
    /// bytes of memory per slot.
    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        if geometry_of(place.len(), &self.geometries).is_none() {
            let expected = expected_lengths(&self.geometries);
            found(Finding::error("index-length", place.path(), expected, format!("{} bytes", place.len())));
            return Ok(());
        }
        let mut reader = self.open(place)?;
        let header = reader.header()?;
        let count = reader.index_count()?;
        if header.index_count != count && header.index_count != 0 {
            let expected = format!("a number of the next entry from 1 to {}", reader.geometry().entries);
            let is = header.index_count.to_string();
            found(Finding::error("index-header", place.path(), expected, is).at(format::INDEX_COUNT_AT));
        }
        let chains = verify_chains(&mut reader, count, found)?;
        verify_slots(&reader, count, &chains, found)?;
        verify_header(&mut reader, count, found)
    }
}

/// Newest entry of each slot, from the entries alone.
fn verify_chains(
    reader: &mut IndexReader,
    count: u32,
    found: &mut dyn FnMut(Finding),
) -> Result<Vec<u32>, InspectError> {
    let geometry = reader.geometry();
    // Not `vec![0; _]`: zeros that are only promised would cost two page faults a page, here and there in the loop.
    let mut newest: Vec<u32> = std::iter::repeat_n(0, geometry.slots as usize).collect();
    let path = reader.path().to_owned();
    reader.walk(1, count, &mut |number, entry| {
        let Some(slot) = newest.get_mut(geometry.slot_of(entry.key_hash) as usize) else {
            return ControlFlow::Break(());
        };
        if entry.previous != *slot {
            let expected = format!("previous entry {slot} of the chain");
            let subject = Fields::new().with("entry", number).with("keyHash", entry.key_hash);
            let finding = Finding::error("index-chain", &path, expected, entry.previous.to_string());
            found(finding.at(geometry.entry_at(number) + 16).about(subject));
        }
        *slot = number;
        ControlFlow::Continue(())
    })?;
    Ok(newest)
}

fn verify_slots(
    reader: &IndexReader,
    count: u32,
    newest: &[u32],
    found: &mut dyn FnMut(Finding),
) -> Result<(), InspectError> {
    let geometry = reader.geometry();
    reader.slots(&mut |slot, content| {
        let expected = newest.get(slot as usize).copied().unwrap_or(0);
        // What points behind the last entry counts as nothing.
        let content = if content >= count { 0 } else { content };
        if content != expected {
            let finding = Finding::error(
                "index-slot",
                reader.path(),
                format!("entry {expected}"),
                format!("entry {content}"),
            );
            found(finding.at(geometry.slot_at(slot)).about(Fields::new().with("slot", slot)));
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}

fn verify_header(
    reader: &mut IndexReader,
    count: u32,
    found: &mut dyn FnMut(Finding),
) -> Result<(), InspectError> {
    if count <= 1 {
        return Ok(());
    }
    let header = reader.header()?;
    let path = reader.path().to_owned();
    let rows = [
        (1, "beginPhyOffset", format::BEGIN_PHY_OFFSET_AT, header.begin_phy_offset),
        (count - 1, "endPhyOffset", format::END_PHY_OFFSET_AT, header.end_phy_offset),
    ];
    for (number, field, at, is) in rows {
        let Some(entry) = reader.entry(number)? else { continue };
        if entry.phy_offset != is {
            let expected = format!("{field} {}, as entry {number} says", entry.phy_offset);
            found(Finding::error("index-header", &path, expected, is.to_string()).at(at));
        }
    }
    Ok(())
}
