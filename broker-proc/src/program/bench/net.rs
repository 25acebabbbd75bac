//! A light client for load over the network: frames encoded ahead, of which a request patches a few bytes. It speaks to
//! any broker of the protocol.

pub(super) mod admin;
pub(super) mod broker_process;
pub(super) mod echo_server;
pub(super) mod latency_load;
pub(super) mod limit;
pub(super) mod link;
pub(super) mod pull_frames;
pub(super) mod pull_load;
pub(super) mod send_frames;
pub(super) mod send_load;
pub(super) mod target;
