use super::log_reader::{Damage, LogItem, LogReader};
use super::{conditions, facts, record_fields};
use crate::commit_log::format::{MAGIC_V1, MAGIC_V2, MessageView, PHYSICAL_OFFSET_AT};
use std::ops::ControlFlow;
use std::path::Path;
use store_mmap::inspect::{
    FieldValue, Fields, Finding, InspectError, Inspector, Place, Range, Selection, last_data,
};
use store_mmap::{Env, file_name};

/// Knows the files of the log: named after their offset, in a directory called `commitlog` or beginning with a record.
#[derive(Debug)]
pub struct CommitLogInspector {
    env: Env,
}

impl CommitLogInspector {
    /// An inspector that reads through `env`.
    pub fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }

    fn reader(&self, place: &Place) -> LogReader {
        LogReader::of_file(&self.env, place.path(), offset_of(place), place.len())
    }
}

fn offset_of(place: &Place) -> u64 {
    file_name::parse_offset_name(place.name()).unwrap_or(0)
}

/// Damage of the log as a finding: where it is in the file (which begins at `file_from`), and where it ends.
pub fn damage_finding(file: &Path, file_from: u64, phy_offset: u64, damage: &Damage) -> Finding {
    let found = match damage.resumes_at {
        Some(next) => format!("{}; good again at {next}", damage.fault),
        None => format!("{}; nothing good behind, a start cuts the log here", damage.fault),
    };
    let kind = if damage.resumes_at.is_some() { "damaged-record" } else { "torn-tail" };
    Finding::error(kind, file, "a record", found)
        .at(phy_offset - file_from)
        .about(Fields::new().with("offset", phy_offset))
}

/// True when a record meets the conditions, its position left aside ([`offset_bounds`]).
pub fn is_selected(selection: &Selection, view: &MessageView<'_>, phy_offset: u64) -> bool {
    let key = |wanted: &str| {
        let facts = facts(phy_offset, view);
        facts.uniq_key == Some(wanted)
            || facts.keys.is_some_and(|keys| keys.split(' ').any(|key| key == wanted))
    };
    selection.accepts_text(conditions::TOPIC, view.topic)
        && selection.range(conditions::QUEUE).contains(i64::from(view.queue_id))
        && selection.range(conditions::TIME).contains(view.store_timestamp)
        && selection.text(conditions::KEY).is_none_or(key)
}

/// First position that a range of offsets means, and the one behind the last.
pub fn offset_bounds(range: Range) -> (u64, u64) {
    let from = range.from.map_or(0, |from| u64::try_from(from).unwrap_or(0));
    let to = range.to.map_or(u64::MAX, |to| u64::try_from(to.saturating_add(1)).unwrap_or(0));
    (from, to)
}

impl Inspector for CommitLogInspector {
    fn name(&self) -> &'static str {
        "log file"
    }

    fn recognises(&self, place: &Place) -> bool {
        let Some(offset) = file_name::parse_offset_name(place.name()) else { return false };
        let begins_with_record = || {
            let magic = place.head().get(4..8);
            let at = place.head().get(PHYSICAL_OFFSET_AT..PHYSICAL_OFFSET_AT + 8);
            [MAGIC_V1, MAGIC_V2].iter().any(|known| magic == Some(&known.to_be_bytes()))
                && at == Some(&offset.to_be_bytes())
        };
        place.directory(1) == "commitlog" || begins_with_record()
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let offset = offset_of(place);
        let used = last_data(place.file(), 0, place.len())?.unwrap_or(0);
        let mut fields = Fields::new().with("from", offset).with("to", offset + used);
        if let Some(first) = self.reader(place).first_store_timestamp(offset)? {
            fields.push("firstStoreTime", FieldValue::Millis(first));
        }
        Ok(fields)
    }

    fn conditions(&self) -> &'static [&'static str] {
        &[conditions::TOPIC, conditions::QUEUE, conditions::KEY, conditions::OFFSET, conditions::TIME]
    }

    fn dump(
        &self,
        place: &Place,
        selection: &Selection,
        visit: &mut dyn FnMut(Fields) -> ControlFlow<()>,
    ) -> Result<(), InspectError> {
        selection.check(self)?;
        let (from, to) = offset_bounds(selection.range(conditions::OFFSET));
        let first = offset_of(place);
        let first_time = self.reader(place).first_store_timestamp(first)?;
        let is_too_young = first_time.is_some_and(|time| selection.range(conditions::TIME).is_behind(time));
        if is_too_young || to <= first || first.saturating_add(place.len()) <= from {
            return Ok(());
        }
        // Records are found from the beginning of the file on; what lies before the first one wanted is passed over.
        let mut reader = self.reader(place).without_crc();
        reader.walk(first, to, &mut |phy_offset, item| match item {
            LogItem::Record(view) if phy_offset >= from && is_selected(selection, view, phy_offset) => {
                visit(record_fields(phy_offset, view))
            }
            _ => ControlFlow::Continue(()),
        })?;
        Ok(())
    }

    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        let first = offset_of(place);
        self.reader(place).walk(first, u64::MAX, &mut |phy_offset, item| {
            if let LogItem::Damage(damage) = item {
                found(damage_finding(place.path(), first, phy_offset, damage));
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}
