//! `stratamq store usage`.

use super::scan_progress::ScanProgress;
use super::{Outcome, Target, finish};
use anyhow::Result;
use clap::Args;
use store_core::Env;

/// Arguments of `stratamq store usage`.
#[derive(Debug, Args)]
pub(super) struct UsageArguments {
    #[command(flatten)]
    target: Target,
    /// One line per topic, the largest first: reads the whole log.
    #[arg(long)]
    by_topic: bool,
}

pub(super) fn run(arguments: &UsageArguments) -> Result<Outcome> {
    let store = arguments.target.store(&Env::os())?;
    let mut output = arguments.target.output();
    if arguments.by_topic {
        let mut progress = ScanProgress::new(store.log_bytes()?);
        let usages = store.usage_by_topic(&mut |done| progress.set(done));
        progress.finish();
        for usage in usages? {
            output.line(&usage.fields())?;
        }
    } else {
        output.block(&store.usage_by_part()?)?;
    }
    finish(output)?;
    Ok(Outcome::Good)
}
