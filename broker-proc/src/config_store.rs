//! Loading and saving of the JSON files below `config/`.
//!
//! A file that cannot be read is never lost: its backup is used and the file itself is moved aside under a name that
//! says so. Apache deletes it. When the backup is no better the load fails, for starting empty would overwrite what an
//! operator may still be able to repair.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use store_core::java_json::JavaJsonError;

/// The few file operations needed here. The writing one must be atomic and durable.
pub trait ConfigFiles: Send + Sync {
    /// Whole content; `None` when the file does not exist.
    ///
    /// # Errors
    /// Whatever the system says.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Replaces the content in one step, keeping the old one as `NAME.bak`; makes missing directories.
    ///
    /// # Errors
    /// Whatever the system says; the old content is then still in place.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Moves `path` to `aside`.
    ///
    /// # Errors
    /// Whatever the system says.
    fn set_aside(&self, path: &Path, aside: &Path) -> io::Result<()>;
}

/// State that lives in one file below `config/`.
pub trait ConfigManager {
    /// Name of the file, such as `topics.json`.
    fn config_file_name(&self) -> &'static str;

    /// The whole state as text for the file.
    ///
    /// # Errors
    /// The state cannot be written as JSON.
    fn encode(&self) -> Result<String, JavaJsonError>;

    /// Replaces the whole state by what the file says; on an error the state is untouched.
    ///
    /// # Errors
    /// The bytes are not the expected JSON.
    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError>;
}

/// A configuration file that could not be loaded or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigStoreError {
    /// The system refused.
    #[error("{}: cannot {action}: {source}", .path.display())]
    Io {
        /// File.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Neither the file nor its backup can be used.
    #[error("{}: {problem}; its backup {}: {backup_problem}. Repair one of them, or move both away to start without", .path.display(), .backup.display())]
    Unreadable {
        /// File.
        path: PathBuf,
        /// What is wrong with the file.
        problem: String,
        /// Backup.
        backup: PathBuf,
        /// What is wrong with the backup.
        backup_problem: String,
    },
    /// The state cannot be written as JSON.
    #[error("{}: cannot encode: {source}", .path.display())]
    Encode {
        /// File.
        path: PathBuf,
        /// What is wrong with the state.
        source: JavaJsonError,
    },
}

/// How a load went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadOutcome {
    /// The file was read.
    Main,
    /// There is neither a file nor a backup: the state is as it was before.
    Absent,
    /// The file is missing or empty, the backup was read.
    Backup {
        /// File that should be there.
        path: PathBuf,
    },
    /// The file is damaged and was moved aside, the backup was read.
    Repaired {
        /// Damaged file.
        path: PathBuf,
        /// Where it is now.
        aside: PathBuf,
        /// What was wrong with it.
        problem: String,
    },
}

impl LoadOutcome {
    /// Whether the operator should hear about it.
    pub fn is_suspicious(&self) -> bool {
        matches!(self, Self::Backup { .. } | Self::Repaired { .. })
    }
}

impl fmt::Display for LoadOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("loaded"),
            Self::Absent => f.write_str("no file yet"),
            Self::Backup { path } => write!(f, "{}: missing or empty, its backup was loaded", path.display()),
            Self::Repaired { path, aside, problem } => write!(
                f,
                "{}: {problem}; moved to {}, its backup was loaded: the latest change may be missing",
                path.display(),
                aside.display()
            ),
        }
    }
}

/// What a read of one file gave.
enum Content {
    /// Missing or of no length.
    Nothing,
    /// Decoded.
    Decoded,
    /// There, but not decodable.
    Damaged(String),
}

/// Loads and saves managers in one directory.
pub struct ConfigStore {
    files: Arc<dyn ConfigFiles>,
    directory: PathBuf,
    /// One lock a file, held from encoding to the end of writing so that an older state never overwrites a newer one.
    writing: Mutex<HashMap<&'static str, Arc<Mutex<()>>>>,
}

