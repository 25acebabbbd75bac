use crate::in_process::requests::{heartbeat, properties, send_header, send_with};
use crate::in_process::{StoredMessage, TestBroker, TestClient, pulled, requests, stored_messages};
use broker_proc::BrokerContext;
use broker_proc::remoting::headers::{
    CheckTransactionStateRequestHeader, EndTransactionRequestHeader, SendMessageRequestHeader,
    SendMessageResponseHeader,
};
use broker_proc::remoting::{RemotingCommand, request_code};
use store_core::{message_id, sys_flag};

pub const HALF_TOPIC: &str = "RMQ_SYS_TRANS_HALF_TOPIC";
pub const OP_TOPIC: &str = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
pub const GIVEN_UP_TOPIC: &str = "TRANS_CHECK_MAX_TIME_TOPIC";
pub const TOPIC: &str = "TopicTx";
pub const GROUP: &str = "pg_tx";
pub const UNKNOWN: i32 = 0;
pub const COMMIT: i32 = 8;
pub const ROLL_BACK: i32 = 12;

/// Rounds follow each other at once; half messages are due when they are a minute old, and never asked about too often.
/// The log is durable at once, for progress is saved only then.
pub const EAGER: &str = "\
transactionCheckInterval=5
transactionTimeOut=60000
transactionCheckMax=1000000
flushCommitLogLeastPages=0
flushIntervalCommitLog=5
";

/// A producer of transactional messages, known to the broker by its heartbeat.
pub struct Producer {
    pub client: TestClient,
}

impl Producer {
    pub async fn connect(broker: &TestBroker) -> Self {
        let client = broker.client();
        client.ok(heartbeat("producer-1", &[GROUP], Vec::new())).await;
        Self { client }
    }

    /// The answer to a half message for queue 1 of [`TOPIC`], made now by the broker's clock.
    pub async fn try_half(&self, broker: &TestBroker, body: &str, more: &[(&str, &str)]) -> RemotingCommand {
        self.try_half_with(broker, sys_flag::TRANSACTION_PREPARED, body, more).await
    }

    async fn try_half_with(
        &self,
        broker: &TestBroker,
        sys_flag: i32,
        body: &str,
        more: &[(&str, &str)],
    ) -> RemotingCommand {
        let unique_key = format!("UNIQUE-{body}");
        let mut pairs =
            vec![("UNIQ_KEY", &*unique_key), ("TRAN_MSG", "true"), ("PGROUP", GROUP), ("TAGS", "Tx")];
        pairs.extend_from_slice(more);
        let header = SendMessageRequestHeader {
            producer_group: GROUP.to_owned(),
            sys_flag,
            flag: 77,
            born_timestamp: broker.context().now(),
            properties: Some(properties(&pairs)),
            ..send_header(TOPIC, 1)
        };
        self.client.call(send_with(request_code::SEND_MESSAGE_V2, &header, body)).await
    }

    pub async fn half(
        &self,
        broker: &TestBroker,
        body: &str,
        more: &[(&str, &str)],
    ) -> SendMessageResponseHeader {
        self.half_with(broker, sys_flag::TRANSACTION_PREPARED, body, more).await
    }

    pub async fn half_with(
        &self,
        broker: &TestBroker,
        sys_flag: i32,
        body: &str,
        more: &[(&str, &str)],
    ) -> SendMessageResponseHeader {
        let answer = self.try_half_with(broker, sys_flag, body, more).await;
        assert_eq!(answer.code, 0, "{:?}", answer.remark);
        answer.decode_header().unwrap()
    }

    /// The broker's next question, and the record it is about.
    pub async fn asked(&self) -> (CheckTransactionStateRequestHeader, StoredMessage) {
        let question = self.client.pushed().await;
        assert_eq!(question.code, request_code::CHECK_TRANSACTION_STATE, "{question:?}");
        assert!(question.is_oneway());
        let mut records = stored_messages(&question.body);
        assert_eq!(records.len(), 1);
        (question.decode_header().unwrap(), records.remove(0))
    }

    /// Answers a question.
    pub async fn answer(&self, question: &CheckTransactionStateRequestHeader, decision: i32) {
        let header = EndTransactionRequestHeader {
            topic: question.topic.clone(),
            producer_group: GROUP.to_owned(),
            tran_state_table_offset: question.tran_state_table_offset,
            commit_log_offset: question.commit_log_offset,
            commit_or_rollback: decision,
            from_transaction_check: true,
            msg_id: question.msg_id.clone().unwrap(),
            transaction_id: question.transaction_id.clone(),
            broker_name: question.broker_name.clone(),
        };
        self.client.oneway(RemotingCommand::request_with(request_code::END_TRANSACTION, &header)).await;
    }
}

/// A producer's decision.
pub fn end_header(sent: &SendMessageResponseHeader, decision: i32) -> EndTransactionRequestHeader {
    let (_, commit_log_offset) = message_id::decode(&sent.msg_id).unwrap();
    let unique_key = sent.transaction_id.clone().unwrap();
    EndTransactionRequestHeader {
        topic: Some(TOPIC.to_owned()),
        producer_group: GROUP.to_owned(),
        tran_state_table_offset: sent.queue_offset,
        commit_log_offset: i64::try_from(commit_log_offset).unwrap(),
        commit_or_rollback: decision,
        msg_id: unique_key.clone(),
        transaction_id: Some(unique_key),
        ..Default::default()
    }
}

/// A request with a producer's decision.
pub fn end(sent: &SendMessageResponseHeader, decision: i32) -> RemotingCommand {
    RemotingCommand::request_with(request_code::END_TRANSACTION, &end_header(sent, decision))
}

/// Bodies of all messages of a queue, once it has `count` of them.
pub async fn bodies(client: &TestClient, topic: &str, queue_id: i32, count: i64) -> Vec<String> {
    messages(client, topic, queue_id, count).await.into_iter().map(|message| message.body).collect()
}

/// All messages of a queue, once it has `count` of them.
pub async fn messages(client: &TestClient, topic: &str, queue_id: i32, count: i64) -> Vec<StoredMessage> {
    client.until_dispatched(topic, queue_id, count).await;
    let answer =
        client.call(requests::pull_with(&requests::pull_header("readers", topic, queue_id, 0))).await;
    let (_, messages) = pulled(&answer, 0);
    assert_eq!(messages.len(), usize::try_from(count).unwrap());
    messages
}

/// Progress of the checks in the half topic.
pub fn checked_to(context: &BrokerContext) -> i64 {
    context.offsets.query_offset("CID_RMQ_SYS_TRANS", HALF_TOPIC, 0).unwrap_or(0)
}
