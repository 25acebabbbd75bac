//! Faults that people met, as the tools have to take them.
#![allow(non_snake_case, reason = "the numbers of the cases")]

use super::{contents, fill, json, open, put, run, store};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn kinds(findings: &[Value]) -> Vec<&str> {
    findings.iter().filter_map(|finding| finding["kind"].as_str()).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if entry.is_dir() {
            copy(&entry, &to.join(name));
        } else {
            fs::copy(&entry, to.join(name)).unwrap();
        }
    }
}

#[test]
fn field_F02_the_tool_opens_what_a_start_refuses_and_reports() {
    let dir = store();
    let stray = dir.path().join("commitlog/notes.txt");
    fs::write(&stray, "a note").unwrap();
    let findings = json("verify", dir.path(), &[], 1);
    assert_eq!(
        (kinds(&findings), &findings[0]["file"]),
        (vec!["stray-file"], &stray.display().to_string().into())
    );
    let info = json("info", dir.path(), &[], 0)[0]["start"].to_string();
    assert!(info.contains("is refused") && info.contains("notes.txt"), "{info}");
    assert!(json("ls", dir.path(), &[], 0).iter().any(|file| file["path"] == "commitlog/notes.txt"));

    let dir = store();
    let queue = dir.path().join("consumequeue/Often/0");
    let second = queue.join("00000000000000000400");
    fs::OpenOptions::new().write(true).open(&second).unwrap().set_len(300).unwrap();
    let findings = json("verify", dir.path(), &[], 1);
    assert!(kinds(&findings).contains(&"file-length"), "{findings:?}");
    let length = findings.iter().find(|finding| finding["kind"] == "file-length").unwrap();
    assert_eq!(
        (&length["expected"], &length["found"]),
        (&"400 bytes, as the first file has".into(), &"300 bytes".into())
    );
    // The tool takes the log's word for it.
    json("rebuild", dir.path(), &["--queues-only"], 0);
    json("verify", dir.path(), &[], 0);

    let dir = store();
    fs::create_dir(dir.path().join("commitlog/old")).unwrap();
    json("verify", dir.path(), &[], 0);
}

#[test]
fn field_F18_tools_follow_a_root_that_moved_and_a_log_that_lies_elsewhere() {
    let dir = store();
    let other = tempfile::tempdir().unwrap();
    let (root, log) = (other.path().join("root"), other.path().join("log"));
    copy(dir.path(), &root);
    fs::rename(root.join("commitlog"), &log).unwrap();
    let elsewhere = ["--commit-log", log.to_str().unwrap()];
    let summary = &json("verify", &root, &elsewhere, 0)[0]["summary"];
    assert_eq!(summary["records"], "40");
    let report = &json("rebuild", &root, &elsewhere, 0)[0];
    assert!(report["replaced"].as_str().unwrap().starts_with(root.to_str().unwrap()), "{report}");
    json("verify", &root, &elsewhere, 0);
    let message = &json("cat", &root, &[&elsewhere[..], &["--key", "k8"]].concat(), 0)[0];
    assert_eq!(message["msgId"], "u8");
}

#[test]
fn field_F59_a_key_finds_its_messages_and_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    fill(&store);
    for (topic, keys, body) in [
        ("Often", "wanted", "first"),
        ("Often", "other", "other key"),
        ("Rare", "wanted", "other topic"),
        ("Often", "more wanted wanted", "second"),
    ] {
        put(&store, topic, &format!("KEYS\u{1}{keys}\u{2}"), body);
    }
    store.shutdown().unwrap();
    let found = |limit: &str| {
        let found = json("cat", dir.path(), &["--topic", "Often", "--key", "wanted", "--limit", limit], 0);
        found.iter().map(|message| message["body"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("64"), ["second", "first"]);
    assert_eq!(found("1"), ["second"]);
    let dumped = json("dump", dir.path(), &["--topic", "Often", "--key", "wanted"], 0);
    assert_eq!(dumped.len(), 2);
}

#[test]
fn field_F79_an_id_is_served_by_its_offset_whatever_host_it_names() {
    let dir = store();
    let message = &json("cat", dir.path(), &["--key", "k8"], 0)[0];
    let id = message["offsetMsgId"].as_str().unwrap();
    let offset: u64 = message["physicalOffset"].as_str().unwrap().parse().unwrap();
    let of_other_host = format!("0A0B0C0D00002A9F{offset:016X}");
    let of_v6_host = format!("20010DB8000000000000000000000001{:08X}{offset:016X}", 10911);
    for id in [id, &id.to_lowercase(), &of_other_host, &of_v6_host] {
        assert_eq!(json("cat", dir.path(), &["--id", id], 0)[0]["msgId"], "u8", "{id}");
    }
    let beside = format!("7F00000100002A9F{:016X}", offset + 1);
    let beyond = format!("7F00000100002A9F{:016X}", u64::MAX);
    for id in [&beside, &beyond, &id[..31], "", "é"] {
        assert_eq!(run("cat", dir.path(), &["--id", id]).status.code(), Some(1), "{id}");
    }
}

#[test]
fn field_F104_tools_read_beside_a_broker_without_its_lock() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    fill(&store);
    // Dispatch goes on beside; what is read twice has to stand still.
    let lines = || run("export", dir.path(), &[]).stdout;
    let exported = lines();
    assert_eq!(exported.iter().filter(|byte| **byte == b'\n').count(), 40);
    for verb in ["ls", "info", "dump", "verify", "usage", "residency"] {
        let output = run(verb, dir.path(), &[]);
        assert!(output.status.success(), "{verb}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(lines(), exported);
    let in_use = &json("info", dir.path(), &[], 0)[0]["inUse"];
    assert_eq!(in_use, &Value::from(format!("yes, by process {}", std::process::id())), "still locked");
    // A lock file that nobody holds is no obstacle.
    store.shutdown().unwrap();
    assert!(dir.path().join("lock").exists());
    json("rebuild", dir.path(), &[], 0);
}

#[test]
fn field_F114_a_copy_of_a_store_is_one() {
    let dir = store();
    let other = tempfile::tempdir().unwrap();
    let whole = other.path().join("whole");
    copy(dir.path(), &whole);
    assert_eq!(
        run("export", &whole, &[]).stdout,
        run("export", dir.path(), &[]).stdout,
        "a copy of a stopped store"
    );
    json("verify", &whole, &[], 0);

    let log_alone = other.path().join("log-alone");
    copy(&dir.path().join("commitlog"), &log_alone.join("commitlog"));
    let sizes = ["--slots", "16", "--index-num", "100"];
    let report = &json("rebuild", &log_alone, &sizes, 0)[0];
    assert_eq!((&report["units"], &report["replaced"]), (&Value::from("40"), &Value::Null));
    let units = |root: &Path| json("dump", root, &["--part", "queue"], 0);
    assert_eq!(units(&log_alone), units(dir.path()), "every queue offset as it was");
    json("verify", &log_alone, &sizes, 0);

    let running = tempfile::tempdir().unwrap();
    let store = open(running.path());
    fill(&store);
    let crashed = other.path().join("crashed");
    copy(running.path(), &crashed);
    assert_eq!(json("info", &crashed, &[], 0)[0]["inUse"], "no");
    json("verify", &crashed, &[], 0);
    store.shutdown().unwrap();

    let config_alone = other.path().join("config-alone");
    fs::create_dir_all(config_alone.join("config")).unwrap();
    fs::write(config_alone.join("config/topics.json"), "{}").unwrap();
    let before = contents(&config_alone);
    let output = run("info", &config_alone, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected a store"));
    assert_eq!(contents(&config_alone), before);
}
