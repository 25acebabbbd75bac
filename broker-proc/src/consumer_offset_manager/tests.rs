use super::*;

const CONFIG_ONLY: &[u8] = include_bytes!("../../tests/golden/config/config-only/consumerOffset.json");
const RETRY_DLQ: &[u8] = include_bytes!("../../tests/golden/config/retry-dlq/consumerOffset.json");

fn manager() -> ConsumerOffsetManager {
    ConsumerOffsetManager::new(500, 1000)
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn commits_are_stored_as_they_come() {
    let manager = manager();
    assert_eq!(manager.query_offset("g", "T", 0), None);
    assert_eq!(manager.commit_offset("g", "T", 0, 10, 1), CommitOutcome::Stored);
    assert_eq!(manager.commit_offset("g", "T", 0, 5, 1), CommitOutcome::Stored, "going back is allowed");
    assert_eq!(manager.query_offset("g", "T", 0), Some(5));
    assert_eq!(manager.query_offset("g", "T", 1), None);
    assert_eq!(manager.query_offset("g", "U", 0), None);
    assert_eq!(manager.query_offset("h", "T", 0), None);
    assert_eq!(manager.query_offsets("g", "T"), Some(BTreeMap::from([(0, 5)])));
}

#[test]
fn negative_offsets_are_accepted_and_ignored() {
    let manager = manager();
    assert_eq!(manager.commit_offset("g", "T", 0, -1, 1), CommitOutcome::Ignored);
    assert_eq!(manager.query_offset("g", "T", 0), None);
    manager.decode(b"{offsetTable:{'T@g':{0:-1,1:3}}}").expect("decode");
    assert_eq!(manager.query_offset("g", "T", 0), None, "a stored -1 is no offset");
    assert_eq!(manager.query_offset("g", "T", 1), Some(3));
}

#[test]
fn a_reset_is_taken_once_and_commits_before_it_are_dropped() {
    let manager = manager();
    manager.commit_offset("g", "T", 0, 10, 1);
    manager.commit_offset("g", "T", 1, 10, 1);
    manager.assign_reset_offset("T", "g", 0, 3, 2);
    assert_eq!(manager.query_offset("g", "T", 0), Some(3));
    assert_eq!(manager.commit_offset("g", "T", 0, 11, 3), CommitOutcome::DroppedByReset);
    assert_eq!(manager.commit_offset("g", "T", 1, 11, 3), CommitOutcome::Stored, "another queue");
    assert_eq!(manager.query_offset("g", "T", 0), Some(3));
    assert_eq!(manager.take_reset_offset("T", "g", 0), Some(3));
    assert_eq!(manager.take_reset_offset("T", "g", 0), None);
    assert_eq!(manager.commit_offset("g", "T", 0, 4, 4), CommitOutcome::Stored);
    assert_eq!(manager.query_offset("g", "T", 0), Some(4));
}

#[test]
fn pull_offsets_are_their_own_table() {
    let manager = manager();
    manager.commit_pull_offset("g", "T", 0, 7);
    assert_eq!(manager.query_pull_offset("g", "T", 0), Some(7));
    assert_eq!(manager.query_offset("g", "T", 0), None);
    assert!(manager.topics_of_group("g").is_empty(), "only confirmed offsets make a group known");
}

#[test]
fn topics_and_groups() {
    let manager = manager();
    for (group, topic) in [("g", "T"), ("g", "U"), ("h", "T")] {
        manager.commit_offset(group, topic, 0, 1, 1);
    }
    assert_eq!(manager.topics_of_group("g"), set(&["T", "U"]));
    assert_eq!(manager.groups_of_topic("T"), set(&["g", "h"]));
    assert!(manager.groups_of_topic("V").is_empty());
}

#[test]
fn removing() {
    let manager = manager();
    for (group, topic) in [("g", "T"), ("g", "U"), ("h", "T"), ("h", "U")] {
        manager.commit_offset(group, topic, 0, 1, 1);
        manager.commit_pull_offset(group, topic, 0, 1);
    }
    manager.assign_reset_offset("T", "g", 0, 9, 1);
    let before = manager.data_version();
    manager.remove_topic("nothing", 5);
    assert_eq!(manager.data_version(), before);
    manager.remove_topic("T", 5);
    assert_eq!(manager.data_version(), before.next(5));
    assert!(manager.groups_of_topic("T").is_empty());
    assert!(!manager.has_offset_reset("T", "g", 0));
    assert_eq!(manager.query_pull_offset("g", "T", 0), None);
    manager.remove_group("g", 6);
    assert_eq!(manager.groups_of_topic("U"), set(&["h"]));
    manager.remove_group_topic("h", "U", 7);
    assert!(manager.snapshot().offset_table.is_empty() && manager.topics_of_group("h").is_empty());
}

#[test]
fn cloning_a_group() {
    let manager = manager();
    manager.commit_offset("g", "T", 0, 1, 1);
    manager.commit_offset("g", "U", 0, 2, 1);
    manager.clone_offsets("g", "copy", Some("T"), 2);
    assert_eq!(manager.topics_of_group("copy"), set(&["T"]));
    manager.clone_offsets("g", "copy", None, 2);
    assert_eq!(manager.query_offset("copy", "U", 0), Some(2));
    manager.commit_offset("copy", "T", 0, 50, 3);
    assert_eq!(manager.query_offset("g", "T", 0), Some(1), "a copy, not the same table");
    manager.clone_offsets("nobody", "copy2", None, 2);
    assert!(manager.topics_of_group("copy2").is_empty());
}

#[test]
fn the_version_makes_a_step_every_so_many_commits() {
    let manager = ConsumerOffsetManager::new(3, 1000);
    for millis in 1..=7 {
        manager.commit_offset("g", "T", 0, millis, 2000 + millis);
    }
    assert_eq!(manager.data_version(), DataVersion { state_version: 0, counter: 2, timestamp: 2006 });
}

#[test]
fn only_changes_make_it_worth_persisting() {
    let manager = manager();
    assert!(!manager.take_changed());
    manager.commit_offset("g", "T", 0, 1, 1);
    assert!(manager.take_changed() && !manager.take_changed());
    manager.commit_offset("g", "T", 0, 1, 1);
    assert!(!manager.take_changed(), "the same offset again");
    manager.commit_pull_offset("g", "T", 0, 1);
    assert!(manager.take_changed());
    manager.mark_changed();
    assert!(manager.take_changed());
}

#[test]
fn files_of_java_survive_a_round() {
    for golden in [CONFIG_ONLY, RETRY_DLQ] {
        let first = manager();
        first.decode(golden).expect("golden file");
        let written = first.encode().expect("encode");
        let second = manager();
        second.decode(written.as_bytes()).expect("own file");
        assert_eq!(second.snapshot(), first.snapshot());
        assert_eq!(second.data_version(), first.data_version());
        let java: ConsumerOffsetSerializeWrapper = java_json::from_slice(golden).expect("golden file");
        let mut ours = first.snapshot();
        ours.group_topic_map = java.group_topic_map.clone();
        assert_eq!(ours, java, "nothing lost; the derived map may be in another order");
    }
}

#[test]
fn content_of_a_java_file() {
    let manager = manager();
    manager.decode(CONFIG_ONLY).expect("golden file");
    assert_eq!(manager.query_offset("g_c2", "TopicNormal", 1), Some(2));
    assert_eq!(manager.query_offset("g_c2", "TopicNormal", 7), Some(1));
    assert_eq!(manager.query_pull_offset("g_c2", "TopicNormal", 7), Some(2));
    assert_eq!(manager.topics_of_group("g_popfifo"), set(&["TopicFifoAttr"]));
    assert_eq!(manager.data_version().timestamp, 1_796_063_215_062);
}

#[test]
fn files_of_older_releases() {
    // 5.3: bare keys on one line; 4.9: the offset table alone.
    let manager = manager();
    let text = "{\n\t\"groupTopicMap\":{\n\t\t\"group_a\":[\"TopicTest\",\"%RETRY%group_a\"]\n\t},\n\t\"offsetTable\":{\n\t\t\
                \"%RETRY%group_a@group_a\":{0:0\n\t\t},\n\t\t\"TopicTest@group_a\":{0:250,1:251\n\t\t}\n\t}\n}";
    manager.decode(text.as_bytes()).expect("decode");
    assert_eq!(manager.query_offset("group_a", "TopicTest", 1), Some(251));
    assert_eq!(manager.query_offset("group_a", "%RETRY%group_a", 0), Some(0));
    assert_eq!(manager.data_version().timestamp, 1000, "no version in the file: the own one stays");
}

#[test]
fn a_file_replaces_what_was_there_and_a_bad_one_does_not() {
    let manager = manager();
    manager.commit_offset("g", "T", 0, 1, 1);
    assert!(manager.decode(b"{\"offsetTable\":{\"T@g\":7}}").is_err());
    assert_eq!(manager.query_offset("g", "T", 0), Some(1));
    manager.decode(b"{\"offsetTable\":{\"U@g\":{\"0\":2},\"no separator\":{\"0\":3}}}").expect("decode");
    assert_eq!(manager.query_offset("g", "T", 0), None);
    assert_eq!(manager.query_offset("g", "U", 0), Some(2));
    assert_eq!(manager.snapshot().offset_table.len(), 1);
}

#[test]
fn commits_of_many_threads_do_not_get_lost() {
    let manager = manager();
    std::thread::scope(|scope| {
        for queue_id in 0..4 {
            let manager = &manager;
            scope.spawn(move || {
                for offset in 0..500 {
                    manager.commit_offset("g", "T", queue_id, offset, 1);
                }
            });
        }
    });
    assert_eq!(manager.query_offsets("g", "T"), Some((0..4).map(|queue_id| (queue_id, 499)).collect()));
    assert_eq!(manager.data_version().counter, 4);
}

#[test]
fn light_queues_have_a_file_and_a_table_of_their_own() {
    let light = manager().with_light_queues(true);
    assert_eq!(
        (light.config_file_name(), manager().config_file_name()),
        ("lmqConsumerOffset.json", "consumerOffset.json")
    );
    assert_eq!(light.without_light_queues().config_file_name(), "consumerOffset.json");
    // As Apache writes it.
    let apaches = b"{offsetTable:{'T@g':{0:3}},lmqOffsetTable:{'%LMQ%a@%LMQ%g':5}}";
    light.decode(apaches).expect("decode");
    assert_eq!(
        (light.query_offset("%LMQ%g", "%LMQ%a", 0), light.query_offset("g", "T", 0)),
        (Some(5), Some(3))
    );
    light.commit_offset("%LMQ%g", "%LMQ%b", 0, 7, 1);
    light.commit_offset("g", "%LMQ%b", 0, 9, 1);
    let text = light.encode().expect("encode");
    let wrapper: ConsumerOffsetSerializeWrapper = java_json::from_slice(text.as_bytes()).expect("JSON");
    let expected = BTreeMap::from([("%LMQ%a@%LMQ%g".to_owned(), 5), ("%LMQ%b@%LMQ%g".to_owned(), 7)]);
    assert_eq!(wrapper.lmq_offset_table, Some(expected));
    assert_eq!(wrapper.offset_table.keys().collect::<Vec<_>>(), ["%LMQ%b@g", "T@g"]);
    let again = manager().with_light_queues(true);
    again.decode(text.as_bytes()).expect("decode");
    assert_eq!(again.snapshot().offset_table, light.snapshot().offset_table);
    let plain = manager();
    plain.commit_offset("g", "T", 0, 1, 1);
    assert!(!plain.encode().expect("encode").contains("lmqOffsetTable"));
}
