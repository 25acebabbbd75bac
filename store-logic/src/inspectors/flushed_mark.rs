use crate::flushed_mark::{FILE_SIZE, FlushedMark, FlushedPosition};
use store_mmap::Env;
use store_mmap::inspect::{FieldValue, Fields, Finding, InspectError, Inspector, Place};

/// Knows the mark of how far the log is durable (`stratamq.flushed`).
#[derive(Debug)]
pub struct FlushedMarkInspector {
    env: Env,
}

impl FlushedMarkInspector {
    /// An inspector that reads through `env`.
    pub fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }
}

impl Inspector for FlushedMarkInspector {
    fn name(&self) -> &'static str {
        "flushed mark"
    }

    fn recognises(&self, place: &Place) -> bool {
        place.name() == "stratamq.flushed"
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        Ok(match FlushedMark::read(&self.env, place.path())? {
            Some(FlushedPosition { position, physic_msg_timestamp }) => Fields::new()
                .with("flushedWhere", position)
                .with("physicMsgTimestamp", FieldValue::Millis(physic_msg_timestamp)),
            None => Fields::new().with("flushedWhere", "unknown: the check does not fit"),
        })
    }

    /// A mark that cannot be read is a note: a start does without.
    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        if place.len() != FILE_SIZE {
            let (expected, is) = (format!("{FILE_SIZE} bytes"), format!("{} bytes", place.len()));
            found(Finding::error("file-length", place.path(), expected, is));
        } else if FlushedMark::read(&self.env, place.path())?.is_none() {
            found(Finding::note("flushed-mark", place.path(), "a mark whose check fits", "another"));
        }
        Ok(())
    }
}
