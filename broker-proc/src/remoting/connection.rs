//! The task that drives one connection, the same at both ends.
//!
//! One task does everything for a connection: it reads, cuts frames, calls the handler, and writes. A request
//! whose answer is at hand is thus served without a hand-off to another thread, and all answers of one read
//! leave in one write. Answers that take time are futures polled by the same task.

mod outbox;
mod pending_reply;

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BytesMut;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tracing::{debug, warn};

use self::outbox::Outbox;
use self::pending_reply::{AnswerPlace, PendingReply, overload_answer, panic_answer};
use super::{Channel, FrameError, FrameLimits, RemotingCommand, Reply, RequestHandler, frame, response_code};

/// Room for one read while little arrives.
const SMALL_READ: usize = 8 * 1024;
/// Room for one read while a lot arrives.
const LARGE_READ: usize = 256 * 1024;
/// Most pieces handed to one vectored write; more than that brings nothing.
const MAX_SLICES: usize = 64;

/// Limits and times of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// What is accepted as a frame.
    pub limits: FrameLimits,
    /// Time without a byte read or written after which the connection is closed; Java's is 120 s.
    pub idle_timeout: Duration,
    /// Time that a frame may take from its first to its last byte.
    pub frame_timeout: Duration,
    /// Bytes of unsent answers above which nothing more is read.
    pub max_unsent: usize,
    /// Requests that may wait for an answer at a time; further ones are answered with `SYSTEM_BUSY`.
    pub max_in_flight: usize,
}

impl ConnectionOptions {
    /// For connections that others have opened.
    pub const SERVER: Self = Self {
        limits: FrameLimits::SERVER,
        idle_timeout: Duration::from_secs(120),
        frame_timeout: Duration::from_secs(30),
        max_unsent: 8 * 1024 * 1024,
        max_in_flight: 65_536,
    };
    /// For connections opened by this program.
    pub const CLIENT: Self = Self { limits: FrameLimits::CLIENT, ..Self::SERVER };
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self::SERVER
    }
}

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum CloseReason {
    #[error("closed by the other end")]
    EndOfStream,
    #[error("closed by this end")]
    Asked,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("not a frame: {0}")]
    Frame(#[from] FrameError),
    #[error("nothing read or written for {} ms", .0.as_millis())]
    Idle(Duration),
    #[error("a frame was not complete after {} ms", .0.as_millis())]
    FrameTimeout(Duration),
}

/// A connection and all that belongs to it.
pub(super) struct Connection {
    stream: TcpStream,
    channel: Arc<Channel>,
    handler: Arc<dyn RequestHandler>,
    options: ConnectionOptions,
    received: BytesMut,
    read_room: usize,
    outbox: Outbox,
    later: FuturesUnordered<PendingReply>,
    ticks: Interval,
    last_activity: Instant,
    frame_started: Option<Instant>,
    /// Whether the buffer may hold whole frames that are not served yet.
    held_back: bool,
}

