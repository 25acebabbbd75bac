//! `stratamq store ls`.

use super::{Outcome, Target, finish};
use anyhow::Result;
use clap::Args;
use std::ops::ControlFlow;
use store_core::Env;
use store_core::inspect::Fields;

/// Arguments of `stratamq store ls`.
#[derive(Debug, Args)]
pub(super) struct LsArguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(arguments: &LsArguments) -> Result<Outcome> {
    let env = Env::os();
    let target = &arguments.target;
    let registry = target.registry(&env)?;
    let mut output = target.output();
    let mut written = Ok(());
    let _ = registry.walk(env.disk(), &target.path, &mut |place, inspector| {
        // One unreadable file must not hide the others.
        let content = match inspector.summarise(place) {
            Ok(summary) => summary,
            Err(error) => Fields::new().with("unreadable", error.to_string()),
        };
        let path = target.relative(place.path()).display().to_string();
        let row = format!("{:13} {:>12}  {path}  {content}", inspector.name(), place.len());
        let fields = Fields::new()
            .with("path", path)
            .with("kind", inspector.name())
            .with("bytes", place.len())
            .with("content", content);
        written = output.row(&row, &fields);
        Ok(if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    written?;
    finish(output)?;
    Ok(Outcome::Good)
}
