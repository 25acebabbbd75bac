//! The broker is killed while several threads send; what it acknowledged must still be there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::harness::report::Section;
use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::broker_conf::BrokerConf;
use crate::interop::client::{Call, Language, Running};
use crate::interop::messages::{Acknowledged, Received, read_lines};

const ROUNDS: usize = 3;
const TOPIC: &str = "hammer";
/// How many acknowledgements a broker must give before it is killed.
const PER_ROUND: usize = 1_500;
/// How long that may take, the reconnection of the client included.
const ROUND_DEADLINE: Duration = Duration::from_secs(60);
/// The producer is another process and only its file tells how far it is.
const POLL: Duration = Duration::from_millis(20);

pub fn names() -> Vec<String> {
    (1..=ROUNDS).map(name).collect()
}

fn name(round: usize) -> String {
    format!("java: kill -9 round {round} loses no acknowledged message")
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    let store = directory.join("store");
    let mut broker = Broker::under_test(context, directory, &store, BrokerConf::new())?;
    broker.start()?;
    let call = Call::new(context, directory, "hammer", Language::Java, "hammer");
    let acknowledgements = call.file("jsonl");
    let mut producer = call
        .with("namesrv", broker.namesrv())
        .with("group", "hammer_producer")
        .with("topic", TOPIC)
        .with("threads", 4)
        .with("seed", context.seed % 1_000)
        .with("out", acknowledgements.display())
        .start()?;
    let mut lines = LineCounter::new(&acknowledgements);
    let mut ends = vec![0];
    for round in 1..=ROUNDS {
        let before = ends[round - 1];
        wait_for(&mut lines, before + PER_ROUND, &broker, &mut producer)?;
        broker.kill()?;
        ends.push(lines.count()?);
        broker.start().with_context(|| format!("after the kill of round {round}"))?;
    }
    // Sending must also go on after the last restart.
    wait_for(&mut lines, ends[ROUNDS] + 1, &broker, &mut producer)?;
    producer.finish()?;
    broker.require_alive()?;

    let found = drain(context, directory, &broker)?;
    let acknowledged: Vec<Acknowledged> = read_lines(&acknowledgements)?;
    for round in 1..=ROUNDS {
        section.check(&name(round), || {
            // The part after the last restart belongs to the last round.
            let end = if round == ROUNDS { acknowledged.len() } else { ends[round] };
            let part = acknowledged.get(ends[round - 1]..end).context("acknowledgements vanished")?;
            compare(part, &found)?;
            Ok(format!("{} acknowledged, all found unchanged at their offsets", part.len()))
        });
    }
    Ok(())
}

fn wait_for(
    lines: &mut LineCounter,
    count: usize,
    broker: &Broker<'_>,
    producer: &mut Running,
) -> Result<()> {
    let started = Instant::now();
    loop {
        let found = lines.count()?;
        if found >= count {
            return Ok(());
        }
        broker.require_alive()?;
        producer.require_alive()?;
        if started.elapsed() > ROUND_DEADLINE {
            bail!("expected {count} acknowledgements after {} s, found {found}", ROUND_DEADLINE.as_secs());
        }
        thread::sleep(POLL);
    }
}

/// Counts the whole lines of a file that grows, reading each byte once.
struct LineCounter {
    path: PathBuf,
    file: Option<File>,
    count: usize,
}

impl LineCounter {
    fn new(path: &Path) -> Self {
        LineCounter { path: path.to_owned(), file: None, count: 0 }
    }

    /// The lines until now; 0 when the file is not there yet.
    fn count(&mut self) -> Result<usize> {
        if self.file.is_none() && self.path.exists() {
            self.file =
                Some(File::open(&self.path).with_context(|| format!("cannot read {}", self.path.display()))?);
        }
        if let Some(file) = &mut self.file {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            self.count += bytes.iter().filter(|byte| **byte == b'\n').count();
        }
        Ok(self.count)
    }
}

/// Everything in the topic, by id. Messages that were never acknowledged may be there too, but whole and
/// once.
fn drain(context: &Context, directory: &Path, broker: &Broker<'_>) -> Result<BTreeMap<String, Received>> {
    let call = Call::new(context, directory, "drain", Language::Java, "drain");
    let out = call.file("jsonl");
    let ended = call
        .with("namesrv", broker.namesrv())
        .with("group", "drain")
        .with("topics", TOPIC)
        .with("out", out.display())
        .run()?;
    ended.explain(index(read_lines(&out)?).with_context(|| format!("messages in {}", out.display())))
}

fn index(received: Vec<Received>) -> Result<BTreeMap<String, Received>> {
    let mut next_offsets: BTreeMap<i64, i64> = BTreeMap::new();
    let mut by_id = BTreeMap::new();
    for message in received {
        let next = next_offsets.entry(message.queue_id).or_insert(0);
        ensure!(
            message.queue_offset == *next,
            "queue {}: expected offset {next}, found {}",
            message.queue_id,
            message.queue_offset
        );
        *next += 1;
        let promised = message.properties.get("sha256").map_or("none", String::as_str);
        ensure!(
            promised == message.body_sha256,
            "{}: expected body {promised}, found {}",
            message.id(),
            message.body_sha256
        );
        let id = message.id().to_owned();
        ensure!(by_id.insert(id.clone(), message).is_none(), "{id} is there twice");
    }
    Ok(by_id)
}

fn compare(acknowledged: &[Acknowledged], found: &BTreeMap<String, Received>) -> Result<()> {
    let missing: Vec<&str> =
        acknowledged.iter().map(|line| line.id.as_str()).filter(|id| !found.contains_key(*id)).collect();
    ensure!(
        missing.is_empty(),
        "{} of {} acknowledged messages are lost, the first is {}",
        missing.len(),
        acknowledged.len(),
        missing[0]
    );
    for line in acknowledged {
        let message = &found[&line.id];
        let expected =
            (line.queue_id, line.queue_offset, line.offset_id.as_str(), line.body_sha256.as_deref());
        let body = Some(message.body_sha256.as_str());
        let here = (message.queue_id, message.queue_offset, message.offset_id.as_str(), body);
        ensure!(
            expected == here,
            "{}: acknowledged as (queue, offset, offset id, body) {expected:?}, found {here:?}",
            line.id
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
