//! The JSON bodies of requests and answers.
//!
//! Property names are those of Java's beans. Read and write them with
//! [`java_json`](store_core::java_json): only that handles the integer and object keys of some maps, text
//! where numbers belong, ordinals for enum constants and explicit nulls. A property that a peer leaves out has the
//! default of the Java bean.

mod assignment;
mod client;
mod connection;
mod consumer_running_info;
mod data_version;
mod heartbeat;
mod list;
mod lock_batch;
mod message_queue;
mod offset_table;
mod queue_data;
mod register_broker;
mod route;
mod stats;
mod subscription_data;
mod subscription_group_config;
mod topic_config;
mod topic_queue_mapping;

pub use assignment::*;
pub use client::*;
pub use connection::*;
pub use consumer_running_info::*;
pub use data_version::DataVersion;
pub use heartbeat::*;
pub use list::*;
pub use lock_batch::*;
pub use message_queue::MessageQueue;
pub use offset_table::*;
pub use queue_data::*;
pub use register_broker::*;
pub use route::*;
pub use stats::*;
pub use subscription_data::SubscriptionData;
pub use subscription_group_config::*;
pub use topic_config::*;
pub use topic_queue_mapping::*;

#[cfg(test)]
mod tests;
