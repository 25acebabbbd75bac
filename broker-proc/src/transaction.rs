//! Transactional messages: half messages wait in a topic of their own until their producer commits or rolls back, and
//! producers that say neither are asked.
//!
//! A *half message* is stored in [`RMQ_SYS_TRANS_HALF_TOPIC`] with its own topic and queue among its properties. A commit
//! stores it again where it belongs, a rollback does not; either way its offset in the half topic is noted in an *op
//! record* of [`RMQ_SYS_TRANS_OP_HALF_TOPIC`]. [`TransactionalMessageCheckService`] goes through the half topic: what is
//! not finished and old enough is appended again (its *copy*, with one more check counted) and its producer is asked about
//! the copy; after `transactionCheckMax` checks it goes to [`RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC`].
//!
//! Topics, properties and progress (consumer offsets of the group [`TRANSACTION_GROUP`]) are Apache's, so either broker
//! can go on with a store that the other has left.
//!
//! Beyond Apache: a half message and its copies are one transaction here. Whichever of them the producer answers, the
//! transaction is finished, so a commit that crosses a check does not make the message visible twice. That memory is of
//! the process; across a crash the contract is at least once, as everywhere.
//!
//! [`RMQ_SYS_TRANS_HALF_TOPIC`]: crate::topic_validator::RMQ_SYS_TRANS_HALF_TOPIC
//! [`RMQ_SYS_TRANS_OP_HALF_TOPIC`]: crate::topic_validator::RMQ_SYS_TRANS_OP_HALF_TOPIC
//! [`RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC`]: crate::topic_validator::RMQ_SYS_TRANS_CHECK_MAX_TIME_TOPIC

mod append;
mod check_decision;
mod check_message;
mod check_progress;
mod half_message;
mod op_batch;
mod op_queue_reader;
mod transaction_state;
mod transactional_message_check_service;

pub(crate) use append::{Append, appended};
pub use check_decision::{Decision, decide, immunity_millis};
pub use half_message::{HalfMessage, is_half, property_names, redirect_half};
pub use op_batch::OpBatch;
pub use transaction_state::TransactionState;
pub use transactional_message_check_service::TransactionalMessageCheckService;

use std::sync::{Mutex, MutexGuard, PoisonError};
use store_core::service::Wakeup;

/// Consumer group whose offsets are the progress of the checks.
pub const TRANSACTION_GROUP: &str = "CID_RMQ_SYS_TRANS";
/// The one queue of the half topic, and of the op topic.
pub const HALF_QUEUE: i32 = 0;

/// What the processors and the check service share.
#[derive(Debug)]
pub struct TransactionalMessages {
    state: Mutex<TransactionState>,
    check_service: Wakeup,
}

impl TransactionalMessages {
    /// No transaction known yet; `check_service` wakes the service that writes op records.
    pub fn new(check_service: Wakeup) -> Self {
        Self { state: Mutex::default(), check_service }
    }

    /// The transactions. Whoever finishes or copies a half message holds this from the look to the put, so that nothing
    /// is committed twice or asked about after its commit.
    pub fn lock(&self) -> MutexGuard<'_, TransactionState> {
        // Every change of the state is one call that does not panic half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the check service.
    pub fn wake_check_service(&self) {
        self.check_service.wake();
    }
}
