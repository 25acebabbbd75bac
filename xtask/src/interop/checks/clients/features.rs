//! What only the Java client offers. The client program decides these checks; here they are only reported.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::Session;
use crate::interop::client::{Call, Language};
use crate::interop::messages::read_lines;

/// The names that the client program uses.
const CHECKS: [&str; 8] = [
    "batch send",
    "one-way send",
    "lite pull consumer",
    "query by key",
    "view by offset id",
    "view by unique key",
    "send over the VIP port",
    "long polling",
];

#[derive(Deserialize)]
struct Outcome {
    check: String,
    ok: bool,
    detail: String,
}

pub fn names() -> Vec<String> {
    CHECKS.map(name).into()
}

fn name(check: &str) -> String {
    format!("java: {check}")
}

pub fn run(session: &Session<'_>) {
    let names = names();
    if !names.iter().any(|name| session.section.wants(name)) {
        return;
    }
    match outcomes(session) {
        Ok(outcomes) => {
            for check in CHECKS {
                session.section.check(&name(check), || decide(check, &outcomes));
            }
        }
        Err(error) => session.section.give_up(&names, &format!("{error:#}")),
    }
}

fn outcomes(session: &Session<'_>) -> Result<Vec<Outcome>> {
    session.broker.require_alive()?;
    let call = Call::new(session.context, session.directory, "features", Language::Java, "features");
    let out = call.file("jsonl");
    call.with("namesrv", session.broker.namesrv())
        .with("topic", "features")
        .with("out", out.display())
        .run()?;
    read_lines(&out)
}

fn decide(check: &str, outcomes: &[Outcome]) -> Result<String> {
    let outcome =
        outcomes.iter().find(|outcome| outcome.check == check).context("the program did not get there")?;
    if !outcome.ok {
        bail!("{}", outcome.detail);
    }
    Ok(outcome.detail.clone())
}
