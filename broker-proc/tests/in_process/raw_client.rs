use super::LONG;
use broker_proc::remoting::{FrameLimits, RemotingCommand, frame};
use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The other end of a connection, byte by byte.
pub struct RawClient {
    stream: TcpStream,
    received: BytesMut,
}

impl RawClient {
    /// Connects.
    pub async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: BytesMut::new() }
    }

    /// Writes bytes; `false` when the server has closed the connection.
    pub async fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Sends a request under the number `opaque`.
    pub async fn send(&mut self, opaque: i32, mut request: RemotingCommand) {
        request.opaque = opaque;
        assert!(self.write(&frame::encode(&request).unwrap()).await, "the server has closed the connection");
    }

    /// The next frame; `None` when the server has closed the connection.
    pub async fn receive(&mut self) -> Option<RemotingCommand> {
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
