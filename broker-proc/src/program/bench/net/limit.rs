//! The works over the network once more, against a server that does nothing but answer.

use super::super::options::Bound;
use super::super::process_usage::cpu_time;
use super::echo_server::EchoServer;
use super::link::encoded;
use super::pull_load::{PullOutcome, PullPlan, pull};
use super::send_load::{SendOutcome, SendPlan, send};
use crate::remoting::headers::{PullMessageResponseHeader, SendMessageResponseHeader};
use crate::remoting::{Body, RemotingCommand, response_code};
use anyhow::Result;
use std::time::Duration;

/// Longest time for one limit.
const LIMIT_TIME: Duration = Duration::from_secs(2);

/// What a work was like against the echo server.
#[derive(Debug)]
pub(in super::super) struct Limited<T> {
    pub(in super::super) outcome: T,
    /// CPU time of the server's threads.
    pub(in super::super) server_cpu: Duration,
    /// CPU time of the client.
    pub(in super::super) client_cpu: Duration,
}

/// The same requests as `plan` has, for as long, at most two seconds.
///
/// # Errors
///
/// A connection fails.
pub(in super::super) fn echoed_sends(plan: &SendPlan<'_>, took: Duration) -> Result<Limited<SendOutcome>> {
    beside_echo(send_answer()?, |address| {
        let bound = Bound::Time(took.min(LIMIT_TIME));
        send(&SendPlan { address, bound, frames: plan.frames, ..*plan })
    })
}

/// The answer of a broker to a send.
///
/// # Errors
///
/// None, as it fits into a frame.
pub(in super::super) fn send_answer() -> Result<Vec<u8>> {
    let header = SendMessageResponseHeader {
        msg_id: "7F00000100002A9F0000000000000000".to_owned(),
        queue_id: 0,
        queue_offset: 0,
        transaction_id: Some("00000000000000000000000000000000".to_owned()),
        msg_region: Some("DefaultRegion".to_owned()),
        trace_on: Some("true".to_owned()),
        ..Default::default()
    };
    encoded(response_with(&Body::empty()).with_header(&header))
}

/// As many pulls as `plan` has, each answered with `body`, which holds `messages`, for at most two seconds' worth of them
/// at the rate of the broker.
///
/// # Errors
///
/// A connection fails.
pub(in super::super) fn echoed_pulls(
    plan: &PullPlan<'_>,
    took: Duration,
    body: &Body,
    messages: u64,
) -> Result<Limited<PullOutcome>> {
    let share = (LIMIT_TIME.as_secs_f64() / took.as_secs_f64()).min(1.0);
    let whole = |end: &u64| ((*end as f64 * share) as u64).div_ceil(messages.max(1)) * messages;
    let ends: Vec<u64> = plan.ends.iter().map(whole).collect();
    let header =
        PullMessageResponseHeader { topic_sys_flag: Some(0), group_sys_flag: Some(0), ..Default::default() };
    let answer = response_with(body).with_remark("FOUND").with_header(&header);
    beside_echo(encoded(answer)?, |address| pull(&PullPlan { address, ends: &ends, is_echo: true, ..*plan }))
}

fn response_with(body: &Body) -> RemotingCommand {
    RemotingCommand::response_to(&RemotingCommand::request(0), response_code::SUCCESS).with_body(body.clone())
}

fn beside_echo<T>(
    answer: Vec<u8>,
    work: impl FnOnce(std::net::SocketAddr) -> Result<T>,
) -> Result<Limited<T>> {
    let server = EchoServer::start(answer)?;
    let before = cpu_time();
    let outcome = work(server.address());
    let server_cpu = server.finish()?;
    let client_cpu = (cpu_time() - before).saturating_sub(server_cpu);
    Ok(Limited { outcome: outcome?, server_cpu, client_cpu })
}
