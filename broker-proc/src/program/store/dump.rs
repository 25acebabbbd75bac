//! `stratamq store dump`.

use super::{Outcome, Target, finish, ranges};
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::ops::ControlFlow;
use std::path::PathBuf;
use store_core::Env;
use store_core::inspect::{Inspector as _, Range, RawInspector, Selection};
use store_core::inspectors::conditions;

/// Arguments of `stratamq store dump`.
#[derive(Debug, Args)]
pub(super) struct DumpArguments {
    #[command(flatten)]
    target: Target,
    /// Which part of the store, when PATH is its root.
    #[arg(long, value_enum, default_value_t = Part::Log)]
    part: Part,
    #[command(flatten)]
    filter: Filter,
}

/// Which entries are wanted.
#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Only this topic.
    #[arg(long)]
    topic: Option<String>,
    /// Only this queue of its topic.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    queue: Option<i32>,
    /// Only records with this key or client's id; in an index, with its hash (give the topic, too).
    #[arg(long)]
    key: Option<String>,
    /// Only these offsets, A..B: of the log for log and index, of the queue for queues.
    #[arg(long, value_name = "A..B", value_parser = ranges::parse_offsets)]
    offset: Option<Range>,
    /// Only what was stored in this time, A..B: epoch milliseconds or RFC 3339.
    #[arg(long, value_name = "A..B", value_parser = ranges::parse_times)]
    time: Option<Range>,
    /// At most so many entries.
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<u64>,
}

/// Parts of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Records of the log
    Log,
    /// Units of the queues
    Queue,
    /// Entries of the key index
    Index,
    /// The checkpoint
    Checkpoint,
    /// Settings of topics, groups, offsets
    Config,
}

impl Filter {
    /// As a selection.
    pub(super) fn selection(&self) -> Selection {
        let queue = self.queue.map(i64::from);
        Selection::all()
            .with_text(conditions::TOPIC, self.topic.clone())
            .with_text(conditions::KEY, self.key.clone())
            .with_range(conditions::QUEUE, Range { from: queue, to: queue })
            .with_range(conditions::OFFSET, self.offset.unwrap_or_default())
            .with_range(conditions::TIME, self.time.unwrap_or_default())
    }
}

impl DumpArguments {
    /// What to list: the path itself, or the part of the store whose root it is.
    fn path(&self, env: &Env) -> Result<PathBuf> {
        let Some(store) = self.target.enclosing_store(env)?.filter(|store| self.target.is_root(store)) else {
            return Ok(self.target.path.clone());
        };
        let paths = store.paths();
        Ok(match self.part {
            Part::Log => paths.commit_log().to_owned(),
            Part::Queue => paths.consume_queue(),
            Part::Index => paths.index(),
            Part::Checkpoint => paths.checkpoint(),
            Part::Config => paths.config(),
        })
    }
}

pub(super) fn run(arguments: &DumpArguments) -> Result<Outcome> {
    let env = Env::os();
    let path = arguments.path(&env)?;
    let registry = arguments.target.registry(&env)?;
    let selection = arguments.filter.selection();
    let mut output = arguments.target.output();
    let mut left = arguments.filter.limit.unwrap_or(u64::MAX);
    let mut written = Ok(());
    let _ = registry.walk(env.disk(), &path, &mut |place, inspector| {
        if left == 0 {
            return Ok(ControlFlow::Break(()));
        }
        // A stray file is shown when it is asked for, not among the entries of a part.
        if inspector.name() == RawInspector.name() && place.path() != path {
            return Ok(ControlFlow::Continue(()));
        }
        inspector.dump(place, &selection, &mut |fields| {
            written = output.line(&fields);
            left = left.saturating_sub(1);
            if left == 0 || written.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    written?;
    finish(output)?;
    Ok(Outcome::Good)
}
