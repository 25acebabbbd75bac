//! The broker under test registers at Apache's name server; a client finds it there.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::produce::{Production, Sender};
use crate::harness::report::Section;
use crate::interop::Context;
use crate::interop::broker::{Broker, Kind};
use crate::interop::broker_conf::BrokerConf;
use crate::interop::client::{Call, Language};
use crate::interop::compare::same;
use crate::interop::messages::{Bodies, read_lines};

const PRODUCE: &str = "java: produce through Apache's name server";
const CONSUME: &str = "java: consume through Apache's name server";
const TOPIC: &str = "registered";

pub fn names() -> Vec<String> {
    [PRODUCE, CONSUME].map(str::to_owned).into()
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    let store = directory.join("store");
    let mut broker = Broker::new(context, Kind::Registered, directory, &store, BrokerConf::new())?;
    broker.start()?;
    let production = Production {
        name: "java",
        sender: Sender::Client(Language::Java),
        topic: TOPIC,
        count: 20,
        bodies: Bodies::Small,
        first_offsets: BTreeMap::new(),
    };
    let sent = section.need(PRODUCE, || {
        production.run(context, directory, &broker).map(|sent| (sent, "20 messages".to_owned()))
    })?;
    section.check(CONSUME, || {
        let call = Call::new(context, directory, "consume", Language::Java, "consume");
        let out = call.file("jsonl");
        let ended = call
            .with("namesrv", broker.namesrv())
            .with("group", "registered_consumer")
            .with("topics", TOPIC)
            .with("expected", sent.len())
            .with("out", out.display())
            .run()?;
        let compared = same(&sent, &read_lines(&out)?, broker.socket());
        ended.explain(compared.with_context(|| format!("messages in {}", out.display())))?;
        Ok(format!("{} messages", sent.len()))
    });
    Ok(())
}
