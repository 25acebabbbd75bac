//! Java, Node and Go send and consume, each the messages of all.

mod features;
mod language;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use anyhow::{Result, bail};

use super::apaches_store::Reading;
use super::produce::{Production, Sender};
use crate::harness::report::Section;
use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::broker_conf::BrokerConf;
use crate::interop::client::{Call, Ended, Language};
use crate::interop::compare::Sent;
use crate::interop::messages::Bodies;

/// Messages that each language sends.
const COUNT: usize = 1_000;
const DEFAULT_SIZES: &str =
    "store: Apache's DefaultMessageStore reads what all clients sent, default file sizes";

/// What every part of the scenario needs.
pub(super) struct Session<'a> {
    context: &'a Context,
    directory: &'a Path,
    section: &'a Section<'a>,
    broker: &'a Broker<'a>,
}

pub fn names() -> Vec<String> {
    let mut names: Vec<String> = Language::ALL.map(produce_name).into();
    names.extend(Language::ALL.into_iter().flat_map(language::names));
    names.extend(features::names());
    names.push(DEFAULT_SIZES.to_owned());
    names
}

fn produce_name(language: Language) -> String {
    format!("{}: produce {COUNT}", language.name())
}

/// The topic of the messages of a language.
fn topic(language: Language) -> String {
    format!("interop_{}", language.name())
}

pub fn run(context: &Context, directory: &Path, section: &Section<'_>) -> Result<()> {
    let store = directory.join("store");
    let mut broker = Broker::under_test(context, directory, &store, BrokerConf::new())?;
    broker.start()?;
    let session = Session { context, directory, section, broker: &broker };
    create_topics(&session)?;
    let produced = in_parallel(|language| produce(&session, language));
    let produced: BTreeMap<Language, Vec<Sent>> = Language::ALL
        .into_iter()
        .zip(produced)
        .filter_map(|(language, sent)| Some((language, sent.ok()?)))
        .collect();
    in_parallel(|language| {
        language::run(&session, language, &produced);
        if language == Language::Java {
            features::run(&session);
        }
    });
    let stopped = broker.stop();
    section.check(DEFAULT_SIZES, || {
        stopped?;
        let sent: Vec<Sent> = produced.into_values().flatten().collect();
        if sent.is_empty() {
            bail!("nothing was sent");
        }
        Reading { step: "read-store", store: &store, broker: &broker, sent: &sent }.run(context, directory)
    });
    Ok(())
}

/// Runs something for every language at once, in the order of [`Language::ALL`].
fn in_parallel<T: Send>(run: impl Fn(Language) -> T + Sync) -> [T; 3] {
    let run = &run;
    thread::scope(|scope| {
        Language::ALL
            .map(|language| scope.spawn(move || run(language)))
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Java's topics are made by the broker when the first message comes. The other libraries want topics, the
/// retry topics of their groups included, to be there beforehand.
fn create_topics(session: &Session<'_>) -> Result<()> {
    let mut topics = Vec::new();
    for language in [Language::Node, Language::Go] {
        topics.push(topic(language));
        topics.push(language::redelivery_topic(language));
        topics.extend(language::groups(language).map(|group| format!("%RETRY%{group}")));
    }
    let call = Call::new(session.context, session.directory, "topics", Language::Java, "topics");
    let ended = call
        .with("namesrv", session.broker.namesrv())
        .with("broker", session.broker.address())
        .with("topics", topics.join(","))
        .run()?;
    if ended == Ended::DeadlinePassed {
        bail!("the topics that were created got no route");
    }
    Ok(())
}

fn produce(session: &Session<'_>, language: Language) -> Result<Vec<Sent>> {
    session.section.need(&produce_name(language), || {
        let production = Production {
            name: language.name(),
            sender: Sender::Client(language),
            topic: &topic(language),
            count: COUNT,
            bodies: Bodies::Large,
            first_offsets: BTreeMap::new(),
        };
        let sent = production.run(session.context, session.directory, session.broker)?;
        let bytes: usize = sent.iter().map(|sent| sent.planned.body.len()).sum();
        Ok((sent, format!("{} KiB of bodies, offsets without a hole", bytes / 1024)))
    })
}
