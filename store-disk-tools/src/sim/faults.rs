/// What can go wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A sync fails, and its pages are dropped: later syncs pass over them.
    SyncError,
    /// A write, reservation or creation fails for lack of space.
    NoSpace,
    /// A write fails.
    WriteError,
    /// A rename, a deletion or the sync of a directory fails.
    NameError,
}

/// Kinds of operations, for choosing which faults can hit them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Makes a file or directory.
    Create,
    /// Writes, resizes or reserves.
    Write,
    /// Syncs content.
    Sync,
    /// Renames, deletes, syncs a directory.
    Name,
}

impl Fault {
    pub(super) fn can_hit(self, operation: Operation) -> bool {
        match self {
            Self::SyncError => operation == Operation::Sync,
            Self::NoSpace => matches!(operation, Operation::Create | Operation::Write),
            Self::WriteError => operation == Operation::Write,
            Self::NameError => operation == Operation::Name,
        }
    }
}
