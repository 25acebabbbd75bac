use crate::broker_config::ConfigSource;
use std::io;
use std::path::Path;
use store_core::{Env, atomic_file};

/// What a configuration may ask of this process and its host.
#[derive(Debug, Clone, Copy)]
pub struct ProcessSource;

impl ConfigSource for ProcessSource {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match atomic_file::read(Env::os().disk(), path) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(io::Error::new(error.io().kind(), error.to_string())),
        }
    }

    fn host_name(&self) -> Option<String> {
        let name = self.read(Path::new("/etc/hostname")).ok()?;
        let name = String::from_utf8(name).ok()?.trim().to_owned();
        if name.is_empty() { std::env::var("HOSTNAME").ok() } else { Some(name) }
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }
}
