//! One file as memory, behind the three doors. Which world the memory comes from is decided here.

mod os;

pub(crate) use os::Mapping;
