use super::Mapping;
use crate::error::Result;
use std::path::Path;
use store_disk_tools::DiskFile;

/// A mapped file of which nobody else in this process holds a view, as one slice.
#[derive(Debug)]
pub(crate) struct ExclusiveMapping(Mapping);

impl ExclusiveMapping {
    /// Maps the first `len` bytes of a file that the caller has just made and shows to nobody.
    pub(crate) fn new(file: &dyn DiskFile, len: u64) -> Result<Self> {
        Mapping::new(file, len).map(Self)
    }

    /// All bytes.
    #[allow(unsafe_code, reason = "one of the two homes of unsafe code")]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is private to this value and borrowed exclusively, so this is the only reference to its
        // bytes.
        unsafe { self.0.slice_mut(0, self.0.len()) }
    }

    /// Makes the pages of `from..to` present and writable; false where the kernel cannot.
    pub(crate) fn populate(&self, from: usize, to: usize) -> bool {
        self.0.populate(from, to)
    }

    /// An error when a page could not be delivered.
    pub(crate) fn check_fault(&self, path: &Path) -> Result<()> {
        self.0.check_fault(path)
    }
}
