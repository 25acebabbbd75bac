//! `stratamq send`: sends messages and prints what became of each.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use clap::Args;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tokio::sync::mpsc;

use super::legal_name::{parse_group, parse_topic};
use super::message_line::{sent_json, sent_line};
use super::name_server_argument::NameServerArgument;
use super::progress::Progress;
use crate::client::{Client, OutgoingMessage, Producer};

/// Name of standard input in place of a file or text.
const STANDARD_INPUT: &str = "-";
/// Lines that are read ahead.
const LINES_AHEAD: usize = 64;

/// Send messages to a topic.
#[derive(Debug, Clone, Args)]
pub struct SendArguments {
    #[command(flatten)]
    name_server: NameServerArgument,
    /// Topic; a broker may create it on the first message
    #[arg(short, long, value_parser = parse_topic)]
    topic: String,
    /// Tag that consumers can filter by
    #[arg(long)]
    tag: Option<String>,
    /// Key that the message can be found by; may be repeated
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Further property; may be repeated
    #[arg(long = "property", value_name = "NAME=VALUE", value_parser = parse_property)]
    properties: Vec<(String, String)>,
    /// How often to send
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Most messages on their way at a time; 1 keeps them in order
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    window: u16,
    /// Send bodies of this many bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=67_108_864), conflicts_with_all = ["file", "text"])]
    size: Option<u32>,
    /// Send every line of a file that is not empty; `-` is standard input
    #[arg(long, value_name = "PATH", conflicts_with_all = ["count", "text"])]
    file: Option<PathBuf>,
    /// Producer group
    #[arg(long, default_value = "stratamq-send", value_parser = parse_group)]
    group: String,
    /// Print JSON objects, 64-bit numbers as text
    #[arg(long)]
    json: bool,
    /// Text to send; `-` sends every line of standard input; without it `Hello StrataMQ #1` (then `#2` …) is sent
    text: Option<String>,
}

/// Sends what `arguments` say: one line a message on standard output, a summary on standard error.
///
/// # Errors
///
/// When a message cannot be read or is not stored; the messages before it have been printed. When nobody reads the output
/// any more, the rest is sent all the same.
pub async fn run(arguments: SendArguments) -> Result<()> {
    let client = Client::connect(&arguments.name_server.name_servers).await?;
    let producer = Producer::new(&client, &arguments.group);
    let total = if arguments.lines().is_some() { None } else { Some(arguments.count) };
    let mut progress = Progress::new(total, "messages");
    let sends =
        arguments.bodies()?.map(|body| async { anyhow::Ok(producer.send(&arguments.message(body?)).await?) });
    let mut sends = std::pin::pin!(sends.buffered(usize::from(arguments.window)));
    let mut outcome = Ok(());
    let mut is_read = true;
    while let Some(result) = sends.next().await {
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                outcome = Err(error.context(format!("message {}", progress.count() + 1)));
                break;
            }
        };
        progress.add(1);
        if !is_read {
            continue;
        }
        let line = if arguments.json { sent_json(&result) } else { sent_line(&result) };
        match writeln!(io::stdout(), "{line}") {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => is_read = false,
            Err(error) => {
                outcome = Err(error).context("standard output");
                break;
            }
        }
    }
    progress.finish("sent");
    outcome
}

impl SendArguments {
    fn message(&self, body: Bytes) -> OutgoingMessage {
        let mut message = OutgoingMessage::new(&self.topic, body);
        message.tag.clone_from(&self.tag);
        message.keys.clone_from(&self.keys);
        message.properties.clone_from(&self.properties);
        message
    }

    /// The file whose lines are to be sent.
    fn lines(&self) -> Option<&Path> {
        let text = self.text.as_deref().filter(|text| *text == STANDARD_INPUT).map(Path::new);
        self.file.as_deref().or(text)
    }

    /// The bodies in order.
    fn bodies(&self) -> Result<BoxStream<'static, Result<Bytes>>> {
        if let Some(path) = self.lines() {
            ensure!(self.count == 1, "--count: lines are sent once, found {}", self.count);
            return lines(path);
        }
        let size = self.size.map(|size| Bytes::from(vec![b'x'; size as usize]));
        let given = size.or_else(|| self.text.clone().map(Bytes::from));
        let body = move |number| {
            Ok(given.clone().unwrap_or_else(|| Bytes::from(format!("Hello StrataMQ #{number}"))))
        };
        Ok(stream::iter((1..=self.count).map(body)).boxed())
    }
}

