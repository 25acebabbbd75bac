//! `stratamq store` on a small store: what it prints, its exit status, and that reading changes nothing.

#[path = "store_tool/field_cases.rs"]
mod field_cases;
#[path = "store_tool/writing.rs"]
mod writing;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use store_core::config::MessageStoreConfig;
use store_core::{DefaultMessageStore, Env, Message, MessageStore};
use tempfile::TempDir;

fn open(root: &Path) -> DefaultMessageStore {
    let mut config = MessageStoreConfig::new(root);
    config.commit_log.mapped_file_size_commit_log = 16 << 10;
    config.commit_log.preallocate = false;
    config.consume_queue.mapped_file_size_consume_queue = 400;
    config.index.max_hash_slot_num = 16;
    config.index.max_index_num = 100;
    config.clean.disk_space_warning_level_ratio = 100;
    DefaultMessageStore::open(&Env::os(), config).unwrap()
}

fn put(store: &DefaultMessageStore, topic: &str, properties: &str, body: &str) {
    let message = Message {
        topic,
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_000,
        born_host: "127.0.0.1:40000".parse().unwrap(),
        store_host: "127.0.0.1:10911".parse().unwrap(),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: body.as_bytes(),
        properties,
    };
    assert!(store.put(&message).wait().appended.is_some());
}

/// 40 messages in two topics.
fn fill(store: &DefaultMessageStore) {
    for number in 0..40 {
        let properties = format!("KEYS\u{1}k{number}\u{2}UNIQ_KEY\u{1}u{number}\u{2}");
        let topic = if number % 4 == 0 { "Rare" } else { "Often" };
        put(store, topic, &properties, &format!("body {number} ").repeat(80));
    }
}

fn store() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    fill(&store);
    store.shutdown().unwrap();
    dir
}

fn run(verb: &str, path: impl AsRef<Path>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stratamq"));
    command.args(["store", verb]).arg(path.as_ref()).args(arguments).output().unwrap()
}

