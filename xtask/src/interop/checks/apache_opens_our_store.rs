//! Apache's own store opens what the broker under test wrote: stores of every kind, after a stop and after a kill.

mod kinds;
mod traces;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use self::kinds::{KINDS, Kill, StoreKind};
use super::apaches_store::{Reading, log_start};
use super::produce::Production;
use super::read_back::{copy_store, describe_files};
use crate::harness::remoting::Connection;
use crate::harness::report::{NotRun, Section};
use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::broker_conf::BrokerConf;
use crate::interop::compare::{Sent, next_offsets};
use crate::interop::messages::Bodies;

/// Several commit log files of 1 MiB.
const LEAST_LOG_FILES: usize = 3;
/// Many times `commitCommitLogThoroughInterval`, 200 ms.
const COMMITTED_AFTER: Duration = Duration::from_secs(3);

/// `DELETE_EXPIRED_COMMITLOG` of the remoting protocol.
const DELETE_EXPIRED_COMMITLOG: u32 = 329;
const ANSWER: Duration = Duration::from_secs(10);
/// Deletion is over when no file went for so long: several times `cleanResourceInterval`.
const QUIET: Duration = Duration::from_secs(2);
/// Within this it must be over; Apache's broker begins with it a minute after its start.
const CLEAN_DEADLINE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);

impl StoreKind {
    fn after_stop(&self) -> String {
        format!("store{}: Apache's DefaultMessageStore reads it after an orderly stop", self.name)
    }

    fn after_kill(&self) -> Option<String> {
        (self.kill != Kill::Never)
            .then(|| format!("store{}: Apache's DefaultMessageStore reads it after kill -9", self.name))
    }

    fn names(&self) -> Vec<String> {
        [self.after_stop()].into_iter().chain(self.after_kill()).collect()
    }
}

pub fn names() -> Vec<String> {
    KINDS.iter().flat_map(StoreKind::names).collect()
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    for (number, kind) in KINDS.iter().enumerate() {
        let names = kind.names();
        if context.binary.is_none() && !kind.is_apaches() {
            let reason = NotRun("Apache's broker takes no topics over 127 bytes".to_owned());
            for name in names.iter().filter(|name| section.wants(name)) {
                section.decide(name, Err(reason.clone().into()));
            }
        } else if names.iter().any(|name| section.wants(name)) {
            // What goes wrong with one kind must not hide the others.
            if let Err(error) = run_kind(context, &directory.join(number.to_string()), section, kind) {
                section.give_up(&names, &format!("{error:#}"));
            }
        }
    }
    Ok(())
}

fn run_kind(context: &Context, directory: &Path, section: &Section<'_>, kind: &StoreKind) -> Result<()> {
    std::fs::create_dir_all(directory)?;
    let store = directory.join("store");
    let mut conf = BrokerConf::small_files();
    conf.listen_on(kind.ip);
    for (key, value) in kind.settings {
        conf.set(key, value);
    }
    let mut broker = Broker::under_test(context, directory, &store, conf)?;
    broker.start()?;
    let mut sent = Vec::new();
    send(context, directory, &broker, kind, "before-stop", &mut sent)?;
    if kind.is_cleaned {
        ask_for_deletion(&broker)?;
        wait_for_deletion(&broker)?;
        send(context, directory, &broker, kind, "after-deletion", &mut sent)?;
        // Some of the rounds that were asked for may be left.
        wait_for_deletion(&broker)?;
    }
    broker.stop()?;
    section.check(&kind.after_stop(), || read_copy(context, directory, "after-stop", kind, &broker, &sent));

    let Some(after_kill) = kind.after_kill().filter(|name| section.wants(name)) else {
        return Ok(());
    };
    broker.start()?;
    send(context, directory, &broker, kind, "before-kill", &mut sent)?;
    if kind.kill == Kill::WhenCommitted {
        thread::sleep(COMMITTED_AFTER);
    }
    broker.kill()?;
    section.check(&after_kill, || read_copy(context, directory, "after-kill", kind, &broker, &sent));
    Ok(())
}

/// Sends all loads of a kind; to a store that holds messages already, fewer.
fn send(
    context: &Context,
    directory: &Path,
    broker: &Broker<'_>,
    kind: &StoreKind,
    step: &str,
    sent: &mut Vec<Sent>,
) -> Result<()> {
    let divisor = if sent.is_empty() { 1 } else { 3 };
    for (number, load) in kind.loads.iter().enumerate() {
        let before: Vec<Sent> = sent.iter().filter(|sent| sent.topic == load.topic).cloned().collect();
        let production = Production {
            name: &format!("{step}-{number}"),
            sender: load.sender,
            topic: load.topic,
            count: load.count / divisor,
            bodies: Bodies::Small,
            first_offsets: next_offsets(&before),
        };
        sent.extend(production.run_changed(context, directory, broker, load.change)?);
    }
    Ok(())
}

/// Has the broker delete expired files for some rounds.
fn ask_for_deletion(broker: &Broker<'_>) -> Result<()> {
    let answer = Connection::open(&broker.socket().to_string(), ANSWER)?.ask(
        DELETE_EXPIRED_COMMITLOG,
        &json!({}),
        &[],
    )?;
    ensure!(answer.code == 0, "deletion of expired files answered {}: {}", answer.code, answer.remark);
    Ok(())
}

/// Waits until deletion is over: the first file of the log is gone, and the queues have followed. Apache's store looks for
/// the beginning of a queue in its first file alone, so that it finds a wrong one in a store that was stopped in between.
fn wait_for_deletion(broker: &Broker<'_>) -> Result<()> {
    let started = Instant::now();
    let (mut files, mut since) = (String::new(), started);
    loop {
        let now = describe_files(broker.store(), 1)?;
        if now != files {
            (files, since) = (now, Instant::now());
        }
        let is_quiet = since.elapsed() > QUIET;
        if is_quiet && log_start(broker.store())? > 0 {
            return Ok(());
        }
        ensure!(
            started.elapsed() < CLEAN_DEADLINE,
            "after {} s the first log file is still there, or files still go: {files}",
            CLEAN_DEADLINE.as_secs()
        );
        thread::sleep(POLL);
    }
}

fn read_copy(
    context: &Context,
    directory: &Path,
    step: &str,
    kind: &StoreKind,
    broker: &Broker<'_>,
    sent: &[Sent],
) -> Result<String> {
    let copy = directory.join(format!("{step}-store"));
    copy_store(broker.store(), &copy)?;
    let files = describe_files(&copy, if kind.is_cleaned { 1 } else { LEAST_LOG_FILES })?;
    kind.trace.find(&copy, sent.len())?;
    let read = Reading { step, store: &copy, broker, sent }.run(context, directory)?;
    Ok(format!("{read}, {files}"))
}
