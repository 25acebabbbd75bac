//! Messages out of a store and into another one, as JSON lines ([`MessageLine`]).
//!
//! [`export`] walks the log and shows the records that are selected, in the order of the log and so in the order of
//! every queue. [`import`] puts such lines into a store the way a producer's messages come in. What an import cannot
//! keep is what the log gives: position, store time, the broker's message id, and the queue offset where the queue does
//! not end right there.

mod import;
mod line;

pub use import::{ImportOptions, ImportReport, NOT_KEPT, import};
pub use line::MessageLine;

use crate::inspectors::StoreInspection;
use std::ops::ControlFlow;
use store_logic::commit_log::format::MessageView;
use store_logic::inspect::{Fields, InspectError, Selection};
use store_logic::inspectors::{LogItem, conditions, is_selected, offset_bounds};

/// What an export came across.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportReport {
    /// Messages shown.
    pub messages: u64,
    /// Places of the log that hold damage; their messages are missing.
    pub damages: u64,
    /// Records left out because their topic was deleted.
    pub of_deleted_topics: u64,
}

impl ExportReport {
    /// As fields.
    pub fn fields(&self) -> Fields {
        Fields::new()
            .with("messages", self.messages)
            .with("damages", self.damages)
            .with("ofDeletedTopics", self.of_deleted_topics)
    }
}

/// Shows the records that meet `selection` (the conditions of a log), in the order of the log, until `visit` breaks. Every
/// CRC is checked. `progress` is told how many bytes of the log are done.
///
/// # Errors
///
/// Whatever the disk reports.
pub fn export(
    store: &StoreInspection,
    selection: &Selection,
    progress: &mut dyn FnMut(u64),
    visit: &mut dyn FnMut(u64, &MessageView<'_>) -> ControlFlow<()>,
) -> Result<ExportReport, InspectError> {
    let mut log = store.log()?;
    let (from, to) = offset_bounds(selection.range(conditions::OFFSET));
    let start = log.min_offset();
    // Records are found from the beginning of a file on.
    let first = log.files().file_at(from).map_or(start, |file| file.offset);
    let mut report = ExportReport::default();
    log.walk(first, to, &mut |phy_offset, item| {
        progress(phy_offset - start);
        match item {
            LogItem::Record(view) if phy_offset >= from && is_selected(selection, view, phy_offset) => {
                if store.is_of_deleted_topic(view.topic, phy_offset) {
                    report.of_deleted_topics += 1;
                    return ControlFlow::Continue(());
                }
                report.messages += 1;
                visit(phy_offset, view)
            }
            LogItem::Damage(_) => {
                report.damages += 1;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    })?;
    Ok(report)
}

#[cfg(test)]
mod tests;
