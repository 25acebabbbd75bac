use crate::error::StoreError;
use store_logic::inspect::InspectError;
use store_logic::{DiskError, LogicError};

/// Why a tool that changes a store did not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// Something cannot be read.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The store cannot be opened, written or stopped.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was asked for does not fit the store; nothing was changed.
    #[error("{0}")]
    Refused(String),
}

impl From<DiskError> for ToolError {
    fn from(error: DiskError) -> Self {
        Self::Inspect(error.into())
    }
}

impl From<LogicError> for ToolError {
    fn from(error: LogicError) -> Self {
        Self::Store(error.into())
    }
}
