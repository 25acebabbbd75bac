//! Lines into a store, by the way every message comes in.

use super::MessageLine;
use crate::config::MessageStoreConfig;
use crate::tool_error::ToolError;
use crate::{DefaultMessageStore, MessageStore, PutMessageStatus};
use std::collections::BTreeMap;
use std::io::BufRead;
use store_logic::Env;
use store_logic::inspect::{FieldValue, Fields};
use store_logic::message::properties::{self, Properties, names};

/// Largest body in bytes; what the log file holds limits it further.
const MAX_BODY: u32 = 128 << 20;

/// How to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Read every line, and put none.
    pub dry_run: bool,
}

/// What was put, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Messages.
    pub messages: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
    /// Messages of each topic.
    pub topics: BTreeMap<String, u64>,
    /// Messages whose queue offset is another one than the line says.
    pub other_queue_offsets: u64,
    /// Where the first one stands in the log, and the position behind the last; `None` when none was put.
    pub log_range: Option<(u64, u64)>,
}

impl ImportReport {
    /// As fields.
    pub fn fields(&self) -> Fields {
        let topics = self.topics.iter().map(|(topic, messages)| {
            FieldValue::from(Fields::new().with("topic", topic.as_str()).with("messages", *messages))
        });
        let mut fields = Fields::new()
            .with("messages", self.messages)
            .with("bodyBytes", self.body_bytes)
            .with("otherQueueOffsets", self.other_queue_offsets);
        if let Some((from, to)) = self.log_range {
            fields.push("from", from);
            fields.push("to", to);
        }
        fields.with("topics", topics.collect::<Vec<_>>())
    }
}

/// What no import keeps, in words.
pub const NOT_KEPT: &str = "not kept: positions in the log, store times and the broker's message ids; queue offsets \
                            where the queue does not end right there; places in light queues; settings of topics (config/topics.json)";

/// Opens the store that `config` describes (made when there is none, recovered as by any start), puts the lines in their
/// order, and stops it in order: what was put is durable then. `progress` is told how many bytes were read.
///
/// # Errors
///
/// The store is in use or cannot be opened, a line is no message, or a message is refused. Lines before that one are in
/// the store; the error says how many.
pub fn import(
    env: &Env,
    mut config: MessageStoreConfig,
    input: &mut dyn BufRead,
    options: ImportOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, ToolError> {
    config.commit_log.max_message_size = MAX_BODY;
    // A slow disk is no reason to give up here.
    config.commit_log.os_page_cache_busy_time_out_mills = u64::from(u32::MAX);
    let store = if options.dry_run { None } else { Some(DefaultMessageStore::open(env, config)?) };
    let mut report = ImportReport::default();
    let imported = import_lines(store.as_ref(), input, &mut report, progress);
    if let Some(store) = store {
        store.shutdown()?;
    }
    imported.map_err(|reason| {
        let kept = match (options.dry_run, report.messages) {
            (true, _) => String::new(),
            (false, messages) => format!("; the {messages} messages before it are in the store"),
        };
        ToolError::Refused(format!("{reason}{kept}"))
    })?;
    Ok(report)
}

fn import_lines(
    store: Option<&DefaultMessageStore>,
    input: &mut dyn BufRead,
    report: &mut ImportReport,
    progress: &mut dyn FnMut(u64),
) -> Result<(), String> {
    let mut text = String::new();
    let (mut number, mut read) = (0_u64, 0_u64);
    loop {
        text.clear();
        number += 1;
        let len = input.read_line(&mut text).map_err(|error| format!("line {number}: {error}"))?;
        if len == 0 {
            return Ok(());
        }
        read += len as u64;
        progress(read);
        if !text.trim().is_empty() {
            take(store, &text, report).map_err(|reason| format!("line {number}: {reason}"))?;
        }
    }
}

fn take(store: Option<&DefaultMessageStore>, text: &str, report: &mut ImportReport) -> Result<(), String> {
    let line = MessageLine::parse(text)?;
    let mut properties = line.property_string()?;
    if properties::get(&properties, names::INNER_MULTI_QUEUE_OFFSET).is_some() {
        // Places in the light queues of the store it comes from.
        let mut parsed = Properties::parse(&properties);
        parsed.remove(names::INNER_MULTI_QUEUE_OFFSET);
        properties = parsed.encode();
    }
    let message = line.message(&properties);
    if let Some(store) = store {
        let put = store.put(&message).wait();
        let appended = match put.appended {
            Some(appended) if put.status == PutMessageStatus::PutOk => appended,
            _ => return Err(format!("{:?}: {}", put.status, put.remark.unwrap_or_default())),
        };
        let offset = i64::try_from(appended.logics_offset).unwrap_or(i64::MAX);
        report.other_queue_offsets += u64::from(offset != line.queue_offset);
        let end = appended.wrote_offset + appended.wrote_bytes;
        let from = report.log_range.map_or(appended.wrote_offset, |range| range.0);
        report.log_range = Some((from, end));
    }
    report.messages += 1;
    report.body_bytes += message.body.len() as u64;
    *report.topics.entry(line.topic.clone()).or_default() += 1;
    Ok(())
}
