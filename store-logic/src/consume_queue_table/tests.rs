use super::*;
use crate::consume_queue::Unit;
use crate::queue::CqUnit;

const UNIT: Unit = Unit { phy_offset: 0, size: 1, tags_code: 0 };

#[test]
fn finds_what_it_made_and_leaves_strays() {
    let dir = tempfile::tempdir().unwrap();
    let table = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
    let handle = table.get_or_create("T", 3).unwrap();
    handle.queue.put(&CqUnit::single(0, UNIT), 0).unwrap();
    table.get_or_create("only-in-memory", 0).unwrap();
    std::fs::write(dir.path().join("stray"), b"").unwrap();
    std::fs::create_dir(dir.path().join("T/not-a-number")).unwrap();

    let again = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
    assert_eq!(again.topics(), ["T"]);
    assert_eq!(again.queue_ids("T"), [3]);
    std::fs::remove_dir(dir.path().join("T/not-a-number")).unwrap();
    assert_eq!(again.delete_topic("T").unwrap(), 1);
    assert!(!dir.path().join("T").exists());
}

#[test]
fn light_queues_are_counted_as_they_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let table = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
    for number in 0..3 {
        assert!(table.get_or_create_light(&format!("%LMQ%{number}"), 3).unwrap().is_ok());
    }
    let refused = table.get_or_create_light("%LMQ%3", 3).unwrap().unwrap_err();
    assert_eq!(refused, LightQueueLimit { limit: 3, found: 3 });
    assert!(table.get_or_create_light("%LMQ%1", 3).unwrap().is_ok(), "one that is there");
    assert!(table.get("%LMQ%3", 0).is_none());
    table.get_or_create("T", 0).unwrap();
    assert_eq!(table.delete_topic("%LMQ%0").unwrap() + table.delete_topic("T").unwrap(), 2);
    assert_eq!(table.light_queues(), 2);
    let handle = table.get_or_create_light("%LMQ%3", 3).unwrap().unwrap();
    handle.queue.put(&CqUnit::single(0, UNIT), 0).unwrap();
    let again = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
    assert_eq!(again.light_queues(), 1, "those on disk");
}

#[test]
fn a_topic_cannot_leave_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let table = ConsumeQueueTable::load(&Env::os(), dir.path(), 200).unwrap();
    for topic in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", &"t".repeat(256)] {
        assert!(table.get_or_create(topic, 0).is_err(), "{topic:?}");
    }
    assert!(table.get_or_create("T", -1).is_err());
}

fn load_both(root: &Path, batch_topics: &'static [&'static str]) -> Result<ConsumeQueueTable> {
    let kind = |topic: &str| {
        if batch_topics.contains(&topic) { QueueType::BatchCq } else { QueueType::SimpleCq }
    };
    let batch = BatchQueues { directory: root.join("batch"), file_size: 460, types: QueueTypes::new(kind) };
    ConsumeQueueTable::load_all(&Env::os(), &root.join("simple"), 200, None, Some(batch))
}

#[test]
fn queues_on_disk_decide_before_anyone_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let table = load_both(dir.path(), &["B", "%LMQ%B"]).unwrap();
    assert_eq!(table.get_or_create_light("%LMQ%B", 9).unwrap().unwrap().queue.kind(), QueueType::SimpleCq);
    for topic in ["A", "B"] {
        let handle = table.get_or_create(topic, 0).unwrap();
        handle.queue.put(&CqUnit { queue_offset: 7, count: 3, unit: UNIT }, 5).unwrap();
    }
    assert_eq!(table.get("B", 0).unwrap().queue.max_offset(), 10);
    assert!(dir.path().join("batch/B/0").exists() && dir.path().join("simple/A/0").exists());

    let again = load_both(dir.path(), &["A", "C"]).unwrap();
    let kinds = ["A", "B", "C", "D"].map(|topic| again.get_or_create(topic, 1).unwrap().queue.kind());
    let (simple, batch) = (QueueType::SimpleCq, QueueType::BatchCq);
    assert_eq!(kinds, [simple, batch, batch, simple]);
    assert_eq!(again.delete_topic("B").unwrap(), 2);
    assert!(!dir.path().join("batch/B").exists());
    assert_eq!(again.get_or_create("B", 0).unwrap().queue.kind(), simple, "made anew");
}

#[test]
fn a_topic_of_two_kinds_is_refused_unless_one_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let handle = load_both(dir.path(), &["T"]).unwrap().get_or_create("T", 0).unwrap();
    handle.queue.put(&CqUnit::single(0, UNIT), 5).unwrap();
    std::fs::create_dir_all(dir.path().join("simple/T/0")).unwrap();
    let kind = |table: Result<ConsumeQueueTable>| table.unwrap().get("T", 0).unwrap().queue.kind();
    assert_eq!(kind(load_both(dir.path(), &[])), QueueType::BatchCq);
    std::fs::write(dir.path().join("simple/T/0/00000000000000000000"), [0; 200]).unwrap();
    let refused = load_both(dir.path(), &[]).unwrap_err().to_string();
    assert!(refused.contains("queues of one kind for topic T"), "{refused}");
    std::fs::remove_file(dir.path().join("batch/T/0/00000000000000000000")).unwrap();
    assert_eq!(kind(load_both(dir.path(), &["T"])), QueueType::SimpleCq);
}
