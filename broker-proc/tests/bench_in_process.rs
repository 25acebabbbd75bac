//! Every work of `stratamq bench`, for a moment: its results are right, whatever its figures are.

use serde_json::Value;
use std::process::{Command, Output};

/// Small log files, so that they roll and are cheap.
const SMALL_FILES: [&str; 2] = ["--log-file-size", "16777216"];

fn run(arguments: &[&str]) -> (Output, Value) {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_stratamq"))
        .arg("bench")
        .args(arguments)
        .args(SMALL_FILES)
        .args(["--json", "-", "--dir"])
        .arg(directory.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}: {errors}", output.status));
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "{arguments:?} leaves nothing behind");
    (output, report)
}

/// Runs a work and looks whether its checks were right and its figures are there; returns the names of the figures.
fn works(arguments: &[&str]) -> Vec<String> {
    let (output, report) = run(arguments);
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty(), "{report:#}");
    assert!(checks.iter().all(|check| check["right"] == true), "{report:#}");
    assert!(output.status.success(), "{report:#}");
    let figures = report["figures"].as_array().unwrap();
    figures.iter().map(|figure| figure["name"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn assert_has(figures: &[String], expected: &[&str]) {
    for name in expected {
        assert!(figures.iter().any(|figure| figure == name), "{name:?} in {figures:?}");
    }
}

#[test]
fn puts_in_memory() {
    let figures = works(&["put", "--count", "20000", "--threads", "2", "--size", "128"]);
    assert_has(&figures, &["put", "put and dispatched", "CPU per message", "latency p99.9"]);
}

#[test]
fn puts_on_disk_with_a_window() {
    let figures = works(&["put", "--seconds", "0.3", "--flush", "sync", "--threads", "2", "--window", "4"]);
    assert_has(&figures, &["put", "latency p50", "latency max"]);
}

#[test]
fn puts_at_a_rate() {
    let (_, report) = run(&["put", "--seconds", "0.4", "--rate", "5000"]);
    let put = &report["checks"][0];
    assert_eq!((put["name"].as_str(), put["found"].as_str()), (Some("messages read back"), Some("2000")));
}

#[test]
fn gets_in_order_and_at_random() {
    let figures = works(&["get", "--seconds", "0.1", "--log-size", "10000000", "--threads", "2"]);
    assert_has(
        &figures,
        &["sequential, untouched", "random, every byte read", "random, untouched: call p50"],
    );
}

#[test]
fn opens_a_store_that_was_killed() {
    let figures = works(&["recover", "--count", "20000"]);
    assert_has(&figures, &["open after a kill", "open after a stop"]);
}

#[test]
fn builds_queues_and_index_anew() {
    let figures = works(&["reput", "--count", "20000", "--size", "200"]);
    assert_has(&figures, &["queues and index from the log", "CPU per message"]);
}

#[test]
fn puts_into_one_queue_and_into_more() {
    let figures = works(&["queues", "--queues", "1,8,64", "--count", "2000", "--size", "100"]);
    assert_has(&figures, &["1 queues: put and dispatched", "64 queues: open"]);
}

#[test]
fn a_work_inside_one_process_asks_nobody_else() {
    for (against, expected) in [("java", "cargo xtask bench-java"), ("127.0.0.1:1", "asks no broker")] {
        let output = Command::new(env!("CARGO_BIN_EXE_stratamq"))
            .args(["bench", "put", "--count", "1", "--against", against])
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(expected), "{errors}");
    }
}
