use crate::messages::message;
use crate::see;
use crate::test_store::{TestStore, small_config};
use store_core::{Message, MessageStore, properties, tags_code};

/// Properties without their last separator, and one that the store puts behind them.
#[test]
fn field_F46_properties_of_a_batch_stay_apart() {
    let dir = tempfile::tempdir().unwrap();
    for record_crc in [false, true] {
        let mut config = small_config(&dir.path().join(record_crc.to_string()));
        config.commit_log.enabled_append_prop_crc = record_crc;
        let mut store = TestStore::open(config).unwrap();
        let sent = [
            "KEYS\u{1}k0\u{2}TAGS\u{1}tag0",
            "TAGS\u{1}tag1",
            "",
            "TAGS\u{1}tag3\u{2}",
            "a\u{1}b\u{2}TAGS\u{1}tag4",
        ];
        let batch: Vec<_> =
            sent.iter().map(|properties| Message { properties, ..message("T", 0, b"body") }).collect();
        let put = store.put_batch(&batch);
        store.settle();
        let mut expected_bytes = 0;
        for (number, (properties, phy_offset)) in sent.iter().zip(&put.batch_offsets).enumerate() {
            let stored = see(&store, *phy_offset, |view| view.properties.to_owned());
            let mut expected: Vec<_> = properties::pairs(properties).collect();
            let mut found: Vec<_> = properties::pairs(&stored).collect();
            if record_crc {
                let last = found.pop().unwrap();
                assert_eq!((last.0, last.1.len()), ("__CRC32#", 10), "{stored:?}");
            }
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{stored:?}");
            let unit = store.store.queue_unit("T", 0, number as u64).unwrap();
            assert_eq!(unit.tags_code, tags_code::tags_code(properties::get(properties, "TAGS")));
            let separator = record_crc && !properties.is_empty() && !properties.ends_with('\u{2}');
            let size = 91 + 4 + 1 + properties.len() + usize::from(separator) + 20 * usize::from(record_crc);
            assert_eq!(unit.size as usize, size, "the separator counts");
            expected_bytes += size as u64;
        }
        assert_eq!(put.wrote_bytes, expected_bytes);
        store.stop();
    }
}
