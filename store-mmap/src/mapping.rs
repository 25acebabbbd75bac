//! One file as memory, behind the three doors. Everything that dereferences mapped memory is in this folder.

mod exclusive;
mod guard;
mod os;
mod published;
#[cfg(loom)]
mod watched;

pub(crate) use exclusive::ExclusiveMapping;
pub use guard::mapping_faults;
pub(crate) use os::Mapping;
pub(crate) use published::{CutRefused, PublishedMapping, View};
