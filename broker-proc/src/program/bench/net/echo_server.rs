//! What a broker's answers cost at least: a server that only reads frames and answers each with the same bytes.

use super::link::{opaque_of, set_opaque};
use anyhow::{Context as _, Result, anyhow};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes of one read.
const READ_ROOM: usize = 256 << 10;
/// Bytes of the length field of a frame.
const LENGTH_LEN: usize = 4;

/// A listening server with one thread for each connection.
#[derive(Debug)]
pub(in super::super) struct EchoServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepting: JoinHandle<Duration>,
}

impl EchoServer {
    /// Answers each frame with `answer`, a frame of the compact form that is given the number of the request.
    ///
    /// # Errors
    ///
    /// No port is to be had.
    pub(in super::super) fn start(answer: Vec<u8>) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot listen")?;
        let address = listener.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let accepting = std::thread::spawn(move || accept(&listener, &stopped, &answer));
        Ok(Self { address, stop, accepting })
    }

    /// Where it listens.
    pub(in super::super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the end of all connections; the CPU time they took here.
    ///
    /// # Errors
    ///
    /// A thread panicked.
    pub(in super::super) fn finish(self) -> Result<Duration> {
        self.stop.store(true, Ordering::Release);
        // Wakes the one who accepts.
        drop(TcpStream::connect(self.address));
        self.accepting.join().map_err(|_| anyhow!("the echo server panicked"))
    }
}

fn accept(listener: &TcpListener, stopped: &AtomicBool, answer: &[u8]) -> Duration {
    let mut connections = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        if stopped.load(Ordering::Acquire) {
            break;
        }
        let answer = answer.to_vec();
        connections.push(std::thread::spawn(move || {
            // However it ends: the client says what went wrong.
            let _ = serve(stream, answer);
            thread_cpu()
        }));
    }
    connections.into_iter().filter_map(|connection| connection.join().ok()).sum()
}

fn serve(mut stream: TcpStream, mut answer: Vec<u8>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut received = vec![0; READ_ROOM];
    let mut filled = 0;
    let mut out = Vec::new();
    loop {
        let read = stream.read(&mut received[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut taken = 0;
        while let Some(len) = frame_len(&received[taken..filled]) {
            if len > received.len() {
                received.resize(len, 0);
            }
            if filled - taken < len {
                break;
            }
            set_opaque(&mut answer, u32::from_be_bytes(opaque_of(&received[taken..])));
            out.extend_from_slice(&answer);
            taken += len;
        }
        received.copy_within(taken..filled, 0);
        filled -= taken;
        stream.write_all(&out)?;
        out.clear();
    }
}

/// Length of the frame that begins here, its length field included.
fn frame_len(bytes: &[u8]) -> Option<usize> {
    let length = bytes.first_chunk::<LENGTH_LEN>()?;
    Some(u32::from_be_bytes(*length) as usize + LENGTH_LEN)
}

/// CPU time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
