//! Checkpoint and notes claim no more than the log holds.

use super::Context;
use store_logic::commit_log::format::{self, Decoded};
use store_logic::inspect::{Fields, Finding, InspectError, Place};
use store_logic::inspectors::{LogSummary, read_checkpoint};
use store_logic::store_checkpoint::{CheckpointFields, format as layout};

pub(super) fn verify(
    context: &Context<'_>,
    log: &LogSummary,
    found: &mut dyn FnMut(Finding),
) -> Result<(), InspectError> {
    let store = context.store;
    verify_notes(context, log.end, found)?;
    let path = store.paths().checkpoint();
    if store.env.disk().stat(&path)?.is_none() {
        found(Finding::note(
            "no-checkpoint",
            &path,
            "a checkpoint",
            "none; after a crash a start reads more",
        ));
        return Ok(());
    }
    let Ok(checkpoint) = read_checkpoint(&Place::open(store.env.disk(), &path)?) else {
        // Its length was told of when the file was looked at by itself.
        return Ok(());
    };
    if context.in_use {
        return Ok(());
    }
    let times = [
        ("physicMsgTimestamp", layout::PHYSIC_MSG_TIMESTAMP_AT, checkpoint.physic_msg_timestamp),
        ("logicsMsgTimestamp", layout::LOGICS_MSG_TIMESTAMP_AT, checkpoint.logics_msg_timestamp),
        ("indexMsgTimestamp", layout::INDEX_MSG_TIMESTAMP_AT, checkpoint.index_msg_timestamp),
    ];
    for (field, at, time) in times {
        if time > log.last_store_timestamp {
            let expected = format!("at most {}, the store time of the last record", log.last_store_timestamp);
            let finding = Finding::error("checkpoint-ahead", &path, expected, time.to_string());
            found(finding.at(at).about(Fields::new().with("field", field)));
        }
    }
    verify_record(context, &checkpoint, log.end, found)
}

/// What was there at the last stop in order is still there.
fn verify_notes(
    context: &Context<'_>,
    log_end: u64,
    found: &mut dyn FnMut(Finding),
) -> Result<(), InspectError> {
    let store = context.store;
    let stop = store.notes.as_ref().and_then(|notes| notes.clean_stop());
    if let Some(stop) = stop.filter(|stop| stop.log_end > log_end) {
        let expected = format!("{}, where the log ended at the last stop in order", stop.log_end);
        let finding = Finding::error("log-end", store.paths().commit_log(), expected, log_end.to_string());
        found(finding.about(Fields::new().with("lostBytes", stop.log_end - log_end)));
    }
    Ok(())
}

/// The record that belongs to the queue time has that store time.
fn verify_record(
    context: &Context<'_>,
    checkpoint: &CheckpointFields,
    log_end: u64,
    found: &mut dyn FnMut(Finding),
) -> Result<(), InspectError> {
    let mut log = context.store.log()?.without_crc();
    let Ok(at) = u64::try_from(checkpoint.logics_physical_offset) else { return Ok(()) };
    if at == 0 || at < log.min_offset() || checkpoint.logics_msg_timestamp <= 0 {
        return Ok(());
    }
    let record = log.record_at(at)?;
    let time = record.as_deref().and_then(|record| match format::decode(record, false) {
        Ok(Decoded::Record(view)) => Some(view.store_timestamp),
        _ => None,
    });
    if time != Some(checkpoint.logics_msg_timestamp) {
        let path = context.store.paths().checkpoint();
        let expected = format!("a record stored at {} at {at}", checkpoint.logics_msg_timestamp);
        let is = match time {
            Some(time) => format!("one stored at {time}"),
            None if at >= log_end => format!("the log ends at {log_end}"),
            None => "no record".to_owned(),
        };
        let subject = Fields::new().with("field", "logicsPhysicalOffset");
        found(
            Finding::error("checkpoint-record", &path, expected, is)
                .at(layout::LOGICS_PHYSICAL_OFFSET_AT)
                .about(subject),
        );
    }
    Ok(())
}
