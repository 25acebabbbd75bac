//! Asks a name server for a route with one hand-made request, to learn when a broker can be used.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

use super::remoting::Connection;

/// `GET_ROUTEINFO_BY_TOPIC` of the remoting protocol.
const GET_ROUTE: u32 = 105;
/// The topic that every broker with `autoCreateTopicEnable` has.
const DEFAULT_TOPIC: &str = "TBW102";
/// How long one answer may take, and how long to wait between two attempts.
const ANSWER: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

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
    let answer =
        Connection::open(namesrv, ANSWER)?.ask(GET_ROUTE, &json!({ "topic": DEFAULT_TOPIC }), &[])?;
    let body = String::from_utf8_lossy(&answer.body);
    Ok(answer.code == 0 && body.contains(&format!("\"{broker}\"")))
}
