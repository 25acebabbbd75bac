//! Apache's own store opens what the broker under test wrote.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::produce::Production;
use super::read_back::{FileSizes, copy_store, describe_files, with_apaches_store};
use crate::harness::report::Section;
use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::broker_conf::BrokerConf;
use crate::interop::client::Language;
use crate::interop::compare::{Sent, next_offsets};
use crate::interop::messages::Bodies;

const AFTER_STOP: &str = "store: Apache's DefaultMessageStore reads it after an orderly stop";
const AFTER_KILL: &str = "store: Apache's DefaultMessageStore reads it after kill -9";
const TOPIC: &str = "interchange";
/// Several commit log files of 1 MiB.
const LEAST_LOG_FILES: usize = 3;

pub fn names() -> Vec<String> {
    [AFTER_STOP, AFTER_KILL].map(str::to_owned).into()
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    let store = directory.join("store");
    let mut broker = Broker::under_test(context, directory, &store, BrokerConf::small_files())?;
    broker.start()?;
    let mut sent = Production {
        name: "before-stop",
        language: Language::Java,
        topic: TOPIC,
        count: 1_000,
        bodies: Bodies::Small,
        first_offsets: BTreeMap::new(),
    }
    .run(context, directory, &broker)?;
    broker.stop()?;
    section.check(AFTER_STOP, || read_copy(context, directory, "after-stop", &broker, &sent));

    broker.start()?;
    let more = Production {
        name: "before-kill",
        language: Language::Java,
        topic: TOPIC,
        count: 300,
        bodies: Bodies::Small,
        first_offsets: next_offsets(&sent),
    };
    sent.extend(more.run(context, directory, &broker)?);
    broker.kill()?;
    section.check(AFTER_KILL, || read_copy(context, directory, "after-kill", &broker, &sent));
    Ok(())
}

fn read_copy(
    context: &Context,
    directory: &Path,
    step: &str,
    broker: &Broker<'_>,
    sent: &[Sent],
) -> Result<String> {
    let copy = directory.join(format!("{step}-store"));
    copy_store(broker.store(), &copy)?;
    let files = describe_files(&copy, LEAST_LOG_FILES)?;
    let read = with_apaches_store(context, directory, step, &copy, FileSizes::Small, sent, broker.port())?;
    Ok(format!("{read}, {files}"))
}
