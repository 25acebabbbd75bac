use super::commit_log::offset_bounds;
use super::conditions;
use super::queue_reader::{QueuePlace, QueueReader};
use crate::consume_queue::format::UNIT_SIZE;
use std::ops::ControlFlow;
use store_mmap::inspect::{Fields, Finding, InspectError, Inspector, Place, Selection};
use store_mmap::{Env, file_name};

/// Knows the files of queues: `consumequeue/{topic}/{queueId}/{offset}`.
#[derive(Debug)]
pub struct ConsumeQueueInspector {
    env: Env,
}

impl ConsumeQueueInspector {
    /// An inspector that reads through `env`.
    pub fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }

    fn reader(&self, place: &Place) -> QueueReader {
        let offset = file_name::parse_offset_name(place.name()).unwrap_or(0);
        QueueReader::of_file(&self.env, place.path(), offset, place.len())
    }
}

/// Topic and queue in a path.
fn queue_of(place: &Place) -> Fields {
    let queue_id: i32 = place.directory(1).parse().unwrap_or(0);
    Fields::new().with("topic", place.directory(2)).with("queueId", queue_id)
}

impl Inspector for ConsumeQueueInspector {
    fn name(&self) -> &'static str {
        "queue file"
    }

    fn recognises(&self, place: &Place) -> bool {
        place.directory(3) == "consumequeue"
            && place.directory(1).parse::<i32>().is_ok()
            && file_name::parse_offset_name(place.name()).is_some()
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let reader = self.reader(place);
        let (first, end) = (reader.first(), reader.end()?);
        Ok(queue_of(place).with("from", first).with("to", end))
    }

    fn conditions(&self) -> &'static [&'static str] {
        &[conditions::TOPIC, conditions::QUEUE, conditions::OFFSET]
    }

    fn dump(
        &self,
        place: &Place,
        selection: &Selection,
        visit: &mut dyn FnMut(Fields) -> ControlFlow<()>,
    ) -> Result<(), InspectError> {
        selection.check(self)?;
        let queue_id = place.directory(1).parse().unwrap_or(0);
        let is_wanted = selection.accepts_text(conditions::TOPIC, place.directory(2))
            && selection.range(conditions::QUEUE).contains(queue_id);
        if !is_wanted {
            return Ok(());
        }
        let mut reader = self.reader(place);
        let (from, to) = offset_bounds(selection.range(conditions::OFFSET));
        let (from, to) = (from.max(reader.first()), to.min(reader.end()?));
        let queue = queue_of(place);
        reader.walk(from, to, &mut |queue_offset, queue_place| {
            let fields = queue.clone().with("queueOffset", queue_offset);
            match queue_place {
                QueuePlace::Unit(unit) => visit(
                    fields
                        .with("offset", unit.phy_offset)
                        .with("size", unit.size)
                        .with("tagsCode", unit.tags_code),
                ),
                QueuePlace::Blank => visit(fields.with("blank", true)),
                _ => ControlFlow::Continue(()),
            }
        })?;
        Ok(())
    }

    /// Units follow one another without holes, and their records in the log do too.
    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        let mut reader = self.reader(place);
        let (first, end) = (reader.first(), reader.end()?);
        let queue = queue_of(place);
        let mut last = None;
        reader.walk(first, end, &mut |queue_offset, queue_place| {
            let mut tell = |kind, expected: String, is: String| {
                let subject = queue.clone().with("queueOffset", queue_offset);
                let at = (queue_offset - first) * UNIT_SIZE;
                found(Finding::error(kind, place.path(), expected, is).at(at).about(subject));
            };
            match queue_place {
                QueuePlace::Unit(unit) => {
                    if last.is_some_and(|last| unit.phy_offset <= last) {
                        let expected = format!("a record behind {}", last.unwrap_or(0));
                        tell("unit-order", expected, format!("one at {}", unit.phy_offset));
                    }
                    last = Some(unit.phy_offset);
                }
                QueuePlace::Empty => tell("missing-unit", "a unit".to_owned(), "zeros".to_owned()),
                QueuePlace::Broken(bytes) => {
                    tell("broken-unit", "a unit".to_owned(), format!("{bytes:02x?}"));
                }
                QueuePlace::Blank | QueuePlace::Outside => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}
