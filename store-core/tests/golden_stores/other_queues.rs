//! Batch queues and extension files, read with the objects of the logic layer: they are derived data that this store does
//! not write, so they are compared as they lie there.

use crate::golden_store::{GoldenStore, sorted};
use serde::Deserialize;
use std::fs;
use store_core::Env;
use store_logic::batch_consume_queue::format::UNIT_SIZE;
use store_logic::batch_consume_queue::{BatchConsumeQueue, BatchUnit};
use store_logic::consume_queue_ext::ConsumeQueueExt;
use store_logic::consume_queue_ext::format::address_of;

/// A batch queue as Java read it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchQueueDump {
    topic: String,
    queue_id: i32,
    /// `name:size`.
    files: Vec<String>,
    /// Number, position, size, tag code, store time, base, batch size, compacted offset, reserved.
    units: Vec<UnitDump>,
}

type UnitDump = (u64, u64, u32, i64, i64, u64, u16, i32, i32);

/// An extension file as Java read it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtDump {
    topic: String,
    queue_id: String,
    file: String,
    units: Vec<ExtUnitDump>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExtUnitDump {
    at: u64,
    tags_code: i64,
    store_time: i64,
    bit_map: String,
}

/// Compares all batch queues and extension files of a store.
pub fn compare(store: &GoldenStore) {
    let mut batch = store.expected.batchconsumequeue.iter();
    for queue in sorted(&store.root().join("batchconsumequeue")).iter().flat_map(|topic| sorted(topic)) {
        batch_queue(store, batch.next().expect("a batch queue less"), &queue);
    }
    assert!(batch.next().is_none(), "{}: more batch queues expected", store.name);
    let mut ext = store.expected.consumequeue_ext.iter();
    for queue in sorted(&store.root().join("consumequeue_ext")).iter().flat_map(|topic| sorted(topic)) {
        ext_queue(store, &mut ext, &queue);
    }
    assert!(ext.next().is_none(), "{}: more extension files expected", store.name);
}

fn batch_queue(store: &GoldenStore, dump: &BatchQueueDump, directory: &std::path::Path) {
    let name = directory.display().to_string();
    assert!(name.ends_with(&format!("/{}/{}", dump.topic, dump.queue_id)), "{name}");
    let paths = sorted(directory);
    let files: Vec<_> = paths
        .iter()
        .map(|path| {
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            format!("{file}:{}", path.metadata().expect("a file").len())
        })
        .collect();
    assert_eq!(files, dump.files, "{name}");
    let content: Vec<u8> = paths.iter().flat_map(|path| fs::read(path).expect("a file")).collect();

    let file_size = store.number("mapperFileSizeBatchConsumeQueue");
    let queue =
        BatchConsumeQueue::open(&Env::os(), directory, &dump.topic, dump.queue_id, file_size).expect("opens");
    queue.recover(u64::MAX).expect("recovers");
    for &(
        number,
        phy_offset,
        size,
        tags_code,
        store_timestamp,
        base_offset,
        batch_size,
        compacted,
        reserved,
    ) in &dump.units
    {
        let unit = BatchUnit {
            phy_offset,
            size,
            tags_code,
            store_timestamp,
            base_offset,
            batch_size,
            compacted_offset: compacted,
        };
        assert_eq!((queue.unit(number), reserved), (Some(unit), 0), "{name}: unit {number}");
        let at = (number * UNIT_SIZE) as usize;
        assert_eq!(content[at..at + UNIT_SIZE as usize], unit.encode(), "{name}: bytes of unit {number}");
        for offset in base_offset..unit.next_offset() {
            let found = queue.units_from(offset).and_then(|mut units| units.next());
            assert_eq!(found, Some(unit), "{name}: offset {offset}");
        }
    }
    assert_eq!(queue.unit(dump.units.len() as u64), None, "{name}: one more unit");
    let key = format!("{}:{}", dump.topic, dump.queue_id);
    let opened =
        store.expected.java_open.queues.iter().find(|queue| queue.name() == key).expect("opened by Java");
    assert_eq!((queue.min_offset(), queue.max_offset()), (opened.min, opened.max), "{name}");
}

fn ext_queue<'a>(
    store: &GoldenStore,
    dumps: &mut impl Iterator<Item = &'a ExtDump>,
    directory: &std::path::Path,
) {
    let file_size = store.number("mappedFileSizeConsumeQueueExt");
    let ext = ConsumeQueueExt::open(&Env::os(), directory, file_size).expect("opens");
    ext.recover().expect("recovers");
    let mut found = ext.units();
    for path in sorted(directory) {
        let dump = dumps.next().expect("an extension file less");
        let name = path.display().to_string();
        assert!(name.ends_with(&format!("/{}/{}/{}", dump.topic, dump.queue_id, dump.file)), "{name}");
        let first: u64 = dump.file.parse().expect("an offset");
        for expected in &dump.units {
            let (at, unit) = found.next().expect("a unit less");
            assert_eq!(at, first + expected.at, "{name}");
            assert_eq!(
                (unit.tags_code, unit.store_timestamp),
                (expected.tags_code, expected.store_time),
                "{name}"
            );
            assert_eq!(crate::plain_reading::hex(&unit.bitmap), expected.bit_map, "{name}");
            assert_eq!(ext.get(address_of(at)), Some(unit), "{name}");
        }
    }
    assert!(found.next().is_none(), "{}: one more unit", directory.display());
}
