//! `stratamq store info`.

use super::{Outcome, Target, finish};
use anyhow::Result;
use clap::Args;
use store_core::Env;
use store_core::inspect::{Fields, Place};

/// Arguments of `stratamq store info`.
#[derive(Debug, Args)]
pub(super) struct InfoArguments {
    #[command(flatten)]
    target: Target,
}

pub(super) fn run(arguments: &InfoArguments) -> Result<Outcome> {
    let env = Env::os();
    let target = &arguments.target;
    let is_file = env.disk().stat(&target.path)?.is_some_and(|stat| stat.kind == store_core::FileKind::File);
    let fields = if is_file {
        let registry = target.registry(&env)?;
        let place = Place::open(env.disk(), &target.path)?;
        let inspector = registry.inspector_of(&place);
        Fields::new()
            .with("path", target.path.display().to_string())
            .with("kind", inspector.name())
            .with("bytes", place.len())
            .with("content", inspector.summarise(&place)?)
    } else {
        target.store(&env)?.info()?
    };
    let mut output = target.output();
    output.block(&fields)?;
    finish(output)?;
    Ok(Outcome::Good)
}
