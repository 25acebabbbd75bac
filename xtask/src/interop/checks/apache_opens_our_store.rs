//! Apache's own store opens what the broker under test wrote.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

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

const TOPIC: &str = "interchange";
/// Several commit log files of 1 MiB.
const LEAST_LOG_FILES: usize = 3;

/// A kind of store that is written and given to Apache's code: one line of the list is one kind.
struct StoreKind {
    /// How it is called in the names of its checks, with a blank before it; empty for the ordinary store.
    name: &'static str,
    /// What its broker is told beside small files.
    settings: &'static [(&'static str, &'static str)],
    /// What was answered may still be in the memory of the process: a kill waits until it must be in the files.
    is_buffered: bool,
}

const KINDS: [StoreKind; 3] = [
    StoreKind { name: "", settings: &[], is_buffered: false },
    StoreKind {
        name: " (transient pool)",
        settings: &[("transientStorePoolEnable", "true"), ("transientStorePoolSize", "2")],
        is_buffered: true,
    },
    StoreKind { name: " (SYNC_FLUSH)", settings: &[("flushDiskType", "SYNC_FLUSH")], is_buffered: false },
];

/// Many times `commitCommitLogThoroughInterval`, 200 ms.
const COMMITTED_AFTER: Duration = Duration::from_secs(3);

impl StoreKind {
    fn after_stop(&self) -> String {
        format!("store{}: Apache's DefaultMessageStore reads it after an orderly stop", self.name)
    }

    fn after_kill(&self) -> String {
        format!("store{}: Apache's DefaultMessageStore reads it after kill -9", self.name)
    }
}

pub fn names() -> Vec<String> {
    KINDS.iter().flat_map(|kind| [kind.after_stop(), kind.after_kill()]).collect()
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    for (number, kind) in KINDS.iter().enumerate() {
        let (after_stop, after_kill) = (kind.after_stop(), kind.after_kill());
        if section.wants(&after_stop) || section.wants(&after_kill) {
            run_kind(context, &directory.join(number.to_string()), section, kind)?;
        }
    }
    Ok(())
}

fn run_kind(context: &Context, directory: &Path, section: &Section<'_>, kind: &StoreKind) -> Result<()> {
    std::fs::create_dir_all(directory)?;
    let store = directory.join("store");
    let mut conf = BrokerConf::small_files();
    for (key, value) in kind.settings {
        conf.set(key, value);
    }
    let mut broker = Broker::under_test(context, directory, &store, conf)?;
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
    section.check(&kind.after_stop(), || read_copy(context, directory, "after-stop", &broker, &sent));

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
    if kind.is_buffered {
        thread::sleep(COMMITTED_AFTER);
    }
    broker.kill()?;
    section.check(&kind.after_kill(), || read_copy(context, directory, "after-kill", &broker, &sent));
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
