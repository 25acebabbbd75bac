//! A directory that a work makes and deletes.

use super::options::PlaceOptions;
use crate::program::standard_streams::tell;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Deleted when it is dropped, unless it is to be kept.
#[derive(Debug)]
pub(super) struct ScratchDirectory {
    path: PathBuf,
    keep: bool,
}

impl ScratchDirectory {
    /// A new directory below the one that was named, which is made when it is not there.
    ///
    /// # Errors
    ///
    /// It cannot be made, or a run that was ended midway left one of the same name.
    pub(super) fn new(place: &PlaceOptions) -> Result<Self> {
        let parent = &place.dir;
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        let path = parent.join(format!("stratamq-bench-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self { path, keep: place.keep })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A path in it.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        if self.keep {
            tell(format_args!("kept {}", self.path.display()));
        } else if let Err(error) = fs::remove_dir_all(&self.path) {
            tell(format_args!("warning: cannot delete {}: {error}", self.path.display()));
        }
    }
}
