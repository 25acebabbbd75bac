//! Verbs that change a store: what they do, what they keep, when they refuse.

use super::{contents, fill, json, open, run, store};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn dry_runs_and_questions_change_nothing() {
    let dir = store();
    let root = dir.path();
    let lines = dir.path().with_extension("lines");
    fs::write(&lines, run("export", root, &[]).stdout).unwrap();
    let before = contents(root);
    let lines_text = lines.to_str().unwrap();
    for (verb, arguments, says) in [
        ("rebuild", &["--dry-run"][..], "would build the queues and index of"),
        ("rebuild", &["--dry-run", "--queues-only"], "would build the queues of"),
        ("import", &[lines_text, "--dry-run"], "dry run of appending to"),
        ("probe", &["--dry-run"], "would write and delete"),
        ("probe", &["--bytes", "65536", "--syncs", "2"], "writing and deleting"),
        ("verify", &["--baseline"], "plainReadMillis"),
        ("export", &["--text"], "messages=40"),
        ("residency", &["--by-part"], ""),
    ] {
        let output = run(verb, root, arguments);
        assert!(output.status.success(), "{verb} {arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{verb} {arguments:?}: {}", stderr(&output));
        assert_eq!(contents(root), before, "{verb} {arguments:?}");
    }
    fs::remove_file(lines).unwrap();
}

#[test]
fn residency_and_probe_as_json() {
    let dir = store();
    let files = json("residency", dir.path(), &[], 0);
    assert_eq!(files.len(), contents(dir.path()).len() + 1, "every file, and the total");
    let log = files.iter().find(|file| file["path"] == "commitlog/00000000000000000000").unwrap();
    assert_eq!(log["bytes"], "16384");
    let total: u64 = files.last().unwrap()["bytes"].as_str().unwrap().parse().unwrap();
    assert!(total > 16384 && files.last().unwrap()["path"] == "total");
    let probed = &json("probe", dir.path(), &["--bytes", "65536", "--syncs", "2"], 0)[0];
    assert!(probed["reservesBlocks"].is_boolean() && probed["syncAppend"]["medianMicros"].is_string());
    assert_eq!(run("probe", dir.path().join("checkpoint"), &[]).status.code(), Some(2));
}

#[test]
fn rebuild_mends_what_verify_finds() {
    let dir = store();
    let root = dir.path();
    let queue = root.join("consumequeue/Often/0/00000000000000000000");
    let mut bytes = fs::read(&queue).unwrap();
    bytes[40..60].fill(0);
    fs::write(&queue, &bytes).unwrap();
    json("verify", root, &[], 1);
    let report = &json("rebuild", root, &["--queues-only"], 0)[0];
    assert_eq!((&report["units"], &report["queues"]), (&Value::from("40"), &Value::from("2")));
    let replaced = Path::new(report["replaced"].as_str().unwrap()).join("consumequeue/Often/0");
    assert_eq!(fs::read(replaced.join("00000000000000000000")).unwrap(), bytes);
    json("verify", root, &[], 0);
    assert_eq!(json("cat", root, &["--topic", "Often", "--queue-offset", "2"], 0)[0]["msgId"], "u3");
    assert_eq!(run("rebuild", root.join("consumequeue"), &[]).status.code(), Some(2), "the root alone");
}

#[test]
fn export_and_import_make_the_same_store() {
    let dir = store();
    let root = dir.path();
    let rare = run("export", root, &["--topic", "Rare", "--limit", "3", "--text"]);
    let text = String::from_utf8(rare.stdout).unwrap();
    assert_eq!(text.lines().count(), 3);
    let line: Value = serde_json::from_str(text.lines().nth(2).unwrap()).unwrap();
    assert_eq!(line["queueOffset"], "2");
    assert_eq!(line["properties"]["UNIQ_KEY"], "u8");
    assert_eq!(line["body"], "body 8 ".repeat(80));

    let lines = dir.path().with_extension("lines");
    fs::write(&lines, run("export", root, &[]).stdout).unwrap();
    let new = tempfile::tempdir().unwrap();
    let new = new.path().join("made");
    let sizes = ["--log-file-size", "16384", "--slots", "16", "--index-num", "100"];
    let arguments = [&[lines.to_str().unwrap()], &sizes[..]].concat();
    let report = &json("import", &new, &arguments, 0)[0];
    assert_eq!((&report["messages"], &report["otherQueueOffsets"]), (&"40".into(), &"0".into()));
    let summary = &json("verify", &new, &[], 0)[0]["summary"];
    assert_eq!((&summary["records"], &summary["units"]), (&Value::from("40"), &Value::from("40")));
    for key in ["k8", "k9"] {
        let raw = |root: &Path| run("cat", root, &["--key", key, "--raw"]).stdout;
        assert_eq!(raw(&new), raw(root));
    }
    // Once more: behind what is there.
    let report = &json("import", &new, &[lines.to_str().unwrap()], 0)[0];
    assert_eq!(report["otherQueueOffsets"], "40");
    assert_eq!(json("cat", &new, &["--topic", "Rare", "--queue-offset", "10"], 0)[0]["msgId"], "u0");
    fs::write(&lines, "{}\n").unwrap();
    let output = run("import", &new, &[lines.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 1: missing field `topic`"), "{}", stderr(&output));
    fs::remove_file(lines).unwrap();
}

#[test]
fn what_writes_refuses_a_store_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    fill(&store);
    let lines = dir.path().with_extension("lines");
    fs::write(&lines, run("export", dir.path(), &["--limit", "1"]).stdout).unwrap();
    for (verb, arguments) in
        [("rebuild", &[][..]), ("rebuild", &["--dry-run"]), ("import", &[lines.to_str().unwrap()])]
    {
        let output = run(verb, dir.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{verb}: {}", stderr(&output));
        assert!(stderr(&output).contains("using this store"), "{verb}: {}", stderr(&output));
    }
    assert!(!dir.path().join("stratamq.rebuild").exists());
    assert!(!dir.path().join("stratamq.replaced").exists());
    assert!(store.shutdown().is_ok());
    json("rebuild", dir.path(), &[], 0);
    fs::remove_file(lines).unwrap();
}