impl Connection {
    /// Takes over a connected socket.
    pub(super) fn new(
        stream: TcpStream,
        channel: Arc<Channel>,
        handler: Arc<dyn RequestHandler>,
        options: ConnectionOptions,
    ) -> Self {
        // Deadlines are looked at now and then instead of arming a timer for every frame.
        let period = (options.idle_timeout.min(options.frame_timeout) / 4).max(Duration::from_millis(1));
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            stream,
            channel,
            handler,
            options,
            received: BytesMut::new(),
            read_room: SMALL_READ,
            outbox: Outbox::default(),
            later: FuturesUnordered::new(),
            ticks,
            last_activity: Instant::now(),
            frame_started: None,
            held_back: false,
        }
    }

    /// Drives the connection to its end.
    pub(super) async fn run(mut self) {
        let reason = poll_fn(|context| self.poll(context)).await;
        let peer = self.channel.peer();
        match reason {
            CloseReason::Frame(_) | CloseReason::FrameTimeout(_) => {
                warn!(%peer, "connection closed: {reason}")
            }
            _ => debug!(%peer, "connection closed: {reason}"),
        }
    }

    /// Works until nothing more can be done now; ready when the connection has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<CloseReason> {
        self.channel.waker().register(context.waker());
        loop {
            if self.channel.is_closed() {
                return Poll::Ready(CloseReason::Asked);
            }
            let mut progress = self.collect_pushes();
            progress |= self.poll_later(context);
            progress |= match self.poll_write(context) {
                Ok(progress) => progress,
                Err(error) => return Poll::Ready(error.into()),
            };
            progress |= match self.poll_read(context) {
                Ok(progress) => progress,
                Err(reason) => return Poll::Ready(reason),
            };
            if !progress {
                break;
            }
        }
        if self.channel.is_draining() && self.later.is_empty() && self.outbox.is_empty() {
            return Poll::Ready(CloseReason::Asked);
        }
        self.poll_deadlines(context)
    }

    /// Encodes the requests that others want sent; whether there were any.
    fn collect_pushes(&mut self) -> bool {
        let Some(commands) = self.channel.take_outgoing() else {
            return false;
        };
        for command in commands {
            if let Err(error) = self.outbox.push(&command) {
                warn!(peer = %self.channel.peer(), code = command.code, "request not sent: {error}");
            }
        }
        true
    }

    /// Takes the answers that have become ready; whether there were any.
    fn poll_later(&mut self, context: &mut Context<'_>) -> bool {
        let mut progress = false;
        while let Poll::Ready(Some(answer)) = self.later.poll_next_unpin(context) {
            progress = true;
            if let Some(answer) = answer {
                self.collect_pushes();
                self.push_answer(answer);
            }
        }
        progress
    }

    /// Writes what it can; whether bytes went out.
    fn poll_write(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut progress = false;
        while !self.outbox.is_empty() {
            let stream = Pin::new(&mut self.stream);
            let sent = if let Some(bytes) = self.outbox.only() {
                stream.poll_write(context, bytes)
            } else {
                let mut slices = [IoSlice::new(&[]); MAX_SLICES];
                let filled = self.outbox.fill(&mut slices);
                stream.poll_write_vectored(context, &slices[..filled])
            };
            match sent {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(sent)) => {
                    self.outbox.advance(sent);
                    self.last_activity = Instant::now();
                    progress = true;
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        self.channel.set_unsent(self.outbox.unsent());
        Ok(progress)
    }

    /// Serves the whole frames that have arrived, if there are none reads once; whether there was work.
    ///
    /// Both stop while the other end does not take its answers, so that nobody can have more memory filled
    /// with answers than one of them and the limit.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<bool, CloseReason> {
        if self.channel.is_draining() || self.is_backlogged() {
            return Ok(false);
        }
        if self.held_back {
            self.serve_received()?;
            return Ok(true);
        }
        self.received.reserve(self.read_room);
        let room = self.received.capacity() - self.received.len();
        let read = match pin!(self.stream.read_buf(&mut self.received)).poll(context) {
            Poll::Pending => return Ok(false),
            Poll::Ready(Ok(0)) => return Err(CloseReason::EndOfStream),
            Poll::Ready(Ok(read)) => read,
            Poll::Ready(Err(error)) => return Err(error.into()),
        };
        // Room follows what arrives: idle connections keep little, busy ones need few calls.
        self.read_room = if read == room { LARGE_READ.min(self.read_room * 4) } else { SMALL_READ.max(read) };
        self.last_activity = Instant::now();
        self.serve_received()?;
        Ok(true)
    }

    fn is_backlogged(&self) -> bool {
        self.outbox.unsent() > self.options.max_unsent
    }

    /// Serves the whole frames in the buffer, as long as their answers are not too much.
    fn serve_received(&mut self) -> Result<(), CloseReason> {
        let mut served = false;
        loop {
            self.held_back = self.is_backlogged();
            if self.held_back {
                self.frame_started = None;
                return Ok(());
            }
            match frame::decode(&mut self.received, self.options.limits)? {
                Some(command) => self.serve(command),
                None => break,
            }
            served = true;
        }
        self.frame_started = match self.frame_started {
            _ if self.received.is_empty() => None,
            Some(started) if !served => Some(started),
            _ => Some(self.last_activity),
        };
        Ok(())
    }

    fn serve(&mut self, command: RemotingCommand) {
        self.channel.saw(command.serialize);
        if command.is_response() {
            let (opaque, peer) = (command.opaque, self.channel.peer());
            if !self.channel.answer(command) {
                debug!(%peer, opaque, "nobody waits for this answer");
            }
            return;
        }
        let place = AnswerPlace {
            code: command.code,
            opaque: command.opaque,
            serialize: command.serialize,
            oneway: command.is_oneway(),
        };
        if self.later.len() >= self.options.max_in_flight {
            return self.push_now(place, overload_answer());
        }
        let handled = catch_unwind(AssertUnwindSafe(|| self.handler.handle(&self.channel, command)));
        // What the handler pushed goes out before its answer.
        self.collect_pushes();
        match handled {
            Ok(Reply::Now(answer)) => self.push_now(place, answer),
            Ok(Reply::Later(future)) => self.later.push(PendingReply { place, future }),
            Ok(Reply::None) => {}
            Err(_) => self.push_now(place, panic_answer(place.code)),
        }
    }

    fn push_now(&mut self, place: AnswerPlace, answer: RemotingCommand) {
        if let Some(answer) = place.address(answer) {
            self.push_answer(answer);
        }
    }

    /// Encodes an answer; one that does not fit a frame is replaced by an error.
    fn push_answer(&mut self, answer: RemotingCommand) {
        let Err(error) = self.outbox.push(&answer) else {
            return;
        };
        warn!(peer = %self.channel.peer(), "answer not sent: {error}");
        let mut replacement = RemotingCommand::request(response_code::SYSTEM_ERROR)
            .with_remark(format!("the answer does not fit into a frame: {error}"));
        replacement.address_to(answer.opaque, answer.serialize);
        if let Err(error) = self.outbox.push(&replacement) {
            warn!(peer = %self.channel.peer(), "no answer sent: {error}");
        }
    }

    /// Looks whether a deadline has passed.
    fn poll_deadlines(&mut self, context: &mut Context<'_>) -> Poll<CloseReason> {
        loop {
            let now = ready!(self.ticks.poll_tick(context));
            if self.received.is_empty() {
                // The buffer may still have the size of some earlier large frame.
                self.received = BytesMut::new();
            }
            if self.outbox.is_empty() {
                self.outbox = Outbox::default();
            }
            let ConnectionOptions { idle_timeout, frame_timeout, .. } = self.options;
            if self.frame_started.is_some_and(|started| now.duration_since(started) >= frame_timeout) {
                return Poll::Ready(CloseReason::FrameTimeout(frame_timeout));
            }
            if now.duration_since(self.last_activity) >= idle_timeout {
                return Poll::Ready(CloseReason::Idle(idle_timeout));
            }
        }
    }
}

impl Drop for Connection {
    /// Runs however the task ends, also when the runtime drops it.
    fn drop(&mut self) {
        self.channel.ended();
        let closed = catch_unwind(AssertUnwindSafe(|| self.handler.channel_closed(&self.channel)));
        if closed.is_err() {
            warn!(peer = %self.channel.peer(), "panic while taking leave of a connection");
        }
    }
}

#[cfg(test)]
mod tests;
