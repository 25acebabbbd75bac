use crate::error::Result;
use crate::mapped_file::{MappedFile, ReservePolicy};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store_disk_tools::{Env, file_name};

/// A file that a queue needs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRequest {
    /// Directory of the queue.
    pub directory: PathBuf,
    /// Offset of its first byte.
    pub from: u64,
    /// Size in bytes.
    pub size: u64,
    /// How its blocks are reserved.
    pub reserve: ReservePolicy,
}

impl FileRequest {
    /// Where the file will be.
    pub fn path(&self) -> PathBuf {
        self.directory.join(file_name::offset_name(self.from))
    }

    /// The request for the file behind this one; `None` at the end of the offset space.
    pub fn following(&self) -> Option<Self> {
        Some(Self { from: self.from.checked_add(self.size)?, ..self.clone() })
    }

    /// Makes the file.
    pub fn create(&self, env: &Env) -> Result<MappedFile> {
        MappedFile::create(env, &self.path(), self.from, self.size, self.reserve)
    }
}

/// Where a queue takes its next file from: the seam at which a service of a layer above makes files ahead of need.
pub trait FileSupplier: Send + Sync {
    /// Delivers the file, empty. It may be there already.
    fn supply(&self, env: &Env, request: &FileRequest) -> Result<Arc<MappedFile>>;

    /// Everything that was made ahead and never delivered below `directory` is deleted (orderly stop).
    fn discard_unused(&self, _env: &Env, _directory: &Path) -> Result<()> {
        Ok(())
    }
}

/// Makes each file when it is needed.
#[derive(Debug)]
pub struct OnDemand;

impl FileSupplier for OnDemand {
    fn supply(&self, env: &Env, request: &FileRequest) -> Result<Arc<MappedFile>> {
        request.create(env).map(Arc::new)
    }
}
