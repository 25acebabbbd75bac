//! `stratamq store rebuild`.

use super::scan_progress::ScanProgress;
use super::{Outcome, Target, finish};
use crate::program::standard_streams::tell;
use anyhow::{Context as _, Result};
use clap::Args;
use store_core::Env;
use store_core::config::DelayLevels;
use store_core::rebuild::{RebuildOptions, rebuild};

/// Arguments of `stratamq store rebuild`.
#[derive(Debug, Args)]
pub(super) struct RebuildArguments {
    #[command(flatten)]
    target: Target,
    /// Leave the index as it is.
    #[arg(long, conflicts_with = "index_only")]
    queues_only: bool,
    /// Leave the queues as they are.
    #[arg(long)]
    index_only: bool,
    /// Index no tags, as releases before 5.5.0 do.
    #[arg(long)]
    no_tags_index: bool,
    /// Delays of the levels (messageDelayLevel), for the queues of delayed messages; default: RocketMQ's.
    #[arg(long, value_name = "LEVELS")]
    message_delay_level: Option<String>,
    /// Change nothing, and tell what would be done.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &RebuildArguments) -> Result<Outcome> {
    let env = Env::os();
    let store = arguments.target.root_store(&env)?;
    let delay_levels = match &arguments.message_delay_level {
        Some(levels) => levels.parse().map_err(anyhow::Error::from).context("--message-delay-level")?,
        None => DelayLevels::default(),
    };
    let options = RebuildOptions {
        queues: !arguments.index_only,
        index: !arguments.queues_only,
        index_tags: !arguments.no_tags_index,
        delay_levels,
        dry_run: arguments.dry_run,
    };
    let parts = match (options.queues, options.index) {
        (true, true) => "queues and index",
        (true, false) => "queues",
        (false, _) => "index",
    };
    let root = store.paths().root().display();
    let replaced = store.paths().replaced();
    let aside = replaced.display();
    tell(match options.dry_run {
        true => {
            format!("would build the {parts} of {root} anew from its log and move the old ones to {aside}")
        }
        false => format!("building the {parts} of {root} anew from its log; the old ones go to {aside}"),
    });
    let mut progress = ScanProgress::new(store.log_bytes()?);
    let report = rebuild(&store, &options, &mut |done| progress.set(done));
    progress.finish();
    let mut output = arguments.target.output();
    output.block(&report?.fields())?;
    finish(output)?;
    Ok(Outcome::Good)
}
