use super::{LONG, StoredMessage, requests, stored_messages};
use broker_proc::remoting::headers::{
    OffsetResponseHeader, PullMessageRequestHeader, PullMessageResponseHeader, SendMessageResponseHeader,
};
use broker_proc::remoting::{
    Channel, ClientOptions, RemotingClient, RemotingCommand, Reply, RequestHandler, request_code,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// One connection to a server, and what the server pushes over it. Clones share the connection.
#[derive(Clone)]
pub struct TestClient {
    client: RemotingClient,
    address: String,
    pushes: Arc<Mutex<mpsc::UnboundedReceiver<RemotingCommand>>>,
}

/// Collects what the server pushes.
struct Collect(mpsc::UnboundedSender<RemotingCommand>);

impl RequestHandler for Collect {
    fn handle(&self, _channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        // The receiver is gone only when the test is over.
        let _ = self.0.send(request);
        Reply::None
    }
}

impl TestClient {
    /// A client that connects with its first request.
    pub fn new(address: &str) -> Self {
        let (sender, pushes) = mpsc::unbounded_channel();
        let client = RemotingClient::with_handler(ClientOptions::default(), Arc::new(Collect(sender)));
        Self { client, address: address.to_owned(), pushes: Arc::new(Mutex::new(pushes)) }
    }

    /// The answer to a request.
    pub async fn call(&self, request: RemotingCommand) -> RemotingCommand {
        self.client.call(&self.address, request, LONG).await.unwrap()
    }

    /// The answer to a request that must succeed.
    pub async fn ok(&self, request: RemotingCommand) -> RemotingCommand {
        let what = request.code_name();
        let answer = self.call(request).await;
        assert_eq!(answer.code, 0, "{what}: {:?}", answer.remark);
        answer
    }

    /// Code and remark of the answer to a request.
    pub async fn outcome(&self, request: RemotingCommand) -> (i32, String) {
        let answer = self.call(request).await;
        (answer.code, answer.remark.unwrap_or_default())
    }

    /// Sends a request that wants no answer.
    pub async fn oneway(&self, request: RemotingCommand) {
        self.client.oneway(&self.address, request).await.unwrap();
    }

    /// A request under way, so that the test can go on meanwhile.
    pub fn start(&self, request: RemotingCommand) -> JoinHandle<RemotingCommand> {
        let client = self.clone();
        tokio::spawn(async move { client.call(request).await })
    }

    /// The next request of the server.
    pub async fn pushed(&self) -> RemotingCommand {
        let pushed = tokio::time::timeout(LONG, async { self.pushes.lock().await.recv().await });
        pushed.await.expect("nothing was pushed").expect("the client is gone")
    }

    /// Requests of the server that have arrived already.
    pub async fn pushed_so_far(&self) -> Vec<RemotingCommand> {
        let mut pushes = self.pushes.lock().await;
        std::iter::from_fn(|| pushes.try_recv().ok()).collect()
    }

    /// Closes the connection.
    pub async fn disconnect(&self) {
        self.client.disconnect(&self.address).await;
    }

    /// Sends a message, which must be stored; returns the answer's header.
    pub async fn send(
        &self,
        topic: &str,
        queue_id: i32,
        body: &str,
        properties: &str,
    ) -> SendMessageResponseHeader {
        let answer = self.ok(requests::send(topic, queue_id, body, properties)).await;
        answer.decode_header().unwrap()
    }

    /// Pulls and returns header and messages; the answer must have `code`.
    pub async fn pull(
        &self,
        header: &PullMessageRequestHeader,
        code: i32,
    ) -> (PullMessageResponseHeader, Vec<StoredMessage>) {
        let answer = self.call(requests::pull_with(header)).await;
        pulled(&answer, code)
    }

    /// Offset behind the last message of a queue that can be pulled.
    pub async fn max_offset(&self, topic: &str, queue_id: i32) -> i64 {
        let answer = self.ok(requests::queue(request_code::GET_MAX_OFFSET, topic, queue_id)).await;
        answer.decode_header::<OffsetResponseHeader>().unwrap().offset
    }

    /// Waits until a queue has `count` messages that can be pulled, and no more.
    pub async fn until_dispatched(&self, topic: &str, queue_id: i32, count: i64) {
        let deadline = tokio::time::Instant::now() + LONG;
        loop {
            let max = self.max_offset(topic, queue_id).await;
            if max == count {
                return;
            }
            assert!(max < count, "{topic}-{queue_id} has {max} messages, {count} expected");
            assert!(
                tokio::time::Instant::now() < deadline,
                "{topic}-{queue_id} has {max} of {count} messages"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Header and messages of the answer to a pull, which must have `code`.
pub fn pulled(answer: &RemotingCommand, code: i32) -> (PullMessageResponseHeader, Vec<StoredMessage>) {
    assert_eq!(answer.code, code, "{:?}", answer.remark);
    (answer.decode_header().unwrap(), stored_messages(&answer.body))
}
