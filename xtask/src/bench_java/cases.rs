//! What is measured, and what is expected of it.

use super::bars::{Bar, Expected};

/// One work, as both sides do it.
pub struct Case {
    /// Name in the table.
    pub name: &'static str,
    /// Arguments of `stratamq bench`.
    pub ours: Vec<String>,
    /// What Apache's store does meanwhile.
    pub java: JavaWork,
    /// What is expected, one row of the table each.
    pub bars: Vec<Bar>,
    /// More rounds are not done, because one takes long.
    pub most_rounds: u32,
}

/// What the Java program does.
pub enum JavaWork {
    /// A work in one process, with these `name=value`.
    One(&'static str, Vec<String>),
    /// Fill and kill; open; open again.
    Open(Vec<String>),
    /// Fill and stop; delete queues and index; open.
    Rebuild(Vec<String>),
    /// Its broker in a process, asked by the client of `stratamq bench`, with this `flushDiskType`.
    Broker(&'static str),
    /// Nothing: the work is held against limits only.
    Nothing,
}

/// How much of everything.
pub struct Length {
    seconds: f64,
    /// Bytes of the log that is opened and rebuilt.
    log: u64,
    /// Bytes of the log that is read.
    read: u64,
    topics: u64,
    queues: &'static str,
    /// Messages of each store of the work `queues`.
    queue_messages: u64,
}

impl Length {
    /// Seconds for everything.
    pub fn quick() -> Self {
        Self {
            seconds: 1.0,
            log: 64 << 20,
            read: 64 << 20,
            topics: 200,
            queues: "8,1000",
            queue_messages: 20_000,
        }
    }

    /// What figures are published of.
    pub fn full() -> Self {
        let (log, read) = (2 << 30, 1 << 30);
        let queues = "8,1,64,1000,10000,100000";
        Self { seconds: 5.0, log, read, topics: 10_000, queues, queue_messages: 400_000 }
    }
}

const PRESENT: &str = "copies into present pages";
const RAW: &str = "raw group commit, as many waiters";
const CRC: &str = "read + CRC32 of the log";

/// All works, in the order of the table.
pub fn all(length: &Length) -> Vec<Case> {
    use Expected::{AtLeastJava, AtLeastLimit, AtMost, AtMostJava, AtMostLimit};
    let put = |size: u32, threads: u32, flush: &str| {
        let pairs =
            [("size", size.to_string()), ("threads", threads.to_string()), ("flush", flush.to_owned())];
        let seconds = [("seconds", length.seconds.to_string())];
        both("put", &[&pairs[..], &seconds[..]].concat())
    };
    let mut cases = Vec::new();
    let (ours, java) = put(1024, 1, "async");
    cases.push(Case::new(
        "put 1 KiB async, 1 thread",
        ours,
        java,
        vec![
            Bar::new("put", "messages/s", AtLeastJava(4.0)),
            Bar::new("put and dispatched", "messages/s", AtLeastJava(4.0)),
            Bar::new("CPU per message", "us", AtMostJava(1.0 / 5.0)),
            Bar::new("put", "messages/s", AtLeastLimit(PRESENT, 1.0 / 4.0)),
            Bar::new("latency p50", "us", Expected::Nothing),
            Bar::new("latency p99", "us", Expected::Nothing),
            Bar::new("latency p99.9", "us", Expected::Nothing),
        ],
    ));
    for (name, threads) in [("put 128 B async, 1 thread", 1), ("put 128 B async, 8 threads", 8)] {
        let (ours, java) = put(128, threads, "async");
        cases.push(Case::new(
            name,
            ours,
            java,
            vec![
                Bar::new("put", "messages/s", AtLeastJava(5.0)),
                Bar::new("put and dispatched", "messages/s", AtLeastJava(5.0)),
                Bar::new("CPU per message", "us", Expected::Nothing),
            ],
        ));
    }
    for (name, threads) in [
        ("put 1 KiB sync, 1 waiter", 1),
        ("put 1 KiB sync, 8 waiters", 8),
        ("put 1 KiB sync, 64 waiters", 64),
    ] {
        let (ours, java) = put(1024, threads, "sync");
        let mut bars = vec![
            Bar::new("put", "messages/s", AtLeastLimit(RAW, 0.9)),
            Bar::new("put", "messages/s", if threads == 64 { AtLeastJava(1.5) } else { Expected::Nothing }),
            Bar::new(
                "CPU per message",
                "us",
                if threads == 64 { AtMostJava(1.0 / 3.0) } else { Expected::Nothing },
            ),
        ];
        bars.push(Bar::new("written to the device / appended", "", AtMost(1.3)));
        bars.push(Bar::new("dirtied / appended", "", Expected::Nothing));
        cases.push(Case::new(name, ours, java, bars));
    }
    let rate = strings(&["put", "--size", "1024", "--rate", "100000", "--seconds"], &length.seconds);
    cases.push(Case::new(
        "put 1 KiB async at 100,000/s, from the intended time",
        rate,
        JavaWork::Nothing,
        vec![Bar::new("latency p50", "us", Expected::Nothing), Bar::new("latency p99.9", "us", AtMost(50.0))],
    ));
    let read = length.read.to_string();
    let ours = strings(&["get", "--seconds", &(length.seconds / 2.0).to_string(), "--log-size"], &read);
    let java =
        JavaWork::One("get", vec![format!("logSize={read}"), format!("seconds={}", length.seconds / 2.0)]);
    cases.push(Case::new(
        "get 32 a call",
        ours,
        java,
        vec![
            Bar::new("sequential, untouched: call p50", "us", AtMostJava(0.5)),
            Bar::new("random, untouched: call p50", "us", AtMostJava(0.5)),
            Bar::new("sequential, every byte read: CPU per message", "us", AtMostJava(0.5)),
            Bar::new("random, every byte read: CPU per message", "us", AtMostJava(0.5)),
        ],
    ));
    let count = length.log / 1150;
    let shape = vec![format!("count={count}")];
    let ours = strings(&["recover", "--count"], &count);
    cases.push(Case::new(
        "open 1 KiB messages",
        ours,
        JavaWork::Open(shape.clone()),
        vec![
            Bar::new("open after a kill", "s", AtMostLimit(CRC, 1.5)),
            Bar::new("open after a kill", "s", Expected::Nothing),
            Bar::new("open after a stop", "ms", AtMost(100.0)),
        ],
    ));
    let ours = strings(&["reput", "--count"], &count);
    cases.push(Case::new(
        "rebuild queues and index",
        ours,
        JavaWork::Rebuild(shape),
        vec![
            Bar::new("rebuild", "messages/s", AtLeastJava(5.0)),
            Bar::new("CPU per message", "us", Expected::Nothing),
        ],
    ));
    let java = JavaWork::One("topics", vec![format!("count={}", length.topics)]);
    let ours = strings(&["topics", "--count"], &length.topics);
    cases.push(Case {
        most_rounds: 1,
        ..Case::new(
            "topics made one by one",
            ours,
            java,
            vec![
                Bar::new("broker CPU per topic", "ms", AtMostJava(1.0 / 20.0)),
                Bar::new("create", "topics/s", Expected::Nothing),
            ],
        )
    });
    loopback(length, &mut cases);
    let (name, most) = ("many queues", length.queues.rsplit(',').next().unwrap_or_default());
    let ours = strings(&["queues", "--queues", length.queues, "--count"], &length.queue_messages);
    let mut bars = Vec::new();
    if length.queues.contains(",10000,") {
        let figure = "10000 queues: put and dispatched";
        bars.push(Bar::new(figure, "messages/s", AtLeastLimit("with 8 queues", 0.8)));
    }
    bars.push(Bar::new(format!("{most} queues: open"), "ms", AtMost(2000.0)));
    bars.push(Bar::new(format!("{most} queues: anonymous memory of an idle queue"), "B", AtMost(1024.0)));
    cases.push(Case { most_rounds: 1, ..Case::new(name, ours, JavaWork::Nothing, bars) });
    cases
}

/// Works over loopback connections: the same client asks both brokers.
fn loopback(length: &Length, cases: &mut Vec<Case>) {
    let seconds = length.seconds.to_string();
    for (name, threads, flush) in [
        ("produce 1 KiB async, 1 connection", "1", "async"),
        ("produce 1 KiB async, 8 connections", "8", "async"),
        ("produce 1 KiB async, 64 connections", "64", "async"),
        ("produce 1 KiB sync, 64 connections", "64", "sync"),
    ] {
        let ours = strings(&["produce", "--threads", threads, "--flush", flush, "--seconds"], &seconds);
        let java = JavaWork::Broker(if flush == "sync" { "SYNC_FLUSH" } else { "ASYNC_FLUSH" });
        let bars = vec![
            Bar::new("produce", "messages/s", Expected::Nothing),
            Bar::new("latency p50", "us", Expected::Nothing),
            Bar::new("latency p99", "us", Expected::Nothing),
            Bar::new("broker CPU per message", "us", Expected::Nothing),
        ];
        cases.push(Case::new(name, ours, java, bars));
    }
    let ours = strings(&["consume", "--count"], &length.queue_messages);
    let java = JavaWork::Broker("ASYNC_FLUSH");
    let bars = vec![
        Bar::new("consume", "messages/s", Expected::Nothing),
        Bar::new("broker CPU per message", "us", Expected::Nothing),
        Bar::new("first message after", "ms", Expected::Nothing),
    ];
    cases.push(Case::new("consume a backlog of 1 KiB", ours, java, bars));
}

impl Case {
    fn new(name: &'static str, ours: Vec<String>, java: JavaWork, bars: Vec<Bar>) -> Self {
        Self { name, ours, java, bars, most_rounds: u32::MAX }
    }
}

/// The same settings for both sides.
fn both(work: &'static str, pairs: &[(&str, String)]) -> (Vec<String>, JavaWork) {
    let mut ours = vec![work.to_owned()];
    for (name, value) in pairs {
        ours.extend([format!("--{name}"), value.clone()]);
    }
    let java = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    (ours, JavaWork::One(work, java.collect()))
}

fn strings(arguments: &[&str], last: &impl ToString) -> Vec<String> {
    arguments.iter().map(ToString::to_string).chain([last.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_works_are_told_apart() {
        for length in [Length::quick(), Length::full()] {
            let cases = all(&length);
            for (place, case) in cases.iter().enumerate() {
                assert!(!case.bars.is_empty(), "{}", case.name);
                assert!(cases[..place].iter().all(|earlier| earlier.name != case.name), "{}", case.name);
            }
        }
    }
}
