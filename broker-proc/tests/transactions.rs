//! Transactional messages and request-reply, asked of a whole broker over sockets.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "transactions/apaches_store.rs"]
mod apaches_store;
#[path = "transactions/checks.rs"]
mod checks;
#[path = "transactions/end_transaction.rs"]
mod end_transaction;
#[path = "transactions/immunity.rs"]
mod immunity;
#[path = "in_process/in_process.rs"]
mod in_process;
#[path = "transactions/producer.rs"]
mod producer;
#[path = "transactions/request_reply.rs"]
mod request_reply;
