use crate::in_process::{TestClient, pulled, requests};
use broker_proc::remoting::{request_code, response_code};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const TOPIC: &str = "Good";
const GROUP: &str = "good";
const QUEUES: usize = 2;

/// Sends and pulls, and holds the broker to every answer.
pub struct WellBehavedClient {
    client: TestClient,
    /// Messages sent to each queue.
    counts: [i64; QUEUES],
}

/// Body of the message at an offset.
fn body(queue_id: i32, offset: i64) -> String {
    format!("message {offset} of queue {queue_id}")
}

impl WellBehavedClient {
    /// A client with a topic and a group of its own.
    pub async fn new(client: TestClient) -> Self {
        client.ok(requests::create_topic(TOPIC, i32::try_from(QUEUES).unwrap())).await;
        let consumer = requests::consumer(GROUP, vec![requests::subscription(TOPIC, "*", 1)]);
        client.ok(requests::heartbeat("good-client", &["good-producers"], vec![consumer])).await;
        Self { client, counts: [0; QUEUES] }
    }

    /// The same with another connection.
    pub fn resume(client: TestClient, before: Self) -> Self {
        Self { client, counts: before.counts }
    }

    /// Messages sent so far.
    pub fn sent(&self) -> i64 {
        self.counts.iter().sum()
    }

    /// Sends, pulls and commits until told that it is over.
    pub async fn work_until(mut self, over: Arc<AtomicBool>) -> Self {
        while !over.load(Ordering::SeqCst) {
            for queue in 0..QUEUES {
                self.send_and_pull(queue).await;
            }
        }
        let leave = broker_proc::remoting::headers::UnregisterClientRequestHeader {
            client_id: "good-client".to_owned(),
            producer_group: None,
            consumer_group: Some(GROUP.to_owned()),
        };
        let code = request_code::UNREGISTER_CLIENT;
        self.client.ok(broker_proc::remoting::RemotingCommand::request_with(code, &leave)).await;
        self
    }

    async fn send_and_pull(&mut self, queue: usize) {
        let queue_id = i32::try_from(queue).unwrap();
        let offset = self.counts[queue];
        let expected = body(queue_id, offset);
        let header = requests::waiting_pull_header(GROUP, TOPIC, queue_id, offset, "*");
        let pull = self.client.start(requests::pull_with(&header));
        let sent = self.client.send(TOPIC, queue_id, &expected, "").await;
        assert_eq!((sent.queue_id, sent.queue_offset), (queue_id, offset));
        self.counts[queue] += 1;
        let (fields, messages) = pulled(&pull.await.unwrap(), response_code::SUCCESS);
        assert_eq!((fields.next_begin_offset, messages.len()), (offset + 1, 1));
        assert_eq!((messages[0].body.as_str(), messages[0].topic.as_str()), (expected.as_str(), TOPIC));
        self.client.ok(requests::commit(GROUP, TOPIC, queue_id, offset + 1)).await;
    }

    /// Reads everything again: all that was sent is there, and nothing else.
    pub async fn check_all(&self) {
        for (queue_id, count) in (0..).zip(self.counts) {
            assert_eq!(self.client.max_offset(TOPIC, queue_id).await, count);
            let mut offset = 0;
            while offset < count {
                let (fields, messages) =
                    self.client.pull(&requests::pull_header(GROUP, TOPIC, queue_id, offset), 0).await;
                for message in messages {
                    assert_eq!((message.queue_offset, message.body), (offset, body(queue_id, offset)));
                    offset += 1;
                }
                assert_eq!(fields.next_begin_offset, offset);
            }
        }
    }
}
