use super::*;
use crate::config::MessageStoreConfig;
use crate::inspectors::InspectOptions;
use crate::{DefaultMessageStore, GetRequest, Message, MessageStore};
use std::path::Path;
use store_logic::Env;
use store_logic::inspect::Severity;
use store_logic::sim::SimWorld;

const NOW: i64 = 1_700_000_000_000;

fn config(root: &Path) -> MessageStoreConfig {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = 16 << 10;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 400;
    config.index.max_hash_slot_num = 16;
    config.index.max_index_num = 100;
    config.clean.disk_space_warning_level_ratio = 100;
    config
}

/// Stores a message and returns its queue offset.
fn put(store: &DefaultMessageStore, topic: &str, number: u64) -> u64 {
    let properties = format!("KEYS\u{1}k{number}\u{2}UNIQ_KEY\u{1}u{number}\u{2}TAGS\u{1}t\u{2}");
    let message = Message {
        topic,
        queue_id: (number % 2) as i32,
        flag: 0,
        sys_flag: 0,
        born_timestamp: NOW,
        born_host: "127.0.0.1:40000".parse().unwrap(),
        store_host: "127.0.0.1:10911".parse().unwrap(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: &vec![b'x'; 300],
        properties: &properties,
    };
    store.put(&message).wait().appended.unwrap().logics_offset
}

/// Messages in two topics and two queues each, stopped in order.
fn fill(env: &Env, root: &Path, messages: u64) {
    let store = DefaultMessageStore::open(env, config(root)).unwrap();
    for number in 0..messages {
        put(&store, if number % 3 == 0 { "Rare" } else { "Often" }, number);
    }
    store.shutdown().unwrap();
}

fn inspect(env: &Env, root: &Path) -> StoreInspection {
    StoreInspection::open(env, root, &InspectOptions::default()).unwrap()
}

fn run(env: &Env, root: &Path, options: &RebuildOptions) -> Result<RebuildReport, ToolError> {
    rebuild(&inspect(env, root), options, &mut |_| {})
}

fn assert_clean(env: &Env, root: &Path, records: u64, units: u64) {
    let mut errors = Vec::new();
    let summary = inspect(env, root).verify(&mut |_| {}, &mut |finding| {
        if finding.severity == Severity::Error {
            errors.push(finding.to_string());
        }
    });
    let summary = summary.unwrap();
    assert_eq!(errors, [] as [&str; 0]);
    assert_eq!((summary.records, summary.units), (records, units));
}

/// What consumers see.
fn visible(store: &DefaultMessageStore) -> Vec<(String, i32, u64, u64)> {
    let mut all = Vec::new();
    for topic in ["Often", "Rare"] {
        for queue_id in 0..2 {
            let offsets = store.offsets(topic, queue_id);
            let mut readable = 0;
            let mut next = offsets.min as i64;
            while (next as u64) < offsets.max {
                let request = GetRequest { topic, queue_id, offset: next, max_messages: 32, filter: None };
                let got = store.get(&request);
                readable += got.messages.len() as u64;
                next = (got.next_begin_offset as i64).max(next + 1);
            }
            all.push((topic.to_owned(), queue_id, offsets.max, readable));
        }
    }
    all
}

#[test]
fn lost_queues_and_index_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let (env, root) = (Env::os(), dir.path());
    fill(&env, root, 120);
    let store = DefaultMessageStore::open(&env, config(root)).unwrap();
    let before = visible(&store);
    store.shutdown().unwrap();
    std::fs::remove_dir_all(root.join("consumequeue/Often")).unwrap();
    std::fs::write(root.join("consumequeue/Rare/0/00000000000000000000"), vec![7; 400]).unwrap();
    let dry = run(&env, root, &RebuildOptions { dry_run: true, ..RebuildOptions::default() }).unwrap();
    assert_eq!((dry.records, dry.units, dry.replaced), (120, 120, None));
    assert!(!root.join("consumequeue/Often").exists());

    let report = run(&env, root, &RebuildOptions::default()).unwrap();
    assert_eq!((report.records, report.units, report.queues, report.indexed), (120, 120, 4, 120));
    let replaced = report.replaced.unwrap();
    let set_aside = std::fs::read(replaced.join("consumequeue/Rare/0/00000000000000000000")).unwrap();
    assert_eq!(set_aside, vec![7; 400]);
    assert!(!root.join("stratamq.rebuild").exists());
    assert_clean(&env, root, 120, 120);
    let store = DefaultMessageStore::open(&env, config(root)).unwrap();
    assert_eq!(visible(&store), before);
    assert_eq!(put(&store, "Rare", 120), 20, "offsets go on");
    store.shutdown().unwrap();
    assert_clean(&env, root, 121, 121);
}

