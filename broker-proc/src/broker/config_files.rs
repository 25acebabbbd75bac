use crate::config_store::ConfigFiles;
use std::io;
use std::path::Path;
use store_core::{DiskError, Env, atomic_file};

/// The `config/*.json` files on the broker's disk.
#[derive(Debug)]
pub(super) struct DiskConfigFiles {
    env: Env,
}

impl DiskConfigFiles {
    pub(super) fn new(env: &Env) -> Self {
        Self { env: env.clone() }
    }
}

/// Keeps the kind of the error and its whole text.
fn to_io(error: DiskError) -> io::Error {
    io::Error::new(error.io().kind(), error.to_string())
}

impl ConfigFiles for DiskConfigFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        atomic_file::read(self.env.disk(), path).map_err(to_io)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        atomic_file::replace(self.env.disk(), path, bytes).map_err(to_io)
    }

    fn set_aside(&self, path: &Path, aside: &Path) -> io::Result<()> {
        self.env.disk().rename(path, aside).map_err(to_io)
    }
}
