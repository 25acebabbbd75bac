use crate::bytes::Reader;
use crate::store_checkpoint::{CheckpointFields, format};
use store_mmap::inspect::{FieldValue, Fields, Finding, InspectError, Inspector, Place};

/// Knows the checkpoint.
#[derive(Debug)]
pub struct CheckpointInspector;

/// The fields of a checkpoint file.
///
/// # Errors
///
/// The file has another length than a checkpoint, and whatever the disk reports.
pub fn read_checkpoint(place: &Place) -> Result<CheckpointFields, InspectError> {
    if place.len() != format::FILE_SIZE {
        return Err(InspectError::Unreadable {
            path: place.path().to_owned(),
            expected: format!("{} bytes", format::FILE_SIZE),
            found: format!("{} bytes", place.len()),
        });
    }
    let bytes = place.read_whole(format::FILE_SIZE)?;
    let field = |at: u64| {
        let bytes = bytes.get(at as usize..).unwrap_or(&[]);
        Reader::new(bytes).i64().unwrap_or(0)
    };
    Ok(CheckpointFields {
        physic_msg_timestamp: field(format::PHYSIC_MSG_TIMESTAMP_AT),
        logics_msg_timestamp: field(format::LOGICS_MSG_TIMESTAMP_AT),
        index_msg_timestamp: field(format::INDEX_MSG_TIMESTAMP_AT),
        master_flushed_offset: field(format::MASTER_FLUSHED_OFFSET_AT),
        confirm_phy_offset: field(format::CONFIRM_PHY_OFFSET_AT),
        logics_physical_offset: field(format::LOGICS_PHYSICAL_OFFSET_AT),
    })
}

fn fields(checkpoint: &CheckpointFields) -> Fields {
    Fields::new()
        .with("physicMsgTimestamp", FieldValue::Millis(checkpoint.physic_msg_timestamp))
        .with("logicsMsgTimestamp", FieldValue::Millis(checkpoint.logics_msg_timestamp))
        .with("indexMsgTimestamp", FieldValue::Millis(checkpoint.index_msg_timestamp))
        .with("masterFlushedOffset", checkpoint.master_flushed_offset)
        .with("confirmPhyOffset", checkpoint.confirm_phy_offset)
        .with("logicsPhysicalOffset", checkpoint.logics_physical_offset)
}

impl Inspector for CheckpointInspector {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn recognises(&self, place: &Place) -> bool {
        place.name() == "checkpoint"
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        read_checkpoint(place).map(|checkpoint| fields(&checkpoint))
    }

    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        match read_checkpoint(place) {
            Ok(checkpoint) => {
                let times = [
                    ("physicMsgTimestamp", checkpoint.physic_msg_timestamp),
                    ("logicsMsgTimestamp", checkpoint.logics_msg_timestamp),
                    ("indexMsgTimestamp", checkpoint.index_msg_timestamp),
                ];
                for (number, (name, time)) in times.into_iter().enumerate().filter(|row| row.1.1 < 0) {
                    let subject = Fields::new().with("field", name);
                    let finding = Finding::error(
                        "checkpoint-time",
                        place.path(),
                        "epoch milliseconds",
                        time.to_string(),
                    );
                    found(finding.at(number as u64 * 8).about(subject));
                }
            }
            Err(InspectError::Unreadable { path, expected, found: is }) => {
                found(Finding::error("checkpoint-length", &path, expected, is));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
