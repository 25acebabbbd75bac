//! Damaged frames against the decoder and against a live server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use broker_proc::remoting::headers::{PullMessageRequestHeader, SendMessageRequestHeader};
use broker_proc::remoting::protocol::HeartbeatData;
use broker_proc::remoting::{
    Channel, ClientOptions, FrameLimits, RemotingClient, RemotingCommand, RemotingServer, Reply,
    RequestHandler, ServerOptions, frame,
};
use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::recording::{Recorded, recorded_frames};

/// Code that the well-behaved connection uses; no recorded frame has it.
const ECHO: i32 = 60_001;
/// Ample time for everything that is awaited; passing it is a failure.
const LONG: Duration = Duration::from_secs(60);

/// A small generator of repeatable noise.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }

    /// A recorded frame with bytes changed, cut or added, mostly near its start, where the lengths are.
    fn damaged(&mut self, frames: &[Recorded]) -> Vec<u8> {
        let mut bytes = frames[self.below(frames.len())].frame.to_vec();
        for _ in 0..=self.below(4) {
            let reach = if self.below(2) == 0 { bytes.len().min(64) } else { bytes.len() };
            let at = self.below(reach.max(1)).min(bytes.len().saturating_sub(1));
            match self.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes.insert(at, self.byte()),
                2 => bytes[at] ^= 1 << self.below(8),
                _ => bytes[at] = self.byte(),
            }
        }
        bytes
    }
}

#[test]
fn damaged_frames_never_panic_the_decoder() {
    let mut noise = Noise(1);
    let mut decoded = 0;
    for _ in 0..60_000 {
        let mut received = BytesMut::from(&noise.damaged(recorded_frames())[..]);
        while let Ok(Some(command)) = frame::decode(&mut received, FrameLimits::SERVER) {
            decoded += 1;
            let _ = command.decode_header::<SendMessageRequestHeader>();
            let _ = command.decode_header::<PullMessageRequestHeader>();
            let _ = command.decode_body::<HeartbeatData>();
            let written = frame::encode(&command).unwrap();
            assert!(frame::decode(&mut BytesMut::from(&written[..]), FrameLimits::CLIENT).unwrap().is_some());
        }
    }
    assert!(decoded > 5_000, "only {decoded} frames were still frames");
}

/// Reads what it gets in several ways and answers.
struct Prober;

impl RequestHandler for Prober {
    fn handle(&self, _channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        if request.code == ECHO {
            return RemotingCommand::response_to(&request, 0).with_body(request.body).into();
        }
        let read = SendMessageRequestHeader::decode_for(request.code, request.fields());
        match (read, request.decode_body::<HeartbeatData>()) {
            (Err(error), _) => RemotingCommand::system_error(&request, error.to_string()).into(),
            (_, Err(error)) => RemotingCommand::system_error(&request, error.to_string()).into(),
            _ => RemotingCommand::not_supported(&request).into(),
        }
    }
}

/// Sends bytes, says that nothing more comes and reads until the server closes.
async fn send_and_read_to_end(addr: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let mut answers = Vec::new();
    // The server may close while bytes are still on their way; that is what bad frames are for.
    if stream.write_all(bytes).await.is_ok() {
        let _ = stream.shutdown().await;
    }
    let _ = stream.read_to_end(&mut answers).await;
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_frames_disturb_nobody() {
    let addr: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let server = RemotingServer::bind(addr, ServerOptions::default(), Arc::new(Prober)).await.unwrap();
    let addr = server.local_addr();
    let client = RemotingClient::new(ClientOptions::default());
    let (mut noise, mut answered) = (Noise(2), 0);
    for round in 0..10_000 {
        let bytes = noise.damaged(recorded_frames());
        let answers = tokio::time::timeout(LONG, send_and_read_to_end(addr, &bytes)).await.unwrap();
        answered += usize::from(!answers.is_empty());
        if round % 20 == 0 {
            let text = format!("round {round}");
            let request = RemotingCommand::request(ECHO).with_body(text.clone());
            let answer = client.call(&addr.to_string(), request, LONG).await.unwrap();
            assert_eq!((answer.code, answer.body.to_bytes().as_ref()), (0, text.as_bytes()));
        }
    }
    assert!(answered > 300, "only {answered} frames were still requests");
    server.shutdown(LONG).await;
}
