//! The checks that every language goes through on the messages of all languages.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};

use super::{COUNT, Session, topic};
use crate::interop::checks::produce::{Production, Sender};
use crate::interop::client::{Call, Ended, Language};
use crate::interop::compare::{Sent, same, same_content};
use crate::interop::messages::{Bodies, Received, read_lines};

/// Tags that the tag filter lets through. `BB`, which has the hash of `Aa`, must not come with it.
const WANTED_TAGS: [&str; 3] = ["TagA", "Aa", "标签"];
/// The same for Go: its library announces hashes of UTF-8 bytes where every other client and the broker hash
/// UTF-16 units, so that it never gets a message with such a tag.
const WANTED_TAGS_GO: [&str; 3] = ["TagA", "Aa", "TagB"];
/// Messages that fail once.
const FAILING: usize = 6;
/// The consumer that is stopped and started again stops after this many.
const STOP_AFTER: usize = 300;

/// What was sent, by language; a language whose production failed is absent.
type Produced = BTreeMap<Language, Vec<Sent>>;

pub fn names(language: Language) -> Vec<String> {
    let mut names: Vec<String> = Language::ALL.into_iter().map(|from| consume_name(language, from)).collect();
    names.extend([tags_name(language), redelivery_name(language), restart_name(language)]);
    if has_orderly(language) {
        names.push(orderly_name(language));
    }
    names
}

fn consume_name(language: Language, from: Language) -> String {
    format!("{}: consume what {} sent", language.name(), from.name())
}

fn tags_name(language: Language) -> String {
    format!("{}: tag filter", language.name())
}

fn orderly_name(language: Language) -> String {
    format!("{}: orderly consumption keeps the order of every queue", language.name())
}

fn redelivery_name(language: Language) -> String {
    format!("{}: a failed message comes again", language.name())
}

fn restart_name(language: Language) -> String {
    format!("{}: a restarted consumer goes on where it was", language.name())
}

fn has_orderly(language: Language) -> bool {
    language != Language::Node
}

/// The topic of the messages that fail once.
pub fn redelivery_topic(language: Language) -> String {
    format!("redelivery_{}", language.name())
}

/// The consumer groups of a language.
pub fn groups(language: Language) -> [String; 5] {
    ["all", "tags", "orderly", "redelivery", "restart"].map(|purpose| group(language, purpose))
}

fn group(language: Language, purpose: &str) -> String {
    format!("{}_{purpose}", language.name())
}

/// Runs all checks of a language one after another.
pub fn run(session: &Session<'_>, language: Language, produced: &Produced) {
    consume_all(session, language, produced);
    let section = session.section;
    section.check(&tags_name(language), || tag_filter(session, language, produced));
    if has_orderly(language) {
        section.check(&orderly_name(language), || orderly(session, language, produced));
    } else {
        section.note(&orderly_name(language), &format!("{} has no orderly consumer", language.library()));
    }
    section.check(&redelivery_name(language), || redelivery(session, language));
    section.check(&restart_name(language), || restart(session, language, produced));
}

/// A call of the consume verb for a group of its own; its output file is `STEP.jsonl`.
fn consume<'a>(session: &Session<'a>, language: Language, purpose: &str, topics: &[String]) -> Call<'a> {
    let step = group(language, purpose);
    let call = Call::new(session.context, session.directory, step.clone(), language, "consume");
    let out = call.file("jsonl");
    call.with("namesrv", session.broker.namesrv())
        .with("group", step)
        .with("topics", topics.join(","))
        .with("out", out.display())
}

/// Runs such a call and reads what it wrote.
fn deliveries(session: &Session<'_>, call: Call<'_>) -> Result<(Ended, Vec<Received>)> {
    session.broker.require_alive()?;
    let out = call.file("jsonl");
    let ended = call.run()?;
    Ok((ended, read_lines(&out)?))
}

fn topics(produced: &Produced) -> Result<Vec<String>> {
    ensure!(!produced.is_empty(), "nothing was produced");
    Ok(produced.keys().copied().map(topic).collect())
}

fn consume_all(session: &Session<'_>, language: Language, produced: &Produced) {
    let names: Vec<String> = Language::ALL.into_iter().map(|from| consume_name(language, from)).collect();
    if !names.iter().any(|name| session.section.wants(name)) {
        return;
    }
    let outcome = topics(produced).and_then(|topics| {
        let total: usize = produced.values().map(Vec::len).sum();
        deliveries(session, consume(session, language, "all", &topics).with("expected", total))
    });
    match outcome {
        Ok((ended, received)) => {
            for from in Language::ALL {
                session.section.check(&consume_name(language, from), || {
                    let sent = produced.get(&from).context("they were not all produced")?;
                    let topic = topic(from);
                    let part: Vec<Received> =
                        received.iter().filter(|message| message.topic == topic).cloned().collect();
                    // A late message of one topic must not fail the check of another that is complete.
                    same(sent, &part, session.broker.socket()).map_err(|error| {
                        ended.explain::<()>(Err(error)).expect_err("an error stays an error")
                    })?;
                    Ok(format!("{} messages", part.len()))
                });
            }
        }
        Err(error) => session.section.give_up(&names, &format!("{error:#}")),
    }
}

