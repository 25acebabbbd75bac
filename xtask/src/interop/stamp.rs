//! Remembers from which sources something was built, so that a second run need not build it again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// The stamp file beside a build result.
pub struct Stamp {
    file: PathBuf,
    digest: String,
}

impl Stamp {
    /// Reads all sources below a directory.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(sources: &Path, file: PathBuf) -> Result<Self> {
        let mut hash = Sha256::new();
        for path in files_below(sources)? {
            let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            hash.update(path.to_string_lossy().as_bytes());
            hash.update(bytes.len().to_be_bytes().as_slice());
            hash.update(&bytes);
        }
        Ok(Stamp { file, digest: hex(&hash.finalize()) })
    }

    /// Whether the last build was made from the same sources.
    pub fn is_current(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|text| text == self.digest)
    }

    /// Notes that the build is done.
    ///
    /// # Errors
    /// When the stamp cannot be written.
    pub fn write(&self) -> Result<()> {
        fs::write(&self.file, &self.digest).with_context(|| format!("cannot write {}", self.file.display()))
    }
}

/// All files below a directory, in order.
fn files_below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Small letters, two a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
