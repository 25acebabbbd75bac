//! `stratamq consume`: prints the messages of a topic as a member of a consumer group.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::legal_name::{parse_group, parse_topic};
use super::message_line::{MessageField, received_json, received_line};
use super::name_server_argument::NameServerArgument;
use super::progress::Progress;
use super::stop_signal::stop_signal;
use crate::client::{Client, Consumer, ConsumerEvent, ConsumerOptions, PulledMessages, StartPosition};

/// Most queues that are named when the assignment changes.
const NAMED_QUEUES: usize = 16;

/// Print the messages of a topic.
#[derive(Debug, Clone, Args)]
pub struct ConsumeArguments {
    #[command(flatten)]
    name_server: NameServerArgument,
    /// Topic
    #[arg(short, long, value_parser = parse_topic)]
    topic: String,
    /// Consumer group; its members share the messages, and it goes on where it stopped
    #[arg(short, long, value_parser = parse_group)]
    group: String,
    /// Where a new group starts: `first`, `last`, or a time (RFC 3339, or milliseconds since 1970)
    #[arg(long, value_name = "first|last|TIME", default_value = "first", value_parser = parse_start)]
    from: StartPosition,
    /// End after this many messages, and fail when there are less
    #[arg(short, long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Wait for new messages instead of ending with the last one
    #[arg(short, long)]
    follow: bool,
    /// Tags to be printed, joined with `||`; `*` for all
    #[arg(long, value_name = "EXPRESSION", default_value = "*")]
    tag: String,
    /// Fields to print before the body, separated by commas
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', conflicts_with = "json")]
    show: Vec<MessageField>,
    /// Print JSON objects, 64-bit numbers as text
    #[arg(long)]
    json: bool,
}

/// Prints messages: one line each on standard output, everything else on standard error. Ends when `arguments` say
/// so, on SIGINT, SIGTERM and SIGHUP, and when nobody reads the output any more; what was printed is committed in any
/// case.
///
/// # Errors
///
/// When the group cannot be joined, an offset cannot be committed, or `--count` was not reached; without `--follow`
/// also when a broker cannot be read.
pub async fn run(arguments: ConsumeArguments) -> Result<()> {
    let client = Client::connect(&arguments.name_server.name_servers).await?;
    let options = ConsumerOptions {
        expression: arguments.tag.clone(),
        start: arguments.from,
        ..ConsumerOptions::new(&arguments.group, &arguments.topic)
    };
    let consumer = Consumer::start(&client, options).await?;
    let mut session = Session { progress: Progress::new(arguments.count, "messages"), arguments, consumer };
    let outcome = session.consume().await;
    let Session { progress, consumer, arguments } = session;
    let committed = consumer.shutdown().await.context("the last offsets are not committed");
    progress.finish("consumed");
    match (outcome?, arguments.count) {
        (End::Regular, Some(wanted)) if progress.count() < wanted => {
            bail!("expected {wanted} messages, found {}", progress.count())
        }
        _ => committed,
    }
}

/// Why consuming ended without an error.
enum End {
    /// There is nothing more to do, or it was told to stop.
    Regular,
    /// Nobody reads the output.
    BrokenPipe,
}

struct Session {
    progress: Progress,
    arguments: ConsumeArguments,
    consumer: Consumer,
}

impl Session {
    async fn consume(&mut self) -> Result<End> {
        // All queues of a broker fail in the same way, again and again: each problem is told once.
        let mut told = BTreeSet::new();
        // Made once: a signal between two rounds must not get lost.
        let mut stopped = std::pin::pin!(stop_signal());
        loop {
            let event = tokio::select! {
                event = self.consumer.next() => event.context("the consumer ended unexpectedly")?,
                outcome = &mut stopped => return outcome.map(|()| End::Regular),
            };
            match event {
                ConsumerEvent::Assigned => self.note_assignment(),
                ConsumerEvent::Pulled(pulled) => {
                    told.clear();
                    if let Err(error) = self.print(&pulled) {
                        let broken = error.kind() == io::ErrorKind::BrokenPipe;
                        return if broken {
                            Ok(End::BrokenPipe)
                        } else {
                            Err(error).context("standard output")
                        };
                    }
                }
                ConsumerEvent::Problem(problem) if !self.arguments.follow => return Err(problem.into()),
                ConsumerEvent::Problem(problem) => {
                    let problem = problem.to_string();
                    if !told.contains(&problem) {
                        self.progress.note(&format!("{problem}; trying again"));
                        told.insert(problem);
                    }
                }
            }
            let complete = self.missing() == Some(0);
            if complete || (!self.arguments.follow && self.consumer.is_caught_up()) {
                return Ok(End::Regular);
            }
        }
    }