#[test]
fn extensions_are_built_with_their_queues() {
    let dir = tempfile::tempdir().unwrap();
    let (env, root) = (Env::os(), dir.path());
    let extended = || {
        let mut config = config(root);
        config.consume_queue.enable_consume_queue_ext = true;
        DefaultMessageStore::open(&env, config).unwrap()
    };
    let store = extended();
    for number in 0..60 {
        put(&store, if number % 3 == 0 { "Rare" } else { "Often" }, number);
    }
    store.shutdown().unwrap();
    let store = extended();
    let before = visible(&store);
    store.shutdown().unwrap();
    let file = |part: &str| std::fs::read(root.join(part).join("Often/1/00000000000000000000")).unwrap();
    let (units, extensions) = (file("consumequeue"), file("consumequeue_ext"));
    std::fs::remove_dir_all(root.join("consumequeue/Often")).unwrap();

    let report = run(&env, root, &RebuildOptions::default()).unwrap();
    assert_eq!((report.units, report.queues), (60, 4));
    assert!(report.replaced.unwrap().join("consumequeue_ext/Often/1").exists());
    assert_eq!(file("consumequeue"), units, "with addresses in place of tag codes");
    assert_eq!(file("consumequeue_ext"), extensions);
    assert_clean(&env, root, 60, 60);
    let store = extended();
    assert_eq!(visible(&store), before);
    assert_eq!(put(&store, "Rare", 60), 10, "offsets go on");
    store.shutdown().unwrap();
}

#[test]
fn one_part_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (env, root) = (Env::os(), dir.path());
    fill(&env, root, 30);
    let index = std::fs::read_dir(root.join("index")).unwrap().count();
    let only_queues = RebuildOptions { index: false, ..RebuildOptions::default() };
    let report = run(&env, root, &only_queues).unwrap();
    assert_eq!((report.units, report.indexed), (30, 0));
    let replaced = report.replaced.unwrap();
    assert!(replaced.join("consumequeue").exists() && !replaced.join("index").exists());
    assert_eq!(std::fs::read_dir(root.join("index")).unwrap().count(), index);
    let only_index = RebuildOptions { queues: false, ..RebuildOptions::default() };
    assert_eq!(run(&env, root, &only_index).unwrap().indexed, 30);
    assert_clean(&env, root, 30, 30);
}

#[test]
fn deleted_topics_stay_deleted_and_emptied_queues_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let (env, root) = (Env::os(), dir.path());
    fill(&env, root, 60);
    let store = DefaultMessageStore::open(&env, config(root)).unwrap();
    store.delete_topics(&["Rare"]).unwrap();
    store.shutdown().unwrap();
    // A queue whose messages are no longer in the log.
    let gone = root.join("consumequeue/Gone/0");
    std::fs::create_dir_all(&gone).unwrap();
    let unit = store_logic::consume_queue::Unit { phy_offset: 5, size: 100, tags_code: 0 };
    let mut file = unit.encode().repeat(3);
    file.resize(400, 0);
    std::fs::write(gone.join("00000000000000000000"), &file).unwrap();
    let report = run(&env, root, &RebuildOptions::default()).unwrap();
    assert_eq!((report.of_deleted_topics, report.units, report.kept_queues), (20, 40, 1));
    assert!(!root.join("consumequeue/Rare").exists());
    assert_eq!(std::fs::read(gone.join("00000000000000000000")).unwrap(), file);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (env, root) = (Env::os(), dir.path());
    fill(&env, root, 10);
    std::fs::remove_file(root.join("stratamq.snapshot")).unwrap();
    let error = run(&env, root, &RebuildOptions::default()).unwrap_err().to_string();
    assert!(error.contains("maxHashSlotNum"), "{error}");
    assert!(!root.join("stratamq.rebuild").exists());
    std::fs::remove_dir_all(root.join("commitlog")).unwrap();
    let error = run(&env, root, &RebuildOptions::default()).unwrap_err().to_string();
    assert!(error.contains("expected log files"), "{error}");
}

#[test]
fn a_power_cut_at_any_operation_leaves_a_store_that_opens_whole() {
    let root = Path::new("/store");
    let operations = |world: &SimWorld| {
        let before = world.operations();
        let outcome = run(&world.env(), root, &RebuildOptions::default());
        (before, world.operations(), outcome)
    };
    let world = SimWorld::new(1, NOW);
    fill(&world.env(), root, 20);
    let (from, to, outcome) = operations(&world);
    assert_eq!(outcome.unwrap().units, 20);
    assert!(to - from > 20, "{from}..{to}: a run that tests nothing");
    for cut in from + 1..=to + 1 {
        for seed in [1, 2] {
            let world = SimWorld::new(seed, NOW);
            fill(&world.env(), root, 20);
            world.cut_power_at(world.operations() + cut - from);
            let _ = operations(&world);
            let after = world.restart_after_power_cut();
            let what = format!("seed {seed}, power cut at operation {}", cut - from);
            let store = DefaultMessageStore::open(&after.env(), config(root));
            let store = store.unwrap_or_else(|error| panic!("{what}: {error}"));
            let total: u64 = visible(&store).iter().map(|queue| queue.3).sum();
            assert_eq!(total, 20, "{what}");
            store.shutdown().unwrap();
        }
    }
}
