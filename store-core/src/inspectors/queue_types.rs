//! Which topics of a store have batch queues.

use crate::store_paths::StorePaths;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use store_logic::{DiskError, Env, FileKind, QueueType, QueueTypes, java_json};

/// Topics that have a directory of batch queues, and those that `config/topics.json` says so of and that have no
/// directory of ordinary ones.
pub(super) fn batch_topics(env: &Env, paths: &StorePaths) -> Result<BTreeSet<String>, DiskError> {
    let names_below = |path: PathBuf| -> Result<BTreeSet<String>, DiskError> {
        let entries = env.disk().read_dir(&path)?.into_iter();
        Ok(entries.filter(|entry| entry.kind == FileKind::Directory).map(|entry| entry.name).collect())
    };
    let mut topics = names_below(paths.batch_consume_queue())?;
    let ordinary = names_below(paths.consume_queue())?;
    topics.extend(configured(env, paths)?.into_iter().filter(|topic| !ordinary.contains(topic)));
    Ok(topics)
}

/// The same as an answer to the store's question.
pub(super) fn of(batch_topics: &Arc<BTreeSet<String>>) -> QueueTypes {
    if batch_topics.is_empty() {
        return QueueTypes::default();
    }
    let topics = Arc::clone(batch_topics);
    QueueTypes::new(
        move |topic| {
            if topics.contains(topic) { QueueType::BatchCq } else { QueueType::SimpleCq }
        },
    )
}

/// Topics with the attribute `queue.type=BatchCQ`; none when the file is not there or cannot be read.
fn configured(env: &Env, paths: &StorePaths) -> Result<Vec<String>, DiskError> {
    let Some(bytes) = store_logic::atomic_file::read(env.disk(), &paths.config().join("topics.json"))? else {
        return Ok(Vec::new());
    };
    let Ok(value) = java_json::parse(&bytes) else { return Ok(Vec::new()) };
    let Some(table) = value.get("topicConfigTable").and_then(|table| table.as_object()) else {
        return Ok(Vec::new());
    };
    let is_batch = |config: &serde_json::Value| {
        let kind = config.get("attributes").and_then(|attributes| attributes.get(QueueType::ATTRIBUTE));
        kind.and_then(|kind| kind.as_str()).map(QueueType::of_attribute) == Some(QueueType::BatchCq)
    };
    Ok(table.iter().filter(|(_, config)| is_batch(config)).map(|(topic, _)| topic.clone()).collect())
}
