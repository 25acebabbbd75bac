//! A running store as its callers see it: put, get, query, delete.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "support/copies.rs"]
mod copies;
#[path = "put_get/deleting.rs"]
mod deleting;
#[path = "put_get/extended_queues.rs"]
mod extended_queues;
#[path = "put_get/getting.rs"]
mod getting;
#[path = "put_get/mapping_fault.rs"]
mod mapping_fault;
#[path = "support/messages.rs"]
mod messages;
#[path = "put_get/putting.rs"]
mod putting;
#[path = "put_get/querying.rs"]
mod querying;
#[path = "support/roomy_disk.rs"]
mod roomy_disk;
#[path = "support/test_store.rs"]
mod test_store;
