//! One blocking connection to a broker.

use crate::remoting::{FrameLimits, RemotingCommand, SerializeType, frame};
use anyhow::{Context as _, Result, ensure};
use bytes::BytesMut;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No answer takes longer; a held pull ends after 25 s at most.
const PATIENCE: Duration = Duration::from_secs(40);
/// Bytes of one read.
const READ_ROOM: usize = 256 << 10;
/// Place of a request's number in a frame whose header is in the compact form: behind the prefix (8 bytes), the code (2),
/// the language (1) and the version (2).
const OPAQUE_AT: usize = 13;

/// A connection that is written and read by one thread.
#[derive(Debug)]
pub(in super::super) struct Link {
    stream: TcpStream,
    room: Vec<u8>,
    received: BytesMut,
}

impl Link {
    /// Connects.
    ///
    /// # Errors
    ///
    /// The address does not answer.
    pub(in super::super) fn connect(address: SocketAddr) -> Result<Self> {
        let connecting = || format!("cannot connect to {address}");
        let stream = TcpStream::connect(address).with_context(connecting)?;
        stream.set_nodelay(true).with_context(connecting)?;
        stream.set_read_timeout(Some(PATIENCE)).with_context(connecting)?;
        Ok(Self { stream, room: Vec::new(), received: BytesMut::new() })
    }

    /// The same connection for another thread. Only one of them may read.
    ///
    /// # Errors
    ///
    /// The process has no more file descriptors.
    pub(in super::super) fn other_end(&self) -> Result<TcpStream> {
        self.stream.try_clone().context("cannot share a connection")
    }

    /// Writes whole frames.
    ///
    /// # Errors
    ///
    /// The connection has ended.
    pub(in super::super) fn write(&mut self, frames: &[u8]) -> Result<()> {
        self.stream.write_all(frames).context("cannot send to the broker")
    }

    /// The next frame, if it has been read already.
    ///
    /// # Errors
    ///
    /// What was read is no frame.
    pub(in super::super) fn received(&mut self) -> Result<Option<RemotingCommand>> {
        frame::decode(&mut self.received, FrameLimits::CLIENT).context("the broker sent no frame")
    }

    /// Waits for bytes and takes what is there.
    ///
    /// # Errors
    ///
    /// The connection has ended, or nothing came for a long time.
    pub(in super::super) fn read(&mut self) -> Result<()> {
        self.room.resize(READ_ROOM, 0);
        let read = self.stream.read(&mut self.room).context("no answer from the broker")?;
        ensure!(read > 0, "the broker closed the connection");
        self.received.extend_from_slice(&self.room[..read]);
        Ok(())
    }

    /// Waits for the next frame.
    ///
    /// # Errors
    ///
    /// The connection has ended, nothing came for a long time, or it was no frame.
    pub(in super::super) fn receive(&mut self) -> Result<RemotingCommand> {
        loop {
            if let Some(answer) = self.received()? {
                return Ok(answer);
            }
            self.read()?;
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// As [`Link::write`] and [`Link::receive`].
    pub(in super::super) fn call(&mut self, request: RemotingCommand) -> Result<RemotingCommand> {
        self.write(&encoded(request)?)?;
        self.receive()
    }
}

/// The frame of a request in the compact form.
///
/// # Errors
///
/// It is too large for a frame.
pub(super) fn encoded(mut command: RemotingCommand) -> Result<Vec<u8>> {
    command.serialize = SerializeType::RocketMq;
    frame::encode(&command).context("a request does not fit into a frame")
}

/// Gives a frame of the compact form another number.
pub(super) fn set_opaque(frame: &mut [u8], opaque: u32) {
    frame[OPAQUE_AT..OPAQUE_AT + 4].copy_from_slice(&opaque.to_be_bytes());
}

/// The number of a frame of the compact form.
pub(super) fn opaque_of(frame: &[u8]) -> [u8; 4] {
    let mut opaque = [0; 4];
    opaque.copy_from_slice(&frame[OPAQUE_AT..OPAQUE_AT + 4]);
    opaque
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remoting::request_code;

    #[test]
    fn the_number_of_an_encoded_request_is_patched_in_place() {
        let mut bytes = encoded(RemotingCommand::request(request_code::HEART_BEAT)).unwrap();
        set_opaque(&mut bytes, 0x0102_0304);
        assert_eq!(opaque_of(&bytes), [1, 2, 3, 4]);
        let command = frame::decode(&mut BytesMut::from(&bytes[..]), FrameLimits::CLIENT).unwrap().unwrap();
        assert_eq!((command.opaque, command.code), (0x0102_0304, request_code::HEART_BEAT));
    }
}
