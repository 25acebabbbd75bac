/// What can go wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A sync of content fails, and its pages are dropped: later syncs pass over them.
    SyncError,
    /// A write, reservation or creation fails for lack of space.
    NoSpace,
    /// A write, a change of length or a reservation fails.
    WriteError,
    /// A write stops half-way.
    ShortWrite,
    /// A rename, a deletion, or the sync of a directory fails.
    NameError,
    /// A read fails.
    ReadError,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::SyncError,
        Self::NoSpace,
        Self::WriteError,
        Self::ShortWrite,
        Self::NameError,
        Self::ReadError,
    ];
}

/// Kinds of operations, for choosing which faults can hit them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Makes a file or directory.
    Create,
    /// Writes bytes.
    Write,
    /// Resizes or reserves.
    Resize,
    /// Syncs content.
    Sync,
    /// Renames, deletes, syncs a directory.
    Name,
    /// Reads bytes. It changes nothing and is not counted.
    Read,
}

impl Operation {
    pub(super) fn needs_space(self) -> bool {
        matches!(self, Self::Create | Self::Write | Self::Resize)
    }
}

impl Fault {
    pub(super) fn can_hit(self, operation: Operation) -> bool {
        match self {
            Self::SyncError => operation == Operation::Sync,
            Self::NoSpace => operation.needs_space(),
            Self::WriteError => matches!(operation, Operation::Write | Operation::Resize),
            Self::ShortWrite => operation == Operation::Write,
            Self::NameError => operation == Operation::Name,
            Self::ReadError => operation == Operation::Read,
        }
    }
}
