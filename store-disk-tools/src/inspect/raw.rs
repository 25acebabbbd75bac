//! What can be said of any file: how long it is, where its zeros begin, and its bytes.

use super::window::Window;
use super::{Fields, Finding, InspectError, Inspector, Place, Selection, last_data};
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// Bytes of one line of a dump.
const LINE: usize = 16;

/// Knows bytes and no format.
#[derive(Debug)]
pub struct RawInspector;

impl Inspector for RawInspector {
    fn name(&self) -> &'static str {
        "file"
    }

    fn recognises(&self, _place: &Place) -> bool {
        true
    }

    fn summarise(&self, place: &Place) -> Result<Fields, InspectError> {
        let used = last_data(place.file(), 0, place.len())?.unwrap_or(0);
        Ok(Fields::new().with("bytes", place.len()).with("zerosFrom", used))
    }

    fn conditions(&self) -> &'static [&'static str] {
        &["offset"]
    }

    /// Lines of 16 bytes in hex and as text; lines of zeros are left out.
    fn dump(
        &self,
        place: &Place,
        selection: &Selection,
        visit: &mut dyn FnMut(Fields) -> ControlFlow<()>,
    ) -> Result<(), InspectError> {
        selection.check(self)?;
        let range = selection.range("offset");
        let from = u64::try_from(range.from.unwrap_or(0)).unwrap_or(0);
        let to = range.to.map_or(u64::MAX, |to| u64::try_from(to.saturating_add(1)).unwrap_or(0));
        let end = last_data(place.file(), 0, place.len())?.unwrap_or(0).min(to);
        let mut window = Window::new();
        let mut at = from;
        while at < end {
            let bytes = window.bytes(place.file(), place.len(), at, LINE)?;
            let line = &bytes[..LINE.min(bytes.len()).min((end - at) as usize)];
            let shown = line.iter().any(|byte| *byte != 0);
            if shown && visit(hex_line(at, line)).is_break() {
                break;
            }
            at += line.len() as u64;
        }
        Ok(())
    }

    fn verify(&self, _place: &Place, _found: &mut dyn FnMut(Finding)) -> Result<(), InspectError> {
        Ok(())
    }
}

fn hex_line(at: u64, bytes: &[u8]) -> Fields {
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    let text: String =
        bytes.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }).collect();
    Fields::new().with("offset", at).with("hex", hex).with("text", text)
}
