//! The forms a record may take: long properties, long topics, addresses of both kinds, batches, ids.
#![allow(non_snake_case, reason = "tests of field cases carry the case's number")]

#[path = "record_forms/batches.rs"]
mod batches;
#[path = "support/copies.rs"]
mod copies;
#[path = "record_forms/hosts.rs"]
mod hosts;
#[path = "record_forms/limits.rs"]
mod limits;
#[path = "support/messages.rs"]
mod messages;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;

use store_core::MessageStore;
use store_core::record_format::{Decoded, MessageView, decode};
use test_store::TestStore;

/// Shows the record at a position.
fn see<T>(store: &TestStore, phy_offset: u64, look: impl Fn(&MessageView<'_>) -> T) -> T {
    let record = store.store.message_at(phy_offset).expect("a record");
    let Ok(Decoded::Record(view)) = decode(&record, true) else { panic!("no record") };
    look(&view)
}
