//! Small files that are StrataMQ's own, which no Apache tool reads: a checked envelope around serialized state.
//!
//! | bytes | field |
//! |---|---|
//! | 8 | magic `STRATAMQ` |
//! | 4 | kind and version of the state, chosen by its owner |
//! | 4 | bytes of the state |
//! | 4 | CRC-32 of the state |
//! | n | state |
//!
//! What is inside is encoded by bincode in this module alone: the envelope carries everything needed to change the
//! codec, and nothing read from the network ever comes here.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use store_mmap::{DiskError, Env, atomic_file};

const MAGIC: &[u8; 8] = b"STRATAMQ";
const HEADER: usize = 20;
/// Largest state in bytes.
const MAX_STATE: usize = 16 << 20;

/// Why a snapshot cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is damaged or of another kind.
    #[error("snapshot {path}: expected {expected}, found {found}")]
    Damaged {
        /// The file.
        path: String,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// State that cannot be encoded.
    #[error("snapshot {path}: {reason}")]
    Encode {
        /// The file.
        path: String,
        /// The codec's reason.
        reason: String,
    },
}

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_big_endian().with_limit::<MAX_STATE>()
}

/// Writes the state durably; the file holds the old or the new state at every moment.
pub fn write<T: Serialize>(env: &Env, path: &Path, kind: u32, state: &T) -> Result<(), SnapshotError> {
    let state = bincode::serde::encode_to_vec(state, config()).map_err(|error| SnapshotError::Encode {
        path: path.display().to_string(),
        reason: error.to_string(),
    })?;
    let mut bytes = Vec::with_capacity(HEADER + state.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&(state.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&state).to_be_bytes());
    bytes.extend_from_slice(&state);
    Ok(atomic_file::write_whole(env.disk(), path, &bytes)?)
}

/// Reads the state; `None` when there is no file.
///
/// # Errors
///
/// [`SnapshotError::Damaged`] names what does not fit; the caller decides whether it can do without.
pub fn read<T: DeserializeOwned>(env: &Env, path: &Path, kind: u32) -> Result<Option<T>, SnapshotError> {
    let Some(bytes) = atomic_file::read(env.disk(), path)? else { return Ok(None) };
    let damaged = |expected: String, found: String| SnapshotError::Damaged {
        path: path.display().to_string(),
        expected,
        found,
    };
    let header =
        bytes.get(..HEADER).ok_or_else(|| damaged(format!("{HEADER} bytes"), bytes.len().to_string()))?;
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if &header[..8] != MAGIC {
        return Err(damaged("magic STRATAMQ".into(), format!("{:02x?}", &header[..8])));
    }
    if word(8) != kind {
        return Err(damaged(format!("kind {kind}"), word(8).to_string()));
    }
    let state = &bytes[HEADER..];
    if state.len() != word(12) as usize {
        return Err(damaged(format!("{} bytes of state", word(12)), state.len().to_string()));
    }
    let crc = crc32fast::hash(state);
    if crc != word(16) {
        return Err(damaged(format!("CRC {:08x}", word(16)), format!("{crc:08x}")));
    }
    let (state, _) = bincode::serde::decode_from_slice(state, config())
        .map_err(|error| damaged("state that can be decoded".into(), error.to_string()))?;
    Ok(Some(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_there_and_back_and_notices_every_flip() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("snapshot");
        let env = Env::os();
        assert_eq!(read::<(u64, String)>(&env, &path, 1).unwrap(), None);
        let state = (7_u64, "text".to_owned());
        write(&env, &path, 1, &state).unwrap();
        assert_eq!(read::<(u64, String)>(&env, &path, 1).unwrap(), Some(state));
        assert!(read::<(u64, String)>(&env, &path, 2).is_err(), "another kind");
        let good = std::fs::read(&path).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, bytes).unwrap();
            assert!(read::<(u64, String)>(&env, &path, 1).is_err(), "bit {bit}");
        }
    }
}
