//! Requests that wait for a message instead of being answered with "nothing there".

mod pull_request_hold_service;

pub use pull_request_hold_service::{HeldPull, PullRequestHoldService};
