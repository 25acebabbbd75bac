use crate::bytes::Reader;
use crate::snapshot_file::{self, SnapshotError};
use store_mmap::Env;
use store_mmap::inspect::{Fields, Finding, InspectError, Inspector, Place};

/// Knows the envelope of StrataMQ's own files (`stratamq.snapshot`); what is inside belongs to the layer that wrote it.
#[derive(Debug)]
pub struct NotesFileInspector {
    env: Env,
}

impl NotesFileInspector {
    /// An inspector that reads through `env`.
    pub fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }
}

/// Kind of the state, as the envelope says; 0 when there is none.
fn kind_of(place: &Place) -> u32 {
    place.head().get(8..12).and_then(|bytes| Reader::new(bytes).u32()).unwrap_or(0)
}

impl Inspector for NotesFileInspector {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn recognises(&self, place: &Place) -> bool {
        place.name() == "stratamq.snapshot" || place.head().starts_with(b"STRATAMQ")
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        Ok(Fields::new().with("kind", format!("{:08x}", kind_of(place))).with("bytes", place.len()))
    }

    /// Length and CRC of the state; none of the state itself is read.
    fn verify(&self, place: &Place, found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        match snapshot_file::read::<()>(&self.env, place.path(), kind_of(place)) {
            Ok(_) => Ok(()),
            Err(SnapshotError::Disk(error)) => Err(error.into()),
            Err(SnapshotError::Damaged { expected, found: is, .. }) => {
                found(Finding::error("snapshot-envelope", place.path(), expected, is));
                Ok(())
            }
            Err(other) => {
                found(Finding::error("snapshot-envelope", place.path(), "a snapshot", other.to_string()));
                Ok(())
            }
        }
    }
}
