//! The log on a thread of its own: it reads, checks every CRC and hands on what the records say without their bodies,
//! while the calling thread holds the batches before against queues and index.

use crate::service::beside;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use store_logic::DiskError;
use store_logic::commit_log::filler::is_filler;
use store_logic::commit_log::format::MessageView;
use store_logic::dispatch::{DispatchRequest, RecordHead};
use store_logic::inspect::InspectError;
use store_logic::inspectors::{Damage, LogItem, LogReader, LogSummary, facts_of_parts};

/// Batches on their way.
const AHEAD: usize = 8;
/// Records of a batch.
const BATCH: usize = 512;

/// What stands at a place of the log, its body left out.
pub(super) enum Item<'a> {
    /// A record, and its queue offset as it says.
    Record(&'a DispatchRequest<'a>, i64),
    /// A filler of this many bytes.
    Filler(u32),
    Damage(&'a Damage),
    Blank,
}

/// As small as can be: all of it goes from one processor to the other.
enum Entry {
    /// A record, and the bytes of its topic and of its properties, which are the next of the batch's text.
    Record(RecordHead, u32, u32),
    Filler(u64, u32),
    Damage(u64, Box<Damage>),
    Blank(u64),
}

#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    text: String,
}

impl Batch {
    fn push(&mut self, phy_offset: u64, item: &LogItem<'_>) {
        let entry = match item {
            LogItem::Record(view) if is_filler(view) => Entry::Filler(phy_offset, view.total_size),
            LogItem::Record(view) => self.record(phy_offset, view),
            LogItem::Damage(damage) => Entry::Damage(phy_offset, Box::new((*damage).clone())),
            LogItem::Blank => Entry::Blank(phy_offset),
        };
        self.entries.push(entry);
    }

    fn record(&mut self, phy_offset: u64, view: &MessageView<'_>) -> Entry {
        self.text.push_str(view.topic);
        self.text.push_str(view.properties);
        let head = RecordHead::new(phy_offset, view);
        Entry::Record(head, view.topic.len() as u32, view.properties.len() as u32)
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.text.clear();
    }
}

/// Walks the whole log and shows what stands there, in order, until `visit` fails.
pub(super) fn walk(
    log: LogReader,
    visit: &mut dyn FnMut(u64, Item<'_>) -> Result<(), InspectError>,
) -> Result<LogSummary, InspectError> {
    let (sender, receiver) = sync_channel(AHEAD);
    // Batches go back empty, so that a few of them carry the whole log.
    let (give_back, returned) = channel();
    let (summary, visited) = beside(
        "VerifyLog",
        move || read(log, &sender, &returned),
        move || consume(receiver, &give_back, visit),
    )
    .map_err(|error| DiskError::new("start a thread for", std::path::Path::new("the log"), error))?;
    visited?;
    Ok(summary?)
}

fn read(
    mut log: LogReader,
    sender: &SyncSender<Batch>,
    returned: &Receiver<Batch>,
) -> Result<LogSummary, DiskError> {
    let mut batch = Batch::default();
    let summary = log.walk(log.min_offset(), u64::MAX, &mut |phy_offset, item| {
        batch.push(phy_offset, &item);
        if batch.entries.len() < BATCH {
            return ControlFlow::Continue(());
        }
        // Nobody receives any more: the other side has failed and tells so itself.
        let next = returned.try_recv().unwrap_or_default();
        match sender.send(std::mem::replace(&mut batch, next)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    let _ = sender.send(batch);
    Ok(summary)
}

fn consume(
    receiver: Receiver<Batch>,
    give_back: &Sender<Batch>,
    visit: &mut dyn FnMut(u64, Item<'_>) -> Result<(), InspectError>,
) -> Result<(), InspectError> {
    for mut batch in receiver {
        let mut text = batch.text.as_str();
        for entry in &batch.entries {
            match entry {
                Entry::Record(head, topic_len, properties_len) => {
                    let (topic, rest) = text.split_at(*topic_len as usize);
                    let (properties, rest) = rest.split_at(*properties_len as usize);
                    text = rest;
                    let request = facts_of_parts(head, topic, properties);
                    visit(head.phy_offset, Item::Record(&request, head.queue_offset))?;
                }
                Entry::Filler(phy_offset, size) => visit(*phy_offset, Item::Filler(*size))?,
                Entry::Damage(phy_offset, damage) => visit(*phy_offset, Item::Damage(damage))?,
                Entry::Blank(phy_offset) => visit(*phy_offset, Item::Blank)?,
            }
        }
        batch.clear();
        // The reader may have come to the end already.
        let _ = give_back.send(batch);
    }
    Ok(())
}
