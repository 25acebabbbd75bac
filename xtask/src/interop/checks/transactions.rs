//! Transactional messages and request-reply, which the Java client alone offers; and half messages that one broker leaves
//! to the other.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::harness::report::Section;
use crate::interop::Context;
use crate::interop::broker::{Broker, Kind};
use crate::interop::broker_conf::BrokerConf;
use crate::interop::client::{Call, Language};
use crate::interop::messages::read_lines;

const DECIDE: &str = "java: transactions (commit, rollback, check-back)";
const ASK: &str = "java: request-reply";
const LEFT_TO_APACHE: &str = "store: Apache's broker ends the transactions that this one left";
const LEFT_BY_APACHE: &str = "store: ends the transactions that Apache's broker left";

/// What the client program says.
#[derive(Deserialize)]
struct Outcome {
    ok: bool,
    detail: String,
}

pub fn names() -> Vec<String> {
    [DECIDE, ASK, LEFT_TO_APACHE, LEFT_BY_APACHE].map(str::to_owned).into()
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    let store = directory.join("store");
    let (apache_files, our_files) = (directory.join("apache"), directory.join("under-test"));
    for files in [&apache_files, &our_files] {
        std::fs::create_dir_all(files).with_context(|| format!("cannot make {}", files.display()))?;
    }
    let mut apache = Broker::new(context, Kind::Apache, &apache_files, &store, conf())?;
    let mut ours = Broker::under_test(context, &our_files, &store, conf())?;
    ours.start()?;
    let phase = |step: &str, broker: &Broker<'_>, phase: &str, topic: &str| {
        broker.require_alive()?;
        run_phase(context, directory, step, broker, phase, topic)
    };
    section.check(DECIDE, || phase("decide", &ours, "decide", "transactions"));
    section.check(ASK, || phase("ask", &ours, "ask", "requests"));
    section.check(LEFT_TO_APACHE, || {
        phase("ours-leaves", &ours, "leave", "left_to_apache")?;
        ours.stop()?;
        apache.start()?;
        phase("apache-finishes", &apache, "finish", "left_to_apache")
    });
    section.check(LEFT_BY_APACHE, || {
        // Whatever became of the check before.
        let _ = ours.stop();
        let _ = apache.start();
        phase("apache-leaves", &apache, "leave", "left_by_apache")?;
        apache.stop()?;
        ours.start()?;
        phase("ours-finishes", &ours, "finish", "left_by_apache")
    });
    Ok(())
}

/// Apache's broker writes down after three seconds that a transaction is finished, and asks again about what it has not
/// written down: rounds of checks are further apart. Nothing is given up while the brokers change.
fn conf() -> BrokerConf {
    let mut conf = BrokerConf::small_files();
    conf.set("transactionCheckInterval", 4_000);
    conf.set("transactionTimeOut", 4_000);
    conf.set("transactionCheckMax", 1_000);
    conf
}

fn run_phase(
    context: &Context,
    directory: &Path,
    step: &str,
    broker: &Broker<'_>,
    phase: &str,
    topic: &str,
) -> Result<String> {
    let call = Call::new(context, directory, step, Language::Java, "transactions");
    let out = call.file("jsonl");
    call.with("namesrv", broker.namesrv())
        .with("phase", phase)
        .with("topic", topic)
        .with("out", out.display())
        .run()?;
    let outcome: Outcome = read_lines(&out)?.pop().context("the program wrote no result")?;
    if !outcome.ok {
        bail!("{}", outcome.detail);
    }
    Ok(outcome.detail)
}
