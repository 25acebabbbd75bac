//! Short runs of the works of `stratamq bench` that ask a broker process: their checks hold. Times are not looked at.

use std::process::Command;

fn run(arguments: &[&str]) -> serde_json::Value {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_stratamq"))
        .arg("bench")
        .args(arguments)
        .args(["--log-file-size", "16777216", "--json", "-", "--dir"])
        .arg(directory.path())
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {text}{errors}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "something was left behind");
    serde_json::from_str(&text).unwrap()
}

fn figure(report: &serde_json::Value, name: &str) -> f64 {
    let figures = report["figures"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {report}"))["value"].as_f64().unwrap()
}

fn checks(report: &serde_json::Value) -> usize {
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["right"] == true), "{report}");
    checks.len()
}

#[test]
fn produce_finds_what_it_sent() {
    let report = run(&["produce", "--count", "600", "--threads", "3", "--window", "4", "--size", "100"]);
    assert_eq!(checks(&report), 3);
    assert_eq!(report["checks"][1]["found"], "600");
    assert_eq!(figure(&report, "refused"), 0.0);
}

#[test]
fn produce_finds_what_it_sent_in_batches() {
    let report = run(&["produce", "--count", "320", "--batch", "32", "--flush", "sync"]);
    assert_eq!(checks(&report), 3);
    assert_eq!(report["checks"][1]["found"], "320");
}

#[test]
fn consume_gets_the_whole_backlog() {
    let report = run(&["consume", "--count", "1000", "--threads", "2", "--queues", "3"]);
    assert_eq!(checks(&report), 2);
    assert_eq!(report["checks"][0]["found"], "1024", "whole batches");
    assert!(figure(&report, "messages of a pull") > 1.0);
}

#[test]
fn latency_is_of_messages_that_arrived() {
    let report = run(&["latency", "--rate", "200", "--seconds", "0.5", "--queues", "2"]);
    assert_eq!(checks(&report), 3);
    assert_eq!(report["checks"][1]["found"], "100");
}

#[test]
fn idle_consumers_are_woken_in_the_end() {
    let report = run(&["idle", "--consumers", "20", "--seconds", "0.1"]);
    assert_eq!(checks(&report), 1);
    assert!(figure(&report, "start") > 0.0);
}

#[test]
fn topics_are_there_once_they_are_answered() {
    assert_eq!(checks(&run(&["topics", "--count", "20", "--queues", "3"])), 1);
}

#[test]
fn another_broker_is_not_asked_for_thousands_of_topics() {
    let output = Command::new(env!("CARGO_BIN_EXE_stratamq"))
        .args(["bench", "topics", "--against", "127.0.0.1:1"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("127.0.0.1:1"));
}
