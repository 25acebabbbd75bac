//! The recorded frames; `golden/frames.md` describes the file.

use std::io::Read as _;
use std::sync::OnceLock;

use serde_json::Value;

/// One recorded frame.
pub struct Recorded {
    /// Its description.
    pub meta: Value,
    /// Its bytes.
    pub frame: &'static [u8],
}

impl Recorded {
    /// Where it was recorded, for messages.
    pub fn place(&self) -> String {
        format!("{} t={}", self.text("file"), self.number("t"))
    }

    pub fn text(&self, key: &str) -> &str {
        self.meta[key].as_str().unwrap_or_default()
    }

    /// A number of the description, −1 when there is none.
    pub fn number(&self, key: &str) -> i32 {
        self.meta[key].as_i64().map_or(-1, |number| i32::try_from(number).unwrap())
    }

    /// Whether Java took it for a frame. One binary header with wrong lengths inside, sent on purpose, was
    /// recorded as a request; the broker closed the connection.
    pub fn is_frame(&self) -> bool {
        self.text("kind") != "not a frame" && self.place() != "odd-clients t=5113"
    }

    pub fn is_response(&self) -> bool {
        self.text("kind") == "response"
    }
}

/// All recorded frames, in order of recording.
pub fn recorded_frames() -> &'static [Recorded] {
    static FRAMES: OnceLock<Vec<Recorded>> = OnceLock::new();
    FRAMES.get_or_init(|| {
        let mut unpacked = Vec::new();
        let packed: &[u8] = include_bytes!("../golden/frames.gz");
        flate2::read::GzDecoder::new(packed).read_to_end(&mut unpacked).unwrap();
        let mut rest: &'static [u8] = unpacked.leak();
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let meta = serde_json::from_slice(take(&mut rest)).unwrap();
            frames.push(Recorded { meta, frame: take(&mut rest) });
        }
        frames
    })
}

/// Takes a piece with its length in front.
fn take(rest: &mut &'static [u8]) -> &'static [u8] {
    let (len, behind) = rest.split_first_chunk::<4>().unwrap();
    let (piece, behind) = behind.split_at(u32::from_be_bytes(*len) as usize);
    *rest = behind;
    piece
}
