//! The broker under test opens what Apache's broker wrote; in between, Apache's goes on with what ours left.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::produce::{Production, Sender};
use super::read_back::{describe_files, with_pulls};
use crate::harness::report::Section;
use crate::interop::Context;
use crate::interop::broker::{Broker, Kind};
use crate::interop::broker_conf::BrokerConf;
use crate::interop::client::Language;
use crate::interop::compare::{Sent, next_offsets};
use crate::interop::messages::Bodies;

const AFTER_STOP: &str = "store: opens the store of Apache's broker after an orderly stop";
const AFTER_KILL: &str = "store: opens the store of Apache's broker after kill -9";
const TOPIC: &str = "interchange";
/// Several commit log files of 1 MiB.
const LEAST_LOG_FILES: usize = 3;

pub fn names() -> Vec<String> {
    [AFTER_STOP, AFTER_KILL].map(str::to_owned).into()
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    let store = directory.join("store");
    let (apache_files, our_files) = (directory.join("apache"), directory.join("under-test"));
    for files in [&apache_files, &our_files] {
        std::fs::create_dir_all(files).with_context(|| format!("cannot make {}", files.display()))?;
    }
    let mut apache = Broker::new(context, Kind::Apache, &apache_files, &store, BrokerConf::small_files())?;
    let mut ours = Broker::under_test(context, &our_files, &store, BrokerConf::small_files())?;

    apache.start()?;
    let mut sent = Production {
        name: "before-stop",
        sender: Sender::Client(Language::Java),
        topic: TOPIC,
        count: 1_000,
        bodies: Bodies::Small,
        first_offsets: BTreeMap::new(),
    }
    .run(context, directory, &apache)?;
    apache.stop()?;
    section.check(AFTER_STOP, || {
        read_and_stop(context, directory, "after-stop", &mut ours, &sent, apache.socket())
    });

    apache.start()?;
    let more = Production {
        name: "before-kill",
        sender: Sender::Client(Language::Java),
        topic: TOPIC,
        count: 300,
        bodies: Bodies::Small,
        first_offsets: next_offsets(&sent),
    };
    sent.extend(more.run(context, directory, &apache)?);
    apache.kill()?;
    section.check(AFTER_KILL, || {
        read_and_stop(context, directory, "after-kill", &mut ours, &sent, apache.socket())
    });
    Ok(())
}

fn read_and_stop(
    context: &Context,
    directory: &Path,
    step: &str,
    broker: &mut Broker<'_>,
    sent: &[Sent],
    sent_to: SocketAddr,
) -> Result<String> {
    let files = describe_files(broker.store(), LEAST_LOG_FILES)?;
    broker.start()?;
    let read = with_pulls(context, directory, step, broker, sent, sent_to);
    // Also after a difference: the store must be free for the next broker.
    let stopped = broker.stop();
    let read = read?;
    stopped?;
    Ok(format!("{read}, {files}"))
}
