//! Transactions: `END_TRANSACTION`, `CHECK_TRANSACTION_STATE`, `RESUME_CHECK_HALF_MESSAGE`.

use super::remoting_header;

remoting_header! {
    /// `END_TRANSACTION`.
    pub struct EndTransactionRequestHeader {
        /// The message's own topic.
        "topic" topic: Option<String>,
        /// Group of the producer.
        "producerGroup" producer_group: String,
        /// Offset of the half message in the half topic.
        "tranStateTableOffset" tran_state_table_offset: i64,
        /// Position of the half message in the commit log.
        "commitLogOffset" commit_log_offset: i64,
        /// 8 commit, 12 roll back, 0 not known.
        "commitOrRollback" commit_or_rollback: i32,
        /// Whether this answers a check.
        "fromTransactionCheck" from_transaction_check: bool = false,
        /// The message's `UNIQ_KEY`.
        "msgId" msg_id: String,
        /// The message's `UNIQ_KEY` again.
        "transactionId" transaction_id: Option<String>,
        /// Broker that holds the half message.
        "bname" broker_name: Option<String>,
    }
}

remoting_header! {
    /// Push `CHECK_TRANSACTION_STATE`.
    pub struct CheckTransactionStateRequestHeader {
        /// Topic of the half message.
        "topic" topic: Option<String>,
        /// Offset of the half message in the half topic.
        "tranStateTableOffset" tran_state_table_offset: i64,
        /// Position of the half message in the commit log.
        "commitLogOffset" commit_log_offset: i64,
        /// The message's `UNIQ_KEY`.
        "msgId" msg_id: Option<String>,
        /// The message's `UNIQ_KEY` again.
        "transactionId" transaction_id: Option<String>,
        /// Offset id of the half message.
        "offsetMsgId" offset_msg_id: Option<String>,
        /// Broker that holds the half message.
        "bname" broker_name: Option<String>,
    }
}

remoting_header! {
    /// `RESUME_CHECK_HALF_MESSAGE`.
    pub struct ResumeCheckHalfMessageRequestHeader {
        /// Topic of the message.
        "topic" topic: Option<String>,
        /// Offset id of the message.
        "msgId" msg_id: Option<String>,
    }
}
