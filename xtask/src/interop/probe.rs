//! Asks a name server for a route with one hand-made request, to learn when a broker can be used.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

/// `GET_ROUTEINFO_BY_TOPIC` of the remoting protocol.
const GET_ROUTE: u32 = 105;
/// The topic that every broker with `autoCreateTopicEnable` has.
const DEFAULT_TOPIC: &str = "TBW102";
/// How long one answer may take, and how long to wait between two attempts.
const ANSWER: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);
/// A route answer is small; more than this is no answer of a name server.
const MAX_FRAME: u32 = 1 << 20;

/// Waits until the name server at `namesrv` gives `broker` (`ip:port`) as a route. `alive` ends the wait
/// early when the process behind it is gone.
///
/// # Errors
/// When the deadline passes or `alive` fails.
pub fn wait_for_route(
    namesrv: &str,
    broker: &str,
    deadline: Duration,
    mut alive: impl FnMut() -> Result<()>,
) -> Result<()> {
    let started = Instant::now();
    loop {
        let last = match route_names(namesrv, broker) {
            Ok(true) => return Ok(()),
            Ok(false) => format!("the name server does not know broker {broker}"),
            Err(error) => format!("{error:#}"),
        };
        alive()?;
        if started.elapsed() > deadline {
            bail!("not ready after {} s: {last}", deadline.as_secs());
        }
        thread::sleep(PAUSE);
    }
}

/// Waits until somebody listens at `address`.
///
/// # Errors
/// When the deadline passes or `alive` fails.
pub fn wait_for_listener(
    address: &str,
    deadline: Duration,
    mut alive: impl FnMut() -> Result<()>,
) -> Result<()> {
    let started = Instant::now();
    while let Err(error) = TcpStream::connect(address) {
        alive()?;
        if started.elapsed() > deadline {
            bail!("nobody listens at {address} after {} s: {error}", deadline.as_secs());
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

fn route_names(namesrv: &str, broker: &str) -> Result<bool> {
    let mut stream = TcpStream::connect(namesrv).with_context(|| format!("cannot reach {namesrv}"))?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.write_all(&request()?)?;
    let frame = read_frame(&mut stream)?;
    ensure!(frame.len() >= 4, "expected a header length, found a frame of {} bytes", frame.len());
    // The first byte of the header length is the kind of serialization.
    let length = u32::from_be_bytes([0, frame[1], frame[2], frame[3]]) as usize;
    let header = frame.get(4..4 + length).context("the header is longer than its frame")?;
    let header: Value = serde_json::from_slice(header).context("the header is not JSON")?;
    let body = String::from_utf8_lossy(&frame[4 + length..]);
    Ok(header["code"] == json!(0) && body.contains(&format!("\"{broker}\"")))
}

fn request() -> Result<Vec<u8>> {
    let header = serde_json::to_vec(&json!({
        "code": GET_ROUTE, "language": "OTHER", "version": 0, "opaque": 1, "flag": 0,
        "extFields": { "topic": DEFAULT_TOPIC },
    }))?;
    let length = u32::try_from(header.len())?;
    let mut frame = Vec::with_capacity(header.len() + 8);
    frame.extend_from_slice(&(length + 4).to_be_bytes());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&header);
    Ok(frame)
}

fn read_frame(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    ensure!(length <= MAX_FRAME, "expected a frame of at most {MAX_FRAME} bytes, found {length}");
    let mut frame = vec![0; length as usize];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}
