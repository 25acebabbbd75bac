use crate::in_process::requests::heartbeat;
use crate::in_process::{StoredMessage, TestClient, eventually, free_port, stored_messages};
use crate::producer::{COMMIT, GROUP, HALF_TOPIC, OP_TOPIC, TOPIC};
use broker_proc::broker_config::BrokerConfig;
use broker_proc::remoting::headers::{CheckTransactionStateRequestHeader, EndTransactionRequestHeader};
use broker_proc::remoting::{RemotingCommand, request_code};
use broker_proc::{Broker, ProcessSource};
use std::collections::BTreeMap;
use std::path::Path;
use store_core::{Env, sparse_archive};
use tempfile::TempDir;

const ARCHIVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../store-core/tests/golden/stores.pack");

/// The settings of the Apache broker that made the store, but for times and number of checks: rounds begin before a
/// producer is there.
const SETTINGS: &str = "\
brokerClusterName=golden
brokerName=broker-a
mappedFileSizeCommitLog=65536
mappedFileSizeConsumeQueue=1000
maxHashSlotNum=100
maxIndexNum=400
transactionCheckMax=1000000
transactionCheckInterval=5
transactionTimeOut=1
flushCommitLogLeastPages=0
flushIntervalCommitLog=5
";

/// A store that Apache's broker has left with transactions in all states: the newest half message, at 16, is the second
/// copy of one that nobody has decided.
fn unpack() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let env = Env::os();
    sparse_archive::unpack(env.disk(), Path::new(ARCHIVE), "stores/transaction/", directory.path()).unwrap();
    directory
}

async fn start(root: &Path) -> Broker {
    let mut loaded = BrokerConfig::parse(SETTINGS, "test.conf", &ProcessSource).unwrap();
    loaded.store.store_path_root_dir = root.to_owned();
    loaded.broker.listen_port = free_port();
    Broker::start(Env::os(), loaded, 0).await.unwrap()
}

fn progress(broker: &Broker, topic: &str) -> Option<i64> {
    broker.context().offsets.query_offset("CID_RMQ_SYS_TRANS", topic, 0)
}

async fn producer(broker: &Broker) -> TestClient {
    let client = TestClient::new(&broker.address().to_string());
    client.ok(heartbeat("producer-1", &[GROUP], Vec::new())).await;
    client
}

/// The next question, and the record it is about.
async fn asked(client: &TestClient) -> (CheckTransactionStateRequestHeader, StoredMessage) {
    let question = client.pushed().await;
    assert_eq!(question.code, request_code::CHECK_TRANSACTION_STATE, "{question:?}");
    (question.decode_header().unwrap(), stored_messages(&question.body).remove(0))
}

#[tokio::test]
async fn checks_go_on_where_apache_left_off() {
    let directory = unpack();
    let broker = start(directory.path()).await;
    assert!(progress(&broker, HALF_TOPIC) >= Some(16));
    assert!(progress(&broker, OP_TOPIC) >= Some(3));
    let client = producer(&broker).await;
    let (question, record) = asked(&client).await;
    assert_eq!((record.topic.as_str(), record.queue_id, record.property("KEYS")), (TOPIC, 1, "pending0"));
    let times: u32 = record.property("TRANSACTION_CHECK_TIMES").parse().unwrap();
    assert!(times > 2, "Apache has asked twice: {times}");
    assert!(question.tran_state_table_offset > 16);

    let decision = EndTransactionRequestHeader {
        producer_group: GROUP.to_owned(),
        tran_state_table_offset: question.tran_state_table_offset,
        commit_log_offset: question.commit_log_offset,
        commit_or_rollback: COMMIT,
        from_transaction_check: true,
        msg_id: question.msg_id.unwrap(),
        ..Default::default()
    };
    client.ok(RemotingCommand::request_with(request_code::END_TRANSACTION, &decision)).await;
    client.until_dispatched(TOPIC, 1, 3).await;
    let others = client.pushed_so_far().await;
    assert!(others.iter().all(|other| other.field("msgId") == Some(&decision.msg_id)), "{others:?}");
    broker.shutdown().await.unwrap();

    let broker = start(directory.path()).await;
    let store = &broker.context().store;
    assert_eq!(store.offsets(OP_TOPIC, 0).max, 4, "a fourth op record says that it is finished");
    eventually("the end of the checks", || {
        progress(&broker, HALF_TOPIC).is_some_and(|at| at.unsigned_abs() == store.offsets(HALF_TOPIC, 0).max)
    })
    .await;
    broker.shutdown().await.unwrap();
}

#[tokio::test]
async fn without_progress_the_op_records_tell_what_is_finished() {
    let directory = unpack();
    for file in ["consumerOffset.json", "consumerOffset.json.bak"] {
        std::fs::remove_file(directory.path().join("config").join(file)).unwrap();
    }
    let broker = start(directory.path()).await;
    let client = producer(&broker).await;
    // In two questions about each of them lies a whole round.
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    while times.len() < 4 || times.values().any(|times| *times < 2) {
        let (_, record) = asked(&client).await;
        *times.entry(record.property("KEYS").to_owned()).or_default() += 1;
    }
    assert_eq!(times.into_keys().collect::<Vec<_>>(), ["chkC0", "chkR0", "pending0", "unknown0"]);
    broker.shutdown().await.unwrap();
}