impl fmt::Debug for ConfigStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfigStore").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl ConfigStore {
    /// A store over `directory` (`{root}/config`).
    pub fn new(directory: impl Into<PathBuf>, files: Arc<dyn ConfigFiles>) -> Self {
        Self { files, directory: directory.into(), writing: Mutex::default() }
    }

    /// Path of the manager's file.
    pub fn path_of(&self, manager: &dyn ConfigManager) -> PathBuf {
        self.directory.join(manager.config_file_name())
    }

    /// Fills `manager` from its file, else from the backup. `now_millis` (epoch) names a file that is moved aside.
    ///
    /// # Errors
    /// [`ConfigStoreError::Unreadable`] when there is something but nothing usable, [`ConfigStoreError::Io`] when the
    /// system refuses.
    pub fn load(
        &self,
        manager: &dyn ConfigManager,
        now_millis: i64,
    ) -> Result<LoadOutcome, ConfigStoreError> {
        let path = self.path_of(manager);
        let backup = with_suffix(&path, ".bak");
        let problem = match self.read_into(manager, &path)? {
            Content::Decoded => return Ok(LoadOutcome::Main),
            Content::Nothing => None,
            Content::Damaged(problem) => Some(problem),
        };
        match (self.read_into(manager, &backup)?, problem) {
            (Content::Decoded, None) => Ok(LoadOutcome::Backup { path }),
            (Content::Decoded, Some(problem)) => self.move_aside(path, problem, now_millis),
            (Content::Nothing, None) => Ok(LoadOutcome::Absent),
            (Content::Nothing, Some(problem)) => {
                let backup_problem = "missing or empty".to_owned();
                Err(ConfigStoreError::Unreadable { path, problem, backup, backup_problem })
            }
            (Content::Damaged(backup_problem), problem) => {
                let problem = problem.unwrap_or_else(|| "missing or empty".to_owned());
                Err(ConfigStoreError::Unreadable { path, problem, backup, backup_problem })
            }
        }
    }

    /// Writes the state of `manager` to its file. On return it is durable.
    ///
    /// # Errors
    /// [`ConfigStoreError::Encode`] or [`ConfigStoreError::Io`]; the file then still holds the state before.
    pub fn persist(&self, manager: &dyn ConfigManager) -> Result<(), ConfigStoreError> {
        let path = self.path_of(manager);
        let lock = {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(writing.entry(manager.config_file_name()).or_default())
        };
        let _one_at_a_time = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match manager.encode() {
            Ok(text) => text,
            Err(source) => return Err(ConfigStoreError::Encode { path, source }),
        };
        self.files.replace(&path, text.as_bytes()).map_err(|source| ConfigStoreError::Io {
            path,
            action: "write",
            source,
        })
    }

    fn read_into(&self, manager: &dyn ConfigManager, path: &Path) -> Result<Content, ConfigStoreError> {
        let bytes = self.files.read(path).map_err(|source| ConfigStoreError::Io {
            path: path.to_owned(),
            action: "read",
            source,
        })?;
        match bytes {
            None => Ok(Content::Nothing),
            Some(bytes) if bytes.is_empty() => Ok(Content::Nothing),
            Some(bytes) => match manager.decode(&bytes) {
                Ok(()) => Ok(Content::Decoded),
                Err(error) => Ok(Content::Damaged(error.to_string())),
            },
        }
    }

    fn move_aside(
        &self,
        path: PathBuf,
        problem: String,
        now_millis: i64,
    ) -> Result<LoadOutcome, ConfigStoreError> {
        let aside = with_suffix(&path, &format!(".broken-{now_millis}"));
        match self.files.set_aside(&path, &aside) {
            Ok(()) => Ok(LoadOutcome::Repaired { path, aside, problem }),
            Err(source) => Err(ConfigStoreError::Io { path, action: "move aside", source }),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
pub(crate) mod tests;