fn tag_filter(session: &Session<'_>, language: Language, produced: &Produced) -> Result<String> {
    let tags = if language == Language::Go { WANTED_TAGS_GO } else { WANTED_TAGS };
    let matching: Vec<&Sent> = produced
        .values()
        .flatten()
        .filter(|sent| sent.planned.tag.is_some_and(|tag| tags.contains(&tag)))
        .collect();
    let expression = tags.join(" || ");
    let call = consume(session, language, "tags", &topics(produced)?)
        .with("expression", &expression)
        .with("expected", matching.len());
    let (ended, received) = deliveries(session, call)?;
    ended.explain(same(matching, &received, session.broker.socket()))?;
    Ok(format!("{} messages match {expression}", received.len()))
}

fn orderly(session: &Session<'_>, language: Language, produced: &Produced) -> Result<String> {
    let total: usize = produced.values().map(Vec::len).sum();
    let call = consume(session, language, "orderly", &topics(produced)?)
        .with("orderly", true)
        .with("expected", total);
    let (ended, received) = deliveries(session, call)?;
    ended.explain(same(produced.values().flatten(), &received, session.broker.socket()))?;
    let mut next_offsets: BTreeMap<(&str, i64), i64> = BTreeMap::new();
    for message in &received {
        let next = next_offsets.entry((&message.topic, message.queue_id)).or_insert(0);
        ensure!(
            message.queue_offset == *next,
            "{} queue {}: expected offset {next}, found {}",
            message.topic,
            message.queue_id,
            message.queue_offset
        );
        *next += 1;
    }
    Ok(format!("{} messages of {} queues", received.len(), next_offsets.len()))
}

fn redelivery(session: &Session<'_>, language: Language) -> Result<String> {
    let topic = redelivery_topic(language);
    let production = Production {
        name: &topic,
        sender: Sender::Client(language),
        topic: &topic,
        count: FAILING,
        bodies: Bodies::Small,
        first_offsets: BTreeMap::new(),
    };
    let sent = production.run(session.context, session.directory, session.broker)?;
    let call = consume(session, language, "redelivery", std::slice::from_ref(&topic))
        .with("failFirst", true)
        .with("expected", 2 * FAILING);
    let (ended, received) = deliveries(session, call)?;
    ended.explain(delivered_twice(&sent, &received, session.broker.socket()))?;
    Ok(format!("{FAILING} messages, reconsumeTimes 1 the second time"))
}

fn delivered_twice(sent: &[Sent], received: &[Received], broker: SocketAddr) -> Result<()> {
    let (again, first): (Vec<Received>, Vec<Received>) =
        received.iter().cloned().partition(|message| message.reconsume_times > 0);
    same(sent, &first, broker).context("first delivery")?;
    let mut ids = BTreeSet::new();
    for message in &again {
        let sent = sent.iter().find(|sent| sent.planned.id == message.id());
        let sent = sent.with_context(|| format!("{} came again but was never sent", message.id()))?;
        same_content(sent, message).with_context(|| format!("second delivery of {}", message.id()))?;
        ensure!(
            message.reconsume_times == 1,
            "{}: expected reconsumeTimes 1, found {}",
            message.id(),
            message.reconsume_times
        );
        ensure!(ids.insert(message.id()), "{} came again more than once", message.id());
    }
    ensure!(ids.len() == sent.len(), "of {} failed messages only {} came again", sent.len(), ids.len());
    Ok(())
}

fn restart(session: &Session<'_>, language: Language, produced: &Produced) -> Result<String> {
    // One topic is enough; Java's is read by all, whoever else could not send.
    let (from, sent) = produced.first_key_value().context("nothing was produced")?;
    let topics = [topic(*from)];
    let part = consume(session, language, "restart", &topics)
        .with("stopAfter", STOP_AFTER)
        .with("threads", 1)
        .with("prefetch", 16)
        .with("paceMs", 2)
        .with("shutDown", true);
    let (ended, before) = deliveries(session, part)?;
    ended.explain(Ok(()))?;
    let seen: BTreeSet<&str> = before.iter().map(Received::id).collect();
    ensure!(
        (STOP_AFTER..COUNT).contains(&seen.len()),
        "the first consumer should stop behind {STOP_AFTER} messages, it got {}",
        seen.len()
    );

    // The second consumer gets at least what the first never saw.
    let rest = COUNT - seen.len();
    let step = format!("{}-second", group(language, "restart"));
    let call = Call::new(session.context, session.directory, step, language, "consume");
    let out = call.file("jsonl");
    let call = call
        .with("namesrv", session.broker.namesrv())
        .with("group", group(language, "restart"))
        .with("topics", topics.join(","))
        .with("out", out.display())
        .with("expected", rest)
        .with("quietMs", 1_000);
    let (ended, after) = deliveries(session, call)?;
    let repeated = after.iter().filter(|message| seen.contains(message.id())).count();
    let once: Vec<Received> =
        before.iter().chain(after.iter().filter(|message| !seen.contains(message.id()))).cloned().collect();
    ended.explain(same(sent, &once, session.broker.socket()))?;
    ensure!(
        repeated <= seen.len() / 2,
        "{repeated} of {} messages came again: the progress of the group was lost",
        seen.len()
    );
    Ok(format!("{} messages, then {} ({repeated} of them again)", before.len(), after.len()))
}
