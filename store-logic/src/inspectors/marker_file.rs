use store_mmap::inspect::{Fields, Finding, InspectError, Inspector, Place};

/// Longest marker: a process id or a word.
const LIMIT: u64 = 4096;

/// Knows the small files of which only the presence counts, or the lock on them: `abort` (there while a store runs and
/// after a crash; a process id) and `lock`.
#[derive(Debug)]
pub struct MarkerFileInspector;

impl Inspector for MarkerFileInspector {
    fn name(&self) -> &'static str {
        "marker file"
    }

    fn recognises(&self, place: &Place) -> bool {
        matches!(place.name(), "abort" | "abort.bak" | "lock") && place.len() <= LIMIT
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let content = String::from_utf8_lossy(&place.read_whole(LIMIT)?).into_owned();
        let meaning = match place.name() {
            "abort" => "the store runs, or its last stop was none",
            "lock" => "locked while the store runs",
            _ => "left by a writer of abort; nobody looks at it",
        };
        Ok(Fields::new().with("content", content).with("meaning", meaning))
    }

    fn verify(&self, _place: &Place, _found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        Ok(())
    }
}
