//! One file per processor. Which code goes where is in `processor.rs`.

mod admin_broker;
mod client_manage;
mod consumer_manage;
mod consumer_send_msg_back;
mod end_transaction;
mod group_admin;
mod pull_message;
mod query_message;
mod queue_lock;
mod queue_offset;
mod reply_message;
mod resume_check_half_message;
mod send_message;
mod topic_admin;

pub use admin_broker::AdminBrokerProcessor;
pub use client_manage::ClientManageProcessor;
pub use consumer_manage::ConsumerManageProcessor;
pub use consumer_send_msg_back::ConsumerSendMsgBackProcessor;
pub use end_transaction::EndTransactionProcessor;
pub use group_admin::GroupAdminProcessor;
pub use pull_message::PullMessageProcessor;
pub use query_message::QueryMessageProcessor;
pub use queue_lock::QueueLockProcessor;
pub use queue_offset::QueueOffsetProcessor;
pub use reply_message::ReplyMessageProcessor;
pub use resume_check_half_message::ResumeCheckHalfMessageProcessor;
pub use send_message::{BatchEntry, SendMessageProcessor, decode_batch};
pub use topic_admin::TopicAdminProcessor;
