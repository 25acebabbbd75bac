use memmap2::Advice;

/// How the kernel is told a mapping will be used (`madvise`): a trade between cheap faults and small flushes.
///
/// A fault that reads ahead brings many pages at once, as one large folio, and a folio is dirty and is written back as
/// one. A flush of 4 KiB then writes up to what the device reads ahead: 2 to 13 times what was appended between two
/// flushes of a group commit. Faults one page at a time write what was appended, and cost 5 times as much each. So
/// whoever flushes seldom wants read-ahead, and whoever flushes small amounts does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccessPolicy {
    /// The kernel's default, read-ahead: for files that are flushed in large pieces, that are written by calls and not
    /// through the mapping (from a write buffer), or that are many and small. The default.
    #[default]
    ReadAhead,
    /// `MADV_RANDOM` while the file is written through its mapping, read-ahead once it is full, when it is only read
    /// any more: for a log that is flushed after each put.
    SmallFlushes,
    /// `MADV_RANDOM` for ever (`dataReadAheadEnable=false`): for readers that jump.
    NoReadAhead,
}

impl AccessPolicy {
    /// The advice for a file that is full, or still written.
    pub(crate) fn advice(self, full: bool) -> Advice {
        match self {
            Self::ReadAhead => Advice::Normal,
            Self::SmallFlushes if full => Advice::Normal,
            Self::SmallFlushes | Self::NoReadAhead => Advice::Random,
        }
    }

    /// True when the advice changes once a file is full.
    pub(crate) fn changes_when_full(self) -> bool {
        self == Self::SmallFlushes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_flushes_change_when_the_file_is_full() {
        for policy in [AccessPolicy::ReadAhead, AccessPolicy::SmallFlushes, AccessPolicy::NoReadAhead] {
            let (written, full) = (policy.advice(false), policy.advice(true));
            assert_eq!(written != full, policy.changes_when_full(), "{policy:?}");
        }
        assert_eq!(AccessPolicy::SmallFlushes.advice(false), Advice::Random);
        assert_eq!(AccessPolicy::NoReadAhead.advice(true), Advice::Random);
    }
}
