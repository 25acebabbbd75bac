use crate::in_process::requests::{heartbeat, properties, send_header, send_with};
use crate::in_process::{LONG, TestBroker};
use crate::producer::messages;
use broker_proc::remoting::headers::{
    ReplyMessageRequestHeader, SendMessageRequestHeader, SendMessageResponseHeader,
};
use broker_proc::remoting::{
    Channel, ClientOptions, RemotingClient, RemotingCommand, Reply, RequestHandler, request_code,
};
use std::sync::Arc;
use store_core::properties::get;
use tokio::sync::mpsc;

const SYSTEM_ERROR: i32 = 1;
const REPLY_TOPIC: &str = "TestCluster_REPLY_TOPIC";
const ASKING: &str = "127.0.0.1@asking";

/// A client that has asked: takes replies, or refuses them.
struct Asking {
    taken: mpsc::UnboundedSender<RemotingCommand>,
    answer: i32,
}

impl RequestHandler for Asking {
    fn handle(&self, _channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        let answer = RemotingCommand::response_to(&request, self.answer);
        // The receiver is gone only when the test is over.
        let _ = self.taken.send(request);
        answer.into()
    }
}

/// Connects a client that answers replies with `answer`.
async fn asking(
    broker: &TestBroker,
    answer: i32,
) -> (RemotingClient, mpsc::UnboundedReceiver<RemotingCommand>) {
    let (taken, replies) = mpsc::unbounded_channel();
    let client = RemotingClient::with_handler(ClientOptions::default(), Arc::new(Asking { taken, answer }));
    let registered = client.call(&broker.address(), heartbeat(ASKING, &["pg_ask"], Vec::new()), LONG).await;
    assert_eq!(registered.unwrap().code, 0);
    (client, replies)
}

/// A consumer's reply to `to`.
fn reply(code: i32, to: &str, body: &str) -> RemotingCommand {
    let pairs = [("MSG_TYPE", "reply"), ("CORRELATION_ID", "c-1"), ("TTL", "3000"), ("REPLY_TO_CLIENT", to)];
    let header = SendMessageRequestHeader {
        producer_group: "pg_reply".to_owned(),
        flag: 5,
        properties: Some(properties(&pairs)),
        ..send_header(REPLY_TOPIC, 0)
    };
    send_with(code, &header, body)
}

#[tokio::test]
async fn a_reply_reaches_the_client_that_asked() {
    let broker = TestBroker::start().await;
    let (_client, mut replies) = asking(&broker, 0).await;
    let consumer = broker.client();
    for (offset, code) in
        [request_code::SEND_REPLY_MESSAGE, request_code::SEND_REPLY_MESSAGE_V2].into_iter().enumerate()
    {
        let answer = consumer.ok(reply(code, ASKING, "the reply")).await;
        let sent: SendMessageResponseHeader = answer.decode_header().unwrap();
        assert_eq!((sent.queue_id, sent.queue_offset), (0, i64::try_from(offset).unwrap()));
        assert_eq!((sent.transaction_id, sent.trace_on.as_deref()), (None, Some("true")));

        let pushed = tokio::time::timeout(LONG, replies.recv()).await.unwrap().unwrap();
        assert_eq!(pushed.code, request_code::PUSH_REPLY_MESSAGE_TO_CLIENT);
        assert!(!pushed.is_oneway(), "its answer is waited for");
        assert_eq!(pushed.body.to_bytes(), "the reply");
        let header: ReplyMessageRequestHeader = pushed.decode_header().unwrap();
        assert_eq!(
            (header.topic.as_str(), header.producer_group.as_str(), header.flag),
            (REPLY_TOPIC, "pg_reply", 5)
        );
        assert_eq!(header.store_host, broker.context().store_host.to_string());
        assert!(header.born_host.starts_with("127.0.0.1:"), "{}", header.born_host);
        let carried = header.properties.unwrap();
        assert_eq!(get(&carried, "CORRELATION_ID"), Some("c-1"));
        assert_eq!(get(&carried, "PUSH_REPLY_TIME"), Some(header.store_timestamp.to_string().as_str()));

        let stored = messages(&consumer, REPLY_TOPIC, 0, sent.queue_offset + 1).await.pop().unwrap();
        assert_eq!(
            (stored.body.as_str(), stored.property("MSG_TYPE"), stored.flag),
            ("the reply", "reply", 5)
        );
        assert_eq!((stored.property("PUSH_REPLY_TIME"), stored.property("CLUSTER")), ("", ""));
        assert_eq!(
            sent.msg_id,
            store_core::message_id::encode(&stored.store_host, stored.physical_offset.unsigned_abs())
        );
    }
    broker.stop().await;
}

#[tokio::test]
async fn a_reply_that_cannot_be_pushed_is_stored_all_the_same() {
    let broker = TestBroker::start().await;
    let (_client, _replies) = asking(&broker, SYSTEM_ERROR).await;
    let consumer = broker.client();
    let cases = [
        ("", "reply message properties[REPLY_TO_CLIENT] is null".to_owned()),
        ("nobody", "push reply message fail, channel of <nobody> not found.".to_owned()),
        (ASKING, format!("push reply message to {ASKING} fail.")),
    ];
    for (offset, (to, remark)) in cases.into_iter().enumerate() {
        let answer = consumer.call(reply(request_code::SEND_REPLY_MESSAGE_V2, to, "reply")).await;
        assert_eq!((answer.code, answer.remark.as_deref()), (SYSTEM_ERROR, Some(remark.as_str())));
        let sent: SendMessageResponseHeader = answer.decode_header().unwrap();
        assert_eq!(sent.queue_offset, i64::try_from(offset).unwrap());
    }
    consumer.until_dispatched(REPLY_TOPIC, 0, 3).await;
    broker.stop().await;
}

#[tokio::test]
async fn replies_need_not_be_stored() {
    let broker = TestBroker::with("storeReplyMessageEnable=false\n").await;
    let (_client, mut replies) = asking(&broker, 0).await;
    let consumer = broker.client();
    let answer = consumer.ok(reply(request_code::SEND_REPLY_MESSAGE_V2, ASKING, "reply")).await;
    let sent: SendMessageResponseHeader = answer.decode_header().unwrap();
    assert_eq!((sent.msg_id.as_str(), sent.queue_offset), ("0", 0));
    assert!(replies.try_recv().is_ok());
    let refused = consumer.call(reply(request_code::SEND_REPLY_MESSAGE_V2, "nobody", "reply")).await;
    assert_eq!((refused.code, refused.field("msgId")), (SYSTEM_ERROR, None));
    assert_eq!(consumer.max_offset(REPLY_TOPIC, 0).await, 0);
    broker.stop().await;
}

#[tokio::test]
async fn a_reply_to_an_illegal_topic_is_refused() {
    let broker = TestBroker::start().await;
    let consumer = broker.client();
    let header = SendMessageRequestHeader { ..send_header("no such topic!", 0) };
    let answer = consumer.call(send_with(request_code::SEND_REPLY_MESSAGE_V2, &header, "x")).await;
    assert_eq!(answer.code, 29, "{:?}", answer.remark);
    broker.stop().await;
}
