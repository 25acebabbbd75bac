//! Every request code a broker serves, asked of a whole broker over sockets: codes, fields, remarks, what is stored, and
//! what other clients notice.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "processors/batch.rs"]
mod batch;
#[path = "processors/batch_queues.rs"]
mod batch_queues;
#[path = "processors/broker_admin.rs"]
mod broker_admin;
#[path = "processors/clients.rs"]
mod clients;
#[path = "processors/consumer_offsets.rs"]
mod consumer_offsets;
#[path = "processors/delay.rs"]
mod delay;
#[path = "processors/encodings.rs"]
mod encodings;
#[path = "processors/group_admin.rs"]
mod group_admin;
#[path = "in_process/in_process.rs"]
mod in_process;
#[path = "processors/light_queues.rs"]
mod light_queues;
#[path = "processors/long_polling.rs"]
mod long_polling;
#[path = "processors/pull.rs"]
mod pull;
#[path = "processors/query.rs"]
mod query;
#[path = "processors/queue_lock.rs"]
mod queue_lock;
#[path = "processors/queue_offsets.rs"]
mod queue_offsets;
#[path = "processors/reset_offset.rs"]
mod reset_offset;
#[path = "processors/restart.rs"]
mod restart;
#[path = "processors/retry.rs"]
mod retry;
#[path = "processors/send.rs"]
mod send;
#[path = "processors/send_refusals.rs"]
mod send_refusals;
#[path = "processors/subscription.rs"]
mod subscription;
#[path = "processors/topic_admin.rs"]
mod topic_admin;
