//! The log on a thread of its own: it reads, checks every CRC and hands on what the records say without their bodies,
//! while the calling thread holds the batches before against queues and index.

use crate::service::beside;
use std::ops::{ControlFlow, Range};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use store_logic::DiskError;
use store_logic::commit_log::format::MessageView;
use store_logic::inspect::InspectError;
use store_logic::inspectors::{Damage, LogItem, LogReader, LogSummary};

/// Batches on their way.
const AHEAD: usize = 8;
/// Records of a batch.
const BATCH: usize = 512;

/// What stands at a place of the log, its body left out.
pub(super) enum Item<'a> {
    Record(&'a MessageView<'a>),
    Damage(&'a Damage),
    Blank,
}

enum Entry {
    /// A record without text, and where its topic and its properties stand in the batch's text.
    Record(MessageView<'static>, Range<usize>, Range<usize>),
    Damage(Damage),
    Blank,
}

#[derive(Default)]
struct Batch {
    entries: Vec<(u64, Entry)>,
    text: String,
}

impl Batch {
    fn push(&mut self, phy_offset: u64, item: &LogItem<'_>) {
        let entry = match item {
            LogItem::Record(view) => {
                let topic = self.keep(view.topic);
                let properties = self.keep(view.properties);
                Entry::Record(without_text(view), topic, properties)
            }
            LogItem::Damage(damage) => Entry::Damage((*damage).clone()),
            LogItem::Blank => Entry::Blank,
        };
        self.entries.push((phy_offset, entry));
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.text.clear();
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let from = self.text.len();
        self.text.push_str(text);
        from..self.text.len()
    }
}

fn without_text(view: &MessageView<'_>) -> MessageView<'static> {
    MessageView {
        total_size: view.total_size,
        version: view.version,
        body_crc: view.body_crc,
        queue_id: view.queue_id,
        flag: view.flag,
        queue_offset: view.queue_offset,
        physical_offset: view.physical_offset,
        sys_flag: view.sys_flag,
        born_timestamp: view.born_timestamp,
        born_host: view.born_host,
        store_timestamp: view.store_timestamp,
        store_host: view.store_host,
        reconsume_times: view.reconsume_times,
        prepared_transaction_offset: view.prepared_transaction_offset,
        body: &[],
        topic: "",
        properties: "",
        properties_bytes: &[],
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
        for (phy_offset, entry) in &batch.entries {
            match entry {
                Entry::Record(view, topic, properties) => {
                    let properties = &batch.text[properties.clone()];
                    let view = MessageView {
                        topic: &batch.text[topic.clone()],
                        properties,
                        properties_bytes: properties.as_bytes(),
                        ..view.clone()
                    };
                    visit(*phy_offset, Item::Record(&view))?;
                }
                Entry::Damage(damage) => visit(*phy_offset, Item::Damage(damage))?,
                Entry::Blank => visit(*phy_offset, Item::Blank)?,
            }
        }
        batch.clear();
        // The reader may have come to the end already.
        let _ = give_back.send(batch);
    }
    Ok(())
}
