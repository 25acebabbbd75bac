use crate::access_policy::AccessPolicy;
use crate::error::Result;
use crate::mapped_file::{MappedFile, ReservePolicy};
use crate::queue_directories::QueueDirectories;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store_disk_tools::{Env, file_name};

/// A file that a queue needs now.
#[derive(Debug, Clone)]
pub struct FileRequest {
    /// Directories of the queue.
    pub directories: QueueDirectories,
    /// Offset of its first byte.
    pub from: u64,
    /// Size in bytes.
    pub size: u64,
    /// How its blocks are reserved.
    pub reserve: ReservePolicy,
    /// What the kernel is told about its use.
    pub access: AccessPolicy,
}

impl FileRequest {
    /// Where the file should be; a directory that refuses it leaves it to the next one.
    pub fn path(&self) -> PathBuf {
        self.paths().next().unwrap_or_default()
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let name = file_name::offset_name(self.from);
        self.directories.for_new_file(self.from, self.size).into_iter().map(move |path| path.join(&name))
    }

    /// The request for the file behind this one; `None` at the end of the offset space.
    pub fn following(&self) -> Option<Self> {
        Some(Self { from: self.from.checked_add(self.size)?, ..self.clone() })
    }

    /// Makes the file, in the first directory that takes it.
    ///
    /// # Errors
    ///
    /// What the first directory said when none takes it.
    pub fn create(&self, env: &Env) -> Result<MappedFile> {
        let first = self.create_at(env, &self.path());
        first.or_else(|error| {
            self.paths().skip(1).find_map(|path| self.create_at(env, &path).ok()).ok_or(error)
        })
    }

    fn create_at(&self, env: &Env, path: &Path) -> Result<MappedFile> {
        if let Some(directory) = path.parent() {
            env.disk().create_dir_all(directory)?;
        }
        let file = MappedFile::create(env, path, self.from, self.size, self.reserve)?;
        Ok(file.with_access(self.access))
    }
}

/// Where a queue takes its next file from: the seam at which a service of a layer above makes files ahead of need.
pub trait FileSupplier: Send + Sync {
    /// Delivers the file, empty. It may be there already.
    fn supply(&self, env: &Env, request: &FileRequest) -> Result<Arc<MappedFile>>;

    /// Everything that was made ahead and never delivered is deleted (orderly stop).
    fn discard_unused(&self, _env: &Env) -> Result<()> {
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
