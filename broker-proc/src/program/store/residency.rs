//! `stratamq store residency`.

use super::{Outcome, Target, finish};
use anyhow::Result;
use clap::Args;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use store_core::Env;
use store_core::inspect::Fields;
use store_core::residency::{Residency, residency};

/// Arguments of `stratamq store residency`.
#[derive(Debug, Args)]
pub(super) struct ResidencyArguments {
    #[command(flatten)]
    target: Target,
    /// One line per directory below PATH instead of one per file.
    #[arg(long)]
    by_part: bool,
}

pub(super) fn run(arguments: &ResidencyArguments) -> Result<Outcome> {
    let env = Env::os();
    let target = &arguments.target;
    let mut output = target.output();
    let mut parts: BTreeMap<String, Residency> = BTreeMap::new();
    let mut total = NOTHING;
    let mut written = Ok(());
    let paths = std::iter::once(&target.path).chain(&target.commit_log);
    for path in paths {
        let _ = residency(env.disk(), path, &mut |file, found| {
            let name = target.relative(file).display().to_string();
            total = total.and(found);
            if arguments.by_part {
                let part = name.split('/').next().unwrap_or_default().to_owned();
                let sum = parts.entry(part).or_insert(NOTHING);
                *sum = sum.and(found);
            } else {
                written = output.row(&row(&name, found), &fields(&name, found));
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    written?;
    for (name, found) in parts.iter().map(|(name, found)| (name.as_str(), *found)).chain([("total", total)]) {
        output.row(&row(name, found), &fields(name, found))?;
    }
    finish(output)?;
    Ok(Outcome::Good)
}

const NOTHING: Residency = Residency { bytes: 0, resident: Some(0) };

fn row(name: &str, found: Residency) -> String {
    let known = |number: Option<u64>| number.map_or("?".to_owned(), |number| number.to_string());
    format!("{:>3} % {:>14} of {:>14}  {name}", known(found.percent()), known(found.resident), found.bytes)
}

fn fields(name: &str, found: Residency) -> Fields {
    let fields = Fields::new().with("path", name).with("bytes", found.bytes);
    match (found.resident, found.percent()) {
        (Some(resident), Some(percent)) => fields.with("resident", resident).with("percent", percent as u32),
        _ => fields,
    }
}
