//! Reads everything back that a broker holds and looks messages up by key.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::client::{Call, Language};
use crate::interop::compare::{Sent, same};
use crate::interop::messages::{read_lines, write_lines};

/// How many keys are looked up: beginning, middle and end of what was sent.
const LOOKUPS: usize = 120;

/// A key to look up.
#[derive(Serialize)]
struct Query<'a> {
    topic: &'a str,
    key: &'a str,
    /// Whether it is the client's own id of the message.
    unique: bool,
}

/// What a look-up found: the `id` properties.
#[derive(Deserialize)]
struct Lookup {
    topic: String,
    key: String,
    ids: Vec<Option<String>>,
}

/// Pulls every queue from a running broker and compares every message and the keys with what was sent to the broker
/// at `sent_to`, which may be another one than this. Returns a remark for the report.
///
/// # Errors
/// When the broker is dead, a pull fails or what comes differs from what was sent.
pub fn with_pulls(
    context: &Context,
    directory: &Path,
    step: &str,
    broker: &Broker<'_>,
    sent: &[Sent],
    sent_to: SocketAddr,
) -> Result<String> {
    broker.require_alive()?;
    let topics: BTreeSet<&str> = sent.iter().map(|sent| sent.topic.as_str()).collect();
    let call = call(context, directory, step, "drain", &topics, sent)?;
    let (out, lookups) = (call.file("jsonl"), call.file("lookups.jsonl"));
    let ended = call.with("namesrv", broker.namesrv()).with("group", "drain").run()?;
    let compared =
        same(sent, &read_lines(&out)?, sent_to).with_context(|| format!("messages in {}", out.display()));
    ended.explain(compared)?;
    let found = check_lookups(sent, &lookups)?;
    Ok(format!("{} messages, {found} look-ups by key", sent.len()))
}

/// A call that reads `topics` and looks up keys of what was sent. It writes to `STEP.jsonl` and `STEP.lookups.jsonl`.
///
/// # Errors
/// When the file of the keys cannot be written.
pub(super) fn call<'a>(
    context: &'a Context,
    directory: &'a Path,
    step: &str,
    verb: &'static str,
    topics: &BTreeSet<&str>,
    sent: &[Sent],
) -> Result<Call<'a>> {
    let call = Call::new(context, directory, step, Language::Java, verb);
    let queries = call.file("queries.jsonl");
    write_lines(&queries, &keys(sent))?;
    let topics = topics.iter().copied().collect::<Vec<_>>().join(",");
    let (out, lookups) = (call.file("jsonl"), call.file("lookups.jsonl"));
    Ok(call
        .with("topics", topics)
        .with("out", out.display())
        .with("queries", queries.display())
        .with("lookups", lookups.display()))
}

/// The keys of evenly spread messages, unique keys among them.
fn keys(sent: &[Sent]) -> Vec<Query<'_>> {
    let mut all = Vec::new();
    for Sent { topic, planned, acknowledged } in sent {
        all.extend(planned.keys.iter().map(|key| Query { topic, key, unique: false }));
        all.extend(acknowledged.unique_key.iter().map(|key| Query { topic, key, unique: true }));
    }
    let step = all.len().div_ceil(LOOKUPS).max(1);
    all.into_iter().step_by(step).collect()
}

/// Every look-up must have found the message with that key; another one with the same hash may come with it.
///
/// # Errors
/// Names the first key that was not found.
pub(super) fn check_lookups(sent: &[Sent], file: &Path) -> Result<usize> {
    compare_lookups(sent, file).with_context(|| format!("look-ups in {}", file.display()))
}

fn compare_lookups(sent: &[Sent], file: &Path) -> Result<usize> {
    let lookups: Vec<Lookup> = read_lines(file)?;
    let expected = keys(sent).len();
    ensure!(lookups.len() == expected, "expected {expected} look-ups, found {}", lookups.len());
    for lookup in &lookups {
        let owner = sent.iter().find(|sent| {
            sent.topic == lookup.topic
                && sent.planned.keys.iter().chain(&sent.acknowledged.unique_key).any(|key| *key == lookup.key)
        });
        let owner = owner.with_context(|| format!("nobody asked for key {}", lookup.key))?;
        ensure!(
            lookup.ids.iter().flatten().any(|id| *id == owner.planned.id),
            "key {}: expected {}, found {:?}",
            lookup.key,
            owner.planned.id,
            lookup.ids
        );
    }
    Ok(lookups.len())
}

/// Copies a store directory.
///
/// # Errors
/// When a file cannot be read or written.
pub fn copy_store(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_store(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("cannot copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Counts the files of a store, so that the report shows how many of each kind were read.
///
/// # Errors
/// When a directory cannot be listed, or there are fewer than `least` commit log files.
pub fn describe_files(store: &Path, least: usize) -> Result<String> {
    let log = count_files(&store.join("commitlog"))?;
    ensure!(
        log >= least,
        "expected at least {least} commit log files, found {log}: are the file sizes obeyed?"
    );
    let queues = count_files(&store.join("consumequeue"))?;
    let index = count_files(&store.join("index"))?;
    Ok(format!("in {log} log, {queues} queue and {index} index files"))
}

fn count_files(directory: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let entry = entry?;
        count += if entry.file_type()?.is_dir() { count_files(&entry.path())? } else { 1 };
    }
    Ok(count)
}
