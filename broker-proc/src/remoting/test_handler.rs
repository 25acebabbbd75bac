//! Handler whose requests let tests see and steer what a connection does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};

use super::{
    Channel, FrameLimits, RemotingCommand, RemotingServer, Reply, RequestHandler, ServerOptions, frame,
};

/// Answered at once with the body of the request.
pub(super) const ECHO: i32 = 1;
/// Answered when a permit of [`TestHandler::gate`] is there.
pub(super) const WAIT: i32 = 2;
/// Panics.
pub(super) const PANIC: i32 = 3;
/// Panics while answering later.
pub(super) const PANIC_LATER: i32 = 4;
/// Never answered.
pub(super) const SILENCE: i32 = 5;
/// Pushes the same body twice, then answers.
pub(super) const PUSH: i32 = 6;
/// Asks the caller to echo and answers with what came back.
pub(super) const ASK_BACK: i32 = 7;
/// Answered with the number of bytes that the field `size` says.
pub(super) const SIZED: i32 = 8;

/// Ample time for everything that is awaited; passing it is a failure.
pub(super) const LONG: Duration = Duration::from_secs(30);

/// Serves the codes above.
pub(super) struct TestHandler {
    pub(super) gate: Arc<Semaphore>,
    pub(super) handled: AtomicUsize,
    pub(super) closed: AtomicUsize,
    /// Told when a waiting answer is dropped, answered or not.
    pub(super) dropped: Arc<Notify>,
}

impl TestHandler {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Arc::new(Semaphore::new(0)),
            handled: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            dropped: Arc::new(Notify::new()),
        })
    }
}

struct TellDrop(Arc<Notify>);

impl Drop for TellDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl RequestHandler for TestHandler {
    fn handle(&self, channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        self.handled.fetch_add(1, Ordering::SeqCst);
        let answer = RemotingCommand::response_to(&request, 0);
        match request.code {
            ECHO => answer.with_body(request.body).into(),
            WAIT => {
                let gate = Arc::clone(&self.gate);
                let tell = TellDrop(Arc::clone(&self.dropped));
                Reply::later(async move {
                    gate.acquire().await.unwrap().forget();
                    drop(tell);
                    answer.with_body(request.body)
                })
            }
            PANIC => panic!("asked to"),
            PANIC_LATER => Reply::later(async { panic!("asked to") }),
            SILENCE => Reply::None,
            PUSH => {
                for _ in 0..2 {
                    channel.push(RemotingCommand::request(PUSH).with_body(request.body.clone())).unwrap();
                }
                answer.into()
            }
            ASK_BACK => {
                let channel = Arc::clone(channel);
                Reply::later(async move {
                    let question = RemotingCommand::request(ECHO).with_body(request.body);
                    let echoed = channel.call(question, LONG).await.unwrap();
                    answer.with_body(echoed.body)
                })
            }
            SIZED => {
                let size = request.field("size").unwrap().parse().unwrap();
                answer.with_body(vec![9; size]).into()
            }
            _ => RemotingCommand::not_supported(&request).into(),
        }
    }

    fn channel_closed(&self, channel: &Arc<Channel>) {
        assert!(channel.is_closed());
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server on a free port of the loopback interface.
pub(super) async fn serve(options: ServerOptions, handler: &Arc<TestHandler>) -> RemotingServer {
    let addr: SocketAddr = "127.0.0.1:0".parse().unwrap();
    RemotingServer::bind(addr, options, Arc::clone(handler) as Arc<dyn RequestHandler>).await.unwrap()
}

/// The other end, byte by byte.
pub(super) struct RawClient {
    pub(super) stream: TcpStream,
    received: BytesMut,
}

impl RawClient {
    pub(super) async fn connect(server: &RemotingServer) -> Self {
        let stream = TcpStream::connect(server.local_addr()).await.unwrap();
        Self { stream, received: BytesMut::new() }
    }

    /// Sends requests in one write, numbered from `first_opaque`.
    pub(super) async fn send(&mut self, first_opaque: i32, requests: Vec<RemotingCommand>) {
        let mut bytes = Vec::new();
        for (opaque, mut request) in (first_opaque..).zip(requests) {
            request.opaque = opaque;
            bytes.extend(frame::encode(&request).unwrap());
        }
        self.stream.write_all(&bytes).await.unwrap();
    }

    /// The next frame; `None` when the server has closed the connection.
    pub(super) async fn receive(&mut self) -> Option<RemotingCommand> {
        loop {
            if let Some(command) = frame::decode(&mut self.received, FrameLimits::CLIENT).unwrap() {
                return Some(command);
            }
            match tokio::time::timeout(LONG, self.stream.read_buf(&mut self.received)).await.unwrap() {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

/// A request with a body.
pub(super) fn request(code: i32, body: &str) -> RemotingCommand {
    RemotingCommand::request(code).with_body(body.as_bytes().to_vec())
}
