//! `stratamq store repair`.

use super::{Outcome, Output, Target, finish};
use crate::program::standard_streams::tell;
use anyhow::Result;
use clap::Args;
use store_core::inspect::Fields;
use store_core::record_format::Checksum;
use store_core::repair::{RepairMode, StoreRepair};
use store_core::{Env, LogDamage};

/// Arguments of `stratamq store repair`.
#[derive(Debug, Args)]
pub(super) struct RepairArguments {
    #[command(flatten)]
    target: Target,
    /// Cut the log at the first damage of all; what stands before it stays.
    #[arg(long, conflicts_with = "skip")]
    keep_before: bool,
    /// Put fillers in the place of every damaged stretch; what stands before and behind it stays.
    #[arg(long)]
    skip: bool,
    /// Only tell what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Check records that have a CRC of their own against that (forceVerifyPropCRC).
    #[arg(long)]
    record_crc: bool,
}

pub(super) fn run(arguments: &RepairArguments) -> Result<Outcome> {
    let env = Env::os();
    let store = arguments.target.stopped_store(&env)?;
    let checksum = if arguments.record_crc { Checksum::Record } else { Checksum::Body };
    let mut output = arguments.target.output();
    let found = store.damages(checksum)?;
    for damage in &found {
        output.row(&damage.summary(), &damage.fields())?;
    }
    let damaged: Vec<&LogDamage> = found.iter().filter(|damage| damage.durable.is_some()).collect();
    if !arguments.target.json && damaged.is_empty() {
        output.row("no damage: there is nothing to repair", &Fields::new())?;
    }
    // Told before anything is done.
    output.flush()?;
    let outcome = mend(arguments, &store, &damaged, &mut output)?;
    finish(output)?;
    match outcome {
        Done::Mended => {
            let left = store.damages(checksum)?;
            let is_left = left.iter().any(|damage| damage.durable.is_some());
            Ok(if is_left { Outcome::Bad } else { Outcome::Good })
        }
        Done::Nothing => Ok(if damaged.is_empty() { Outcome::Good } else { Outcome::Bad }),
    }
}

enum Done {
    Mended,
    Nothing,
}

fn mend(
    arguments: &RepairArguments,
    store: &StoreRepair,
    damaged: &[&LogDamage],
    output: &mut Output<'_>,
) -> Result<Done> {
    let (mode, doing) = match arguments.dry_run {
        true => (RepairMode::DryRun, "would be"),
        false => (RepairMode::Do, "is"),
    };
    let Some(first) = damaged.first() else { return Ok(Done::Nothing) };
    let place = store.set_aside_directory();
    if arguments.keep_before {
        tell(format_args!(
            "the log {doing} cut at {}; what is cut is saved in {}",
            first.log_offset,
            place.display()
        ));
        let done = store.truncate(first.log_offset, mode)?;
        output.line(&described("truncated", arguments.dry_run, done.fields()))?;
    } else if arguments.skip {
        for damage in damaged {
            let (from, to) = (damage.log_offset, damage.resumes_at);
            tell(format_args!(
                "{from}..{to} {doing} filled; what stands there is saved in {}",
                place.display()
            ));
            let done = store.skip(damage, mode)?;
            output.line(&described("skipped", arguments.dry_run, done.fields()))?;
        }
    } else {
        tell("nothing was changed; --keep-before cuts the log there, --skip fills the damaged stretches");
        return Ok(Done::Nothing);
    }
    Ok(if arguments.dry_run { Done::Nothing } else { Done::Mended })
}

fn described(what: &'static str, dry_run: bool, done: Fields) -> Fields {
    let mut fields = Fields::new().with("action", what).with("dryRun", dry_run);
    fields.extend(done);
    fields
}
