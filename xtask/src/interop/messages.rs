//! What is sent, what was acknowledged, what arrived: the lines of the files shared with the client programs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use fastrand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::stamp::hex;

/// Tags of a plan. `Aa` and `BB` have the same hash: only the client can tell them apart.
pub const TAGS: [&str; 7] = ["TagA", "TagB", "Aa", "BB", "tag-ü", "标签", "🚀"];

/// Property that names the light queues of a message, with `,` between them.
pub const INNER_MULTI_DISPATCH: &str = "INNER_MULTI_DISPATCH";

/// Words of bodies and property values.
const WORDS: [&str; 8] =
    ["queue", "größer", "журнал", "消息", "λόγος", "🌍", "a=b&c", "\"quoted\"\n\ttext\\"];

/// A message to send, one line of a plan file.
#[derive(Clone, Serialize)]
pub struct Planned {
    /// Sent as the user property `id`.
    pub id: String,
    pub tag: Option<&'static str>,
    pub keys: Vec<String>,
    /// User properties besides `id`, and [`INNER_MULTI_DISPATCH`].
    pub properties: BTreeMap<&'static str, String>,
    #[serde(serialize_with = "as_base64")]
    pub body: Vec<u8>,
}

fn as_base64<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(bytes))
}

impl Planned {
    /// The light queues the message goes to besides its own queue.
    pub fn light_queues(&self) -> impl Iterator<Item = &str> {
        self.properties.get(INNER_MULTI_DISPATCH).into_iter().flat_map(|names| names.split(','))
    }

    /// SHA-256 of the body, as the client programs write it.
    pub fn body_sha256(&self) -> String {
        hex(&Sha256::digest(&self.body))
    }
}

/// An acknowledged message, one line of a producer's output.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledged {
    pub id: String,
    pub status: String,
    /// The client's own id of the message, if its library makes one.
    pub unique_key: Option<String>,
    pub offset_id: String,
    pub queue_id: i64,
    pub queue_offset: i64,
    /// Only for messages that are not in a plan.
    pub body_sha256: Option<String>,
}

/// A delivered message, one line of a consumer's output.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Received {
    pub topic: String,
    pub properties: BTreeMap<String, String>,
    pub body_length: usize,
    pub body_sha256: String,
    pub unique_key: String,
    pub offset_id: String,
    pub queue_id: i64,
    pub queue_offset: i64,
    pub physical_offset: i64,
    pub reconsume_times: i64,
    pub store_host: String,
    pub born_timestamp: i64,
    pub store_timestamp: i64,
}

impl Received {
    /// The line of the plan it claims to come from.
    pub fn id(&self) -> &str {
        self.properties.get("id").map_or("", String::as_str)
    }
}

/// How large the bodies of a plan become.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    /// Up to 1 MiB.
    Large,
    /// Small enough for a commit log of 1 MiB files.
    Small,
}

/// Makes the same plan for the same seed and name. The name begins every id and key.
pub fn plan(seed: u64, name: &str, count: usize, bodies: Bodies) -> Vec<Planned> {
    let mut rng = Rng::with_seed(
        name.bytes().fold(seed, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte))),
    );
    (0..count)
        .map(|index| Planned {
            id: format!("{name}-{index}"),
            tag: (rng.u8(0..8) > 0).then(|| TAGS[rng.usize(0..TAGS.len())]),
            keys: (0..rng.usize(0..3)).map(|key| format!("{name}-ключ-{index}-{key}")).collect(),
            properties: properties(&mut rng),
            body: body(&mut rng, index, bodies),
        })
        .collect()
}

fn properties(rng: &mut Rng) -> BTreeMap<&'static str, String> {
    let mut properties = BTreeMap::new();
    for name in ["color", "größe", "名前", "long"] {
        if rng.bool() {
            let words = if name == "long" { 100 } else { 1 };
            properties.insert(name, text(rng, words));
        }
    }
    properties
}

fn text(rng: &mut Rng, words: usize) -> String {
    let words: Vec<String> =
        (0..words).map(|_| format!("{}{}", WORDS[rng.usize(0..WORDS.len())], rng.u16(..))).collect();
    words.join(" ")
}

fn body(rng: &mut Rng, index: usize, bodies: Bodies) -> Vec<u8> {
    let random = |rng: &mut Rng, length: usize| (0..length).map(|_| rng.u8(..)).collect();
    match index {
        10 | 500 if bodies == Bodies::Large => random(rng, 1 << 20),
        250 if bodies == Bodies::Large => text(rng, 120_000).into_bytes().into_iter().take(1 << 20).collect(),
        _ => match rng.u8(0..20) {
            0 => vec![b'x'],
            1 => vec![0],
            2 => text(rng, 2_000).into_bytes(),
            3 => random(rng, 20_000),
            4..=9 => {
                let length = rng.usize(1..3_000);
                random(rng, length)
            }
            _ => {
                let words = rng.usize(1..40);
                text(rng, words).into_bytes()
            }
        },
    }
}

/// Writes objects one a line.
///
/// # Errors
/// When the file cannot be written.
pub fn write_lines<T: Serialize>(path: &Path, objects: &[T]) -> Result<()> {
    let mut text = Vec::new();
    for object in objects {
        serde_json::to_writer(&mut text, object)?;
        text.push(b'\n');
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads objects one a line.
///
/// # Errors
/// When the file cannot be read or a line is not such an object.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut objects = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let place = || format!("{} line {}", path.display(), number + 1);
        objects.push(serde_json::from_str(&line.with_context(place)?).with_context(place)?);
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_plan_and_another_seed_a_different_one() {
        let lines = |seed| serde_json::to_string(&plan(seed, "java", 60, Bodies::Small)).unwrap();
        assert_eq!(lines(7), lines(7));
        assert_ne!(lines(7), lines(8));
    }

    #[test]
    fn a_plan_covers_the_edges() {
        let plan = plan(1, "go", 1_000, Bodies::Large);
        assert_eq!(plan.iter().filter(|planned| planned.body.len() == 1 << 20).count(), 3);
        assert!(plan.iter().any(|planned| planned.body.len() == 1));
        assert!(plan.iter().any(|planned| planned.tag.is_none()));
        assert!(plan.iter().any(|planned| planned.keys.is_empty()));
        assert!(plan.iter().all(|planned| !planned.body.is_empty()));
        assert!(TAGS.iter().all(|tag| plan.iter().any(|planned| planned.tag == Some(tag))));
    }
}