    /// How many of the wanted messages are still to come; `None` when all are wanted.
    fn missing(&self) -> Option<u64> {
        self.arguments.count.map(|wanted| wanted.saturating_sub(self.progress.count()))
    }

    /// Prints what came as far as it is wanted, and only then reports it as consumed.
    fn print(&mut self, pulled: &PulledMessages) -> io::Result<()> {
        let limit = self.missing().and_then(|missing| usize::try_from(missing).ok());
        let wanted = &pulled.messages[..pulled.messages.len().min(limit.unwrap_or(usize::MAX))];
        let queue = pulled.queue.queue();
        let mut lines = String::new();
        for message in wanted {
            lines += &if self.arguments.json {
                received_json(message, queue)
            } else {
                received_line(message, queue, &self.arguments.show)
            };
            lines.push('\n');
        }
        io::stdout().write_all(lines.as_bytes())?;
        match pulled.messages.get(wanted.len()) {
            None => pulled.queue.consumed_before(pulled.next_offset),
            Some(first_unwanted) => pulled.queue.consumed_before(first_unwanted.queue_offset),
        }
        self.progress.add(wanted.len() as u64);
        Ok(())
    }

    fn note_assignment(&self) {
        let queues = self.consumer.assigned();
        let names = queues.iter().take(NAMED_QUEUES).map(|assigned| assigned.queue().to_string());
        let mut names: Vec<String> = names.collect();
        if queues.len() > NAMED_QUEUES {
            names.push("…".to_owned());
        }
        self.progress.note(&format!("consuming {} queues: {}", queues.len(), names.join(" ")));
    }
}

fn parse_start(text: &str) -> Result<StartPosition, String> {
    match text {
        "first" => Ok(StartPosition::First),
        "last" => Ok(StartPosition::Last),
        _ => {
            let millis = text.parse::<i64>().ok().filter(|millis| *millis >= 0);
            let time = || text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
            millis.or_else(time).map(StartPosition::Time).ok_or_else(|| {
                format!("expected first, last, milliseconds since 1970 or a time as 2024-05-31T12:00:00Z, found `{text}`")
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::{ConsumeArguments, MessageField, StartPosition, parse_start};

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        consume: ConsumeArguments,
    }

    fn parse(arguments: &[&str]) -> Result<ConsumeArguments, String> {
        let arguments = ["consume", "-t", "T", "-g", "G"].iter().chain(arguments);
        Program::try_parse_from(arguments).map(|program| program.consume).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_consistent() {
        Program::command().debug_assert();
        let arguments = parse(&["--show", "offset,keys", "--count", "3", "--follow"]).unwrap();
        assert_eq!(arguments.show, [MessageField::Offset, MessageField::Keys]);
        assert_eq!((arguments.count, arguments.follow), (Some(3), true));
        assert_eq!((arguments.from, arguments.tag.as_str()), (StartPosition::First, "*"));
        for wrong in
            [&["--count", "0"][..], &["--show", "nothing"], &["--from", "soon"], &["--show", "id", "--json"]]
        {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn names_are_checked_with_the_brokers_remarks() {
        let parse = |topic: &str, group: &str| {
            let parsed = Program::try_parse_from(["consume", "--topic", topic, "--group", group]);
            parsed.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let wrong = parse("T", "g g");
        assert!(wrong.contains("The specified group: g g, contains illegal characters"), "{wrong}");
        let wrong = parse("a/b", "G");
        assert!(wrong.contains("The specified topic: a/b, contains illegal characters"), "{wrong}");
        assert_eq!(parse("%RETRY%G", "G"), "");
    }

    #[test]
    fn a_start_is_a_name_or_a_time() {
        assert_eq!(parse_start("last"), Ok(StartPosition::Last));
        assert_eq!(parse_start("1700000000001"), Ok(StartPosition::Time(1_700_000_000_001)));
        assert_eq!(parse_start("2023-11-14T22:13:20.001Z"), Ok(StartPosition::Time(1_700_000_000_001)));
        assert_eq!(parse_start("2023-11-14T23:13:20.001+01:00"), Ok(StartPosition::Time(1_700_000_000_001)));
        for wrong in ["", "-1", "yesterday", "2023-11-14"] {
            assert!(parse_start(wrong).unwrap_err().ends_with(&format!("found `{wrong}`")), "{wrong}");
        }
    }
}