fn parse_property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.into(), value.into())),
        _ => Err(format!("expected NAME=VALUE, found `{text}`")),
    }
}

/// The lines of a file, read by a thread of its own: reading from a terminal may take for ever.
fn lines(path: &Path) -> Result<BoxStream<'static, Result<Bytes>>> {
    let name = path.display().to_string();
    let reader: Box<dyn BufRead + Send> = if path == Path::new(STANDARD_INPUT) {
        Box::new(BufReader::new(io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(path).with_context(|| name.clone())?))
    };
    let (sender, receiver) = mpsc::channel(LINES_AHEAD);
    std::thread::spawn(move || {
        for line in bodies_of_lines(reader) {
            if sender.blocking_send(line.with_context(|| name.clone())).is_err() {
                return;
            }
        }
    });
    Ok(stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) }).boxed())
}

/// The lines that are not empty, without their ends. They need not be text.
fn bodies_of_lines(reader: impl BufRead) -> impl Iterator<Item = io::Result<Bytes>> {
    reader.split(b'\n').filter_map(|line| match line {
        Ok(mut line) => {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            (!line.is_empty()).then(|| Ok(line.into()))
        }
        Err(error) => Some(Err(error)),
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};
    use futures_util::StreamExt as _;

    use super::{SendArguments, bodies_of_lines};

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        send: SendArguments,
    }

    fn parse(arguments: &[&str]) -> Result<SendArguments, String> {
        let arguments = ["send", "-t", "T"].iter().chain(arguments);
        Program::try_parse_from(arguments).map(|program| program.send).map_err(|error| error.to_string())
    }

    async fn bodies(arguments: &[&str]) -> Vec<bytes::Bytes> {
        let bodies = parse(arguments).unwrap().bodies().unwrap();
        bodies.map(Result::unwrap).collect().await
    }

    #[test]
    fn arguments_are_consistent() {
        Program::command().debug_assert();
        let arguments = parse(&["--property", "a=b=c", "--key", "k1", "--key", "k2", "--tag", "x"]).unwrap();
        assert_eq!(arguments.name_server.name_servers, "127.0.0.1:9876");
        assert_eq!((arguments.count, arguments.window), (1, 64));
        let message = arguments.message("body".into());
        assert_eq!(message.properties, [("a".to_owned(), "b=c".to_owned())]);
        assert_eq!((message.tag.as_deref(), message.keys.len()), (Some("x"), 2));
    }

    #[test]
    fn contradictions_are_refused() {
        for wrong in [
            &["--size", "5", "text"][..],
            &["--file", "f", "text"],
            &["--file", "f", "--count", "2"],
            &["--size", "0"],
            &["--count", "0"],
            &["--window", "0"],
            &["--property", "novalue"],
            &["--property", "=x"],
            &["--group", "g g"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[tokio::test]
    async fn bodies_are_text_of_a_size_or_a_greeting() {
        assert_eq!(bodies(&["--count", "2"]).await, ["Hello StrataMQ #1", "Hello StrataMQ #2"]);
        assert_eq!(bodies(&["--count", "2", "hi"]).await, ["hi", "hi"]);
        assert_eq!(bodies(&["--size", "4"]).await, ["xxxx"]);
    }

    #[tokio::test]
    async fn files_are_sent_line_by_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::fs::write(&path, "one\n\ntwo").unwrap();
        assert_eq!(bodies(&["--file", path.to_str().unwrap()]).await, ["one", "two"]);
        let missing = parse(&["--file", dir.path().join("none").to_str().unwrap()]).unwrap().bodies();
        assert!(missing.err().unwrap().to_string().ends_with("none"));
        assert!(parse(&["-", "--count", "2"]).unwrap().bodies().is_err());
    }

    #[test]
    fn line_ends_of_any_kind_are_cut() {
        let lines = bodies_of_lines(&b"one\r\n\n\xff\r\r\n\r\nlast"[..]).map(Result::unwrap);
        assert_eq!(lines.collect::<Vec<_>>(), [&b"one"[..], b"\xff\r", b"last"]);
    }

    #[test]
    fn a_dash_is_standard_input() {
        assert!(parse(&["-"]).unwrap().lines().is_some());
        assert!(parse(&["--file", "-"]).unwrap().lines().is_some());
        assert!(parse(&["text"]).unwrap().lines().is_none());
    }
}