/// Lines of JSON; the exit status must be `status`.
fn json(verb: &str, path: &Path, arguments: &[&str], status: i32) -> Vec<Value> {
    let output = run(verb, path, &[arguments, &["--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{verb} {arguments:?}: {text}{errors}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all
}

#[test]
fn every_verb_reads_a_store_and_changes_nothing() {
    let dir = store();
    let root = dir.path();
    let before = contents(root);

    let files = json("ls", root, &[], 0);
    assert_eq!(files.len(), before.len());
    let log = files.iter().find(|file| file["path"] == "commitlog/00000000000000000000").unwrap();
    assert_eq!((&log["kind"], &log["bytes"]), (&Value::from("log file"), &Value::from("16384")));

    let info = &json("info", root, &[], 0)[0];
    assert_eq!(info["inUse"], "no");
    assert_eq!(info["queues"]["units"], "40");
    assert_eq!(info["sizes"]["maxIndexNum"], 100);

    let records = json("dump", root, &["--topic", "Rare", "--limit", "3"], 0);
    assert_eq!(records.len(), 3);
    assert!(records.iter().all(|record| record["topic"] == "Rare" && record["offset"].is_string()));
    let units = json("dump", root, &["--part", "queue", "--topic", "Often", "--offset", "28..29"], 0);
    assert_eq!(units.len(), 2);
    let entries = json("dump", root, &["--part", "index", "--topic", "Rare", "--key", "k8"], 0);
    assert_eq!(entries.len(), 1);
    assert_eq!(json("dump", root, &["--part", "checkpoint"], 0).len(), 1);
    assert!(json("dump", root, &["--time", "..2001-01-01T00:00:00Z"], 0).is_empty());

    let message = &json("cat", root, &["--key", "k8", "--topic", "Rare"], 0)[0];
    assert_eq!(message["msgId"], "u8");
    let id = message["offsetMsgId"].as_str().unwrap();
    let offset = message["physicalOffset"].as_str().unwrap();
    let queue = ["--queue-offset", "2", "--topic", "Rare"];
    for address in [&["--id", id][..], &["--id", "u8"], &["--offset", offset], &queue] {
        assert_eq!(&json("cat", root, address, 0)[0], message, "{address:?}");
    }
    let raw = run("cat", root, &["--id", id, "--raw"]);
    assert_eq!(raw.stdout, "body 8 ".repeat(80).as_bytes());
    assert!(json("cat", root, &["--key", "none"], 1).is_empty());

    let usage = json("usage", root, &["--by-topic"], 0);
    assert_eq!((&usage[0]["topic"], &usage[0]["records"]), (&Value::from("Often"), &Value::from("30")));
    assert!(json("usage", root, &[], 0)[0]["commitlog"].is_string());

    let summary = &json("verify", root, &[], 0)[0]["summary"];
    assert_eq!((&summary["records"], &summary["errors"]), (&Value::from("40"), &Value::from("0")));
    assert_eq!(contents(root), before);
}

#[test]
fn verify_tells_damage_by_its_exit_status() {
    let dir = store();
    let root = dir.path();
    let offset = json("cat", root, &["--key", "k20"], 0)[0]["physicalOffset"].as_str().unwrap().to_owned();
    let offset: u64 = offset.parse().unwrap();
    let file = root.join(format!("commitlog/{:020}", offset / 16384 * 16384));
    let mut bytes = fs::read(&file).unwrap();
    bytes[(offset % 16384) as usize + 200] ^= 1;
    fs::write(&file, bytes).unwrap();
    let findings = json("verify", root, &[], 1);
    assert_eq!(findings[0]["kind"], "damaged-record");
    assert_eq!(findings[0]["file"], file.display().to_string());
    assert_eq!(findings[0]["offset"], offset.to_string());
    let lost = &findings[1];
    assert_eq!((&lost["kind"], &lost["topic"]), (&Value::from("lost-message"), &Value::from("Rare")));
    assert_eq!(lost["queueOffset"], "5");
    assert_eq!(json("verify", &file, &[], 1)[0]["kind"], "damaged-record", "the file alone");
    let good = root.join("checkpoint");
    assert_eq!(json("verify", &good, &[], 0).len(), 1);
    assert_eq!(run("verify", root.join("none"), &[]).status.code(), Some(2));
    assert_eq!(run("dump", root, &["--part", "queue", "--key", "k"]).status.code(), Some(2));
}

#[test]
fn damage_is_listed_cut_or_skipped() {
    let dir = store();
    let root = dir.path();
    assert!(json("repair", root, &[], 0).is_empty());
    let offset = json("cat", root, &["--key", "k30"], 0)[0]["physicalOffset"].as_str().unwrap().to_owned();
    let number: u64 = offset.parse().unwrap();
    let file = root.join(format!("commitlog/{:020}", number / 16384 * 16384));
    let mut bytes = fs::read(&file).unwrap();
    bytes[(number % 16384) as usize + 200] ^= 1;
    fs::write(&file, bytes).unwrap();

    let before = contents(root);
    let steps = json("info", root, &[], 0)[0]["start"].to_string();
    assert!(steps.contains("is refused: ") && steps.contains(&format!("--at {offset}")), "{steps}");
    let listed = &json("repair", root, &[], 1)[0];
    assert_eq!((&listed["offset"], &listed["damaged"]), (&Value::from(offset.as_str()), &Value::from(true)));
    assert_eq!(listed["goodRecordsBehind"], "9");
    let planned = json("repair", root, &["--skip", "--dry-run"], 1);
    assert_eq!((&planned[1]["action"], &planned[1]["dryRun"]), (&Value::from("skipped"), &Value::from(true)));
    let planned = &json("truncate", root, &["--at", &offset, "--dry-run"], 0)[0];
    assert_eq!(
        (&planned["logEnd"], &planned["cutRecords"]),
        (&Value::from(offset.as_str()), &Value::from("9"))
    );
    let inside = (number + 1).to_string();
    assert_eq!(run("truncate", root, &["--at", &inside]).status.code(), Some(2));
    assert_eq!(contents(root), before);

    let done = json("repair", root, &["--skip"], 0);
    assert_eq!(
        (&done[1]["from"], &done[1]["lostPlaces"]),
        (&Value::from(offset.as_str()), &Value::from("1"))
    );
    assert_eq!(json("verify", root, &[], 0).last().unwrap()["summary"]["errors"], "0");
    let cut = json("cat", root, &["--key", "k35"], 0)[0]["physicalOffset"].as_str().unwrap().to_owned();
    let done = &json("truncate", root, &["--at", &cut], 0)[0];
    assert_eq!((&done["logEnd"], &done["cutRecords"]), (&Value::from(cut.as_str()), &Value::from("5")));
    let store = open(root);
    assert_eq!(store.recovery_report().log_end.to_string(), cut);
    let output = run("repair", root, &[]);
    assert_eq!(output.status.code(), Some(2), "the store is in use");
    assert!(String::from_utf8_lossy(&output.stderr).contains("is using this store"));
    store.shutdown().unwrap();
}

#[test]
fn a_store_in_use_is_named_and_stays_locked() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    fill(&store);
    for _ in 0..2 {
        let info = &json("info", dir.path(), &[], 0)[0];
        assert_eq!(info["inUse"], format!("yes, by process {}", std::process::id()));
        assert_eq!(info["start"][0], "is refused: the store is in use");
        let output = run("verify", dir.path(), &[]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("is using this store"));
    }
    store.shutdown().unwrap();
    assert_eq!(json("info", dir.path(), &[], 0)[0]["inUse"], "no");
}
