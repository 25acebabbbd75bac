//! `stratamq store cat`.

use super::scan_progress::ScanProgress;
use super::{Outcome, Target, finish};
use crate::program::standard_streams::tell;
use anyhow::Result;
use clap::Args;
use flate2::read::ZlibDecoder;
use std::io::{self, Read as _, Write as _};
use std::ops::ControlFlow;
use store_core::Env;
use store_core::inspect::Fields;
use store_core::inspectors::{MessageAddress, message_fields};
use store_core::record_format::MessageView;
use store_core::sys_flag;

/// Most bytes a compressed body may grow to.
const MAX_INFLATED: u64 = 128 << 20;
/// Bits of the sysFlag that tell the compression (`MessageSysFlag.COMPRESSION_TYPE_COMPARATOR`).
const COMPRESSION_MASK: i32 = 0x700;

/// Arguments of `stratamq store cat`.
#[derive(Debug, Args)]
pub(super) struct CatArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    address: Address,
    /// Topic of the key, the id or the queue.
    #[arg(long)]
    topic: Option<String>,
    /// Queue of the topic.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "queue_offset")]
    queue: i32,
    /// Print the bytes of the body and nothing else.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// At most so many messages, the newest first when they are found by key.
    #[arg(long, value_name = "N", default_value_t = 1)]
    limit: u64,
}

/// What to look for.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Address {
    /// Position in the log.
    #[arg(long, value_name = "N")]
    offset: Option<u64>,
    /// Position in a queue; give --topic and --queue, too.
    #[arg(long, value_name = "N", requires = "topic")]
    queue_offset: Option<u64>,
    /// Message id, the broker's or the client's.
    #[arg(long)]
    id: Option<String>,
    /// Key.
    #[arg(long)]
    key: Option<String>,
}

impl CatArguments {
    fn address(&self) -> MessageAddress {
        let topic = self.topic.clone();
        let Address { offset, queue_offset, id, key } = &self.address;
        if let Some(offset) = offset {
            MessageAddress::Offset(*offset)
        } else if let Some(queue_offset) = queue_offset {
            let topic = topic.unwrap_or_default();
            MessageAddress::Queue { topic, queue_id: self.queue, queue_offset: *queue_offset }
        } else if let Some(id) = id {
            MessageAddress::Id { id: id.clone(), topic }
        } else {
            MessageAddress::Key { key: key.clone().unwrap_or_default(), topic }
        }
    }
}

pub(super) fn run(arguments: &CatArguments) -> Result<Outcome> {
    let store = arguments.target.store(&Env::os())?;
    let mut progress = ScanProgress::new(store.log_bytes()?);
    let mut output = arguments.target.output();
    let mut raw = io::stdout();
    let mut left = arguments.limit.max(1);
    let mut written = Ok(());
    let bar = progress.bar();
    let found = store.find(&arguments.address(), &mut |done| progress.set(done), &mut |offset, view| {
        written = bar.suspend(|| {
            if arguments.raw {
                raw.write_all(&readable_body(view))
            } else {
                output.block(&fields(offset, view))
            }
        });
        left -= 1;
        if left == 0 || written.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    progress.finish();
    written?;
    raw.flush()?;
    finish(output)?;
    if found == 0 {
        tell("stratamq store: no such message");
        return Ok(Outcome::Bad);
    }
    Ok(Outcome::Good)
}

/// The message's fields, and the body a consumer would get when it is compressed in the way this program knows.
fn fields(offset: u64, view: &MessageView<'_>) -> Fields {
    let mut fields = message_fields(offset, view);
    if let Some(body) = inflated(view) {
        match String::from_utf8(body) {
            Ok(text) => fields.push("inflatedBody", text),
            Err(error) => fields.push("inflatedBodyBase64", error.into_bytes()),
        }
    }
    fields
}

fn readable_body(view: &MessageView<'_>) -> Vec<u8> {
    inflated(view).unwrap_or_else(|| view.body.to_vec())
}

/// The body without its zlib compression; `None` when it has none.
fn inflated(view: &MessageView<'_>) -> Option<Vec<u8>> {
    // 0 is what clients wrote before there was a choice.
    let is_zlib = matches!((view.sys_flag & COMPRESSION_MASK) >> 8, 0 | 3);
    if view.sys_flag & sys_flag::COMPRESSED == 0 || !is_zlib {
        return None;
    }
    let mut body = Vec::new();
    ZlibDecoder::new(view.body).take(MAX_INFLATED).read_to_end(&mut body).ok()?;
    Some(body)
}
