use super::batch_queue_reader::{BatchPlace, BatchQueueReader};
use super::commit_log::offset_bounds;
use super::conditions;
use crate::batch_consume_queue::BatchUnit;
use crate::batch_consume_queue::format::{NOT_COMPACTED, UNIT_SIZE};
use std::ops::ControlFlow;
use store_mmap::inspect::{FieldValue, Fields, Finding, InspectError, Inspector, Place, Selection};
use store_mmap::{Env, file_name};

/// Knows the files of batch queues: `batchconsumequeue/{topic}/{queueId}/{offset}`.
#[derive(Debug)]
pub struct BatchConsumeQueueInspector {
    env: Env,
}

impl BatchConsumeQueueInspector {
    /// An inspector that reads through `env`.
    pub fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }

    fn reader(&self, place: &Place) -> BatchQueueReader {
        let offset = file_name::parse_offset_name(place.name()).unwrap_or(0);
        BatchQueueReader::of_file(&self.env, place.path(), offset, place.len())
    }
}

/// Topic and queue in a path.
fn queue_of(place: &Place) -> Fields {
    let queue_id: i32 = place.directory(1).parse().unwrap_or(0);
    Fields::new().with("topic", place.directory(2)).with("queueId", queue_id)
}

fn unit_fields(fields: Fields, unit: &BatchUnit) -> Fields {
    let fields = fields
        .with("queueOffset", unit.base_offset)
        .with("messages", u64::from(unit.batch_size))
        .with("offset", unit.phy_offset)
        .with("size", unit.size)
        .with("tagsCode", unit.tags_code)
        .with("storeTime", FieldValue::Millis(unit.store_timestamp));
    if unit.compacted_offset == NOT_COMPACTED {
        fields
    } else {
        fields.with("compactedOffset", unit.compacted_offset)
    }
}

impl Inspector for BatchConsumeQueueInspector {
    fn name(&self) -> &'static str {
        "batch queue file"
    }

    fn recognises(&self, place: &Place) -> bool {
        place.directory(3) == "batchconsumequeue"
            && place.directory(1).parse::<i32>().is_ok()
            && file_name::parse_offset_name(place.name()).is_some()
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let mut reader = self.reader(place);
        let fields = queue_of(place).with("units", reader.end()? - reader.first());
        let (first, last) = (reader.place(reader.first())?, reader.last_unit()?);
        match (first, last) {
            (BatchPlace::Unit(first), Some(last)) => {
                Ok(fields.with("from", first.base_offset).with("to", last.next_offset()))
            }
            _ => Ok(fields),
        }
    }

    fn conditions(&self) -> &'static [&'static str] {
        &[conditions::TOPIC, conditions::QUEUE, conditions::OFFSET, conditions::TIME]
    }

    /// Units any of whose queue offsets is selected.
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
        let (from, to) = offset_bounds(selection.range(conditions::OFFSET));
        let times = selection.range(conditions::TIME);
        let queue = queue_of(place);
        self.reader(place).walk(&mut |_, place| match place {
            BatchPlace::Unit(unit)
                if unit.next_offset() > from
                    && unit.base_offset < to
                    && times.contains(unit.store_timestamp) =>
            {
                visit(unit_fields(queue.clone(), &unit))
            }
            _ => ControlFlow::Continue(()),
        })?;
        Ok(())
    }

    /// Units follow one another in the log and in the queue.
    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        let mut reader = self.reader(place);
        let first = reader.first();
        let queue = queue_of(place);
        let mut last: Option<BatchUnit> = None;
        reader.walk(&mut |number, queue_place| {
            let mut about = |finding: Finding| {
                let subject = queue.clone().with("unit", number);
                found(finding.at((number - first) * UNIT_SIZE).about(subject));
            };
            let mut tell = |kind, expected: String, is: String| {
                about(Finding::error(kind, place.path(), expected, is));
            };
            match queue_place {
                BatchPlace::Unit(unit) => {
                    if let Some(last) = last {
                        if unit.phy_offset <= last.phy_offset {
                            let expected = format!("a record behind {}", last.phy_offset);
                            tell("unit-order", expected, format!("one at {}", unit.phy_offset));
                        }
                        let expected = format!("queue offset {}", last.next_offset());
                        if unit.base_offset < last.next_offset() {
                            tell("unit-order", expected, unit.base_offset.to_string());
                        } else if unit.base_offset > last.next_offset() {
                            let is = format!("{}: messages before were lost with damage", unit.base_offset);
                            about(Finding::note("empty-place", place.path(), expected, is));
                        }
                    }
                    last = Some(unit);
                }
                BatchPlace::Empty => tell("missing-unit", "a unit".to_owned(), "zeros".to_owned()),
                BatchPlace::Broken(bytes) => {
                    tell("broken-unit", "a unit".to_owned(), format!("{bytes:02x?}"));
                }
                BatchPlace::Outside => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}
