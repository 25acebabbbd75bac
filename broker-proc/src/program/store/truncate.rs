//! `stratamq store truncate`.

use super::{Outcome, Target, finish};
use crate::program::standard_streams::tell;
use anyhow::Result;
use clap::Args;
use store_core::Env;
use store_core::inspect::Fields;
use store_core::repair::RepairMode;

/// Arguments of `stratamq store truncate`.
#[derive(Debug, Args)]
pub(super) struct TruncateArguments {
    #[command(flatten)]
    target: Target,
    /// Where the log is to end: a position in the log at which a record or a damaged stretch begins.
    #[arg(long, value_name = "OFFSET")]
    at: u64,
    /// Only tell what would be done.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &TruncateArguments) -> Result<Outcome> {
    let env = Env::os();
    let target = &arguments.target;
    let store = target.stopped_store(&env)?;
    let planned = store.truncate(arguments.at, RepairMode::DryRun)?;
    tell(format_args!(
        "{} the log at {}: {} good records, {} B; they are saved in {} first",
        if arguments.dry_run { "would cut" } else { "cutting" },
        planned.log_end,
        planned.records,
        planned.saved.cut_bytes,
        store.set_aside_directory().display(),
    ));
    let mode = if arguments.dry_run { RepairMode::DryRun } else { RepairMode::Do };
    let done = if arguments.dry_run { planned } else { store.truncate(arguments.at, mode)? };
    let mut output = target.output();
    let mut fields = Fields::new().with("dryRun", arguments.dry_run);
    fields.extend(done.fields());
    output.block(&fields)?;
    finish(output)?;
    Ok(Outcome::Good)
}
