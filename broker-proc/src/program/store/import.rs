//! `stratamq store import`.

use super::scan_progress::ScanProgress;
use super::{Outcome, Target, finish};
use crate::program::standard_streams::tell;
use anyhow::{Context as _, Result};
use clap::Args;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use store_core::Env;
use store_core::config::MessageStoreConfig;
use store_core::exchange::{ImportOptions, NOT_KEPT, import};
use store_core::inspectors::StoreInspection;

/// Bytes read ahead of the input.
const BUFFER: usize = 1 << 20;

/// Arguments of `stratamq store import`.
#[derive(Debug, Args)]
pub(super) struct ImportArguments {
    #[command(flatten)]
    target: Target,
    /// Lines that `export` wrote; `-` for standard input.
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Bytes of a log file (mappedFileSizeCommitLog) of a store that is made; default 1 GiB.
    #[arg(long, value_name = "N")]
    log_file_size: Option<u64>,
    /// Delays of the levels (messageDelayLevel), for messages that are delayed; default: RocketMQ's.
    #[arg(long, value_name = "LEVELS")]
    message_delay_level: Option<String>,
    /// Change nothing: read every line and tell what would be put.
    #[arg(long)]
    dry_run: bool,
}

impl ImportArguments {
    fn config(&self, env: &Env) -> Result<MessageStoreConfig> {
        let target = &self.target;
        let is_store = StoreInspection::root_of(env, &target.path)?.as_deref() == Some(&*target.path);
        let mut config = if is_store {
            target.root_store(env)?.into_config()
        } else {
            let mut config = MessageStoreConfig::new(&target.path);
            config.store_path_commit_log.clone_from(&target.commit_log);
            config.index.max_hash_slot_num = target.slots.unwrap_or(config.index.max_hash_slot_num);
            config.index.max_index_num = target.index_num.unwrap_or(config.index.max_index_num);
            let size = config.commit_log.mapped_file_size_commit_log;
            config.commit_log.mapped_file_size_commit_log = self.log_file_size.unwrap_or(size);
            config
        };
        if let Some(levels) = &self.message_delay_level {
            config.delay_levels =
                levels.parse().map_err(anyhow::Error::from).context("--message-delay-level")?;
        }
        let what = if is_store { "appending to" } else { "making" };
        let would = if self.dry_run { "dry run of " } else { "" };
        tell(format_args!("{would}{what} the store {}; {NOT_KEPT}", target.path.display()));
        Ok(config)
    }

    fn input(&self) -> Result<(Box<dyn BufRead>, u64)> {
        if self.file == Path::new("-") {
            return Ok((Box::new(BufReader::with_capacity(BUFFER, io::stdin())), 0));
        }
        let file = File::open(&self.file).with_context(|| self.file.display().to_string())?;
        let len = file.metadata().map_or(0, |metadata| metadata.len());
        Ok((Box::new(BufReader::with_capacity(BUFFER, file)), len))
    }
}

pub(super) fn run(arguments: &ImportArguments) -> Result<Outcome> {
    let env = Env::os();
    let (mut input, len) = arguments.input()?;
    let config = arguments.config(&env)?;
    let options = ImportOptions { dry_run: arguments.dry_run };
    let mut progress = ScanProgress::new(len);
    let report = import(&env, config, &mut input, options, &mut |read| progress.set(read));
    progress.finish();
    let mut output = arguments.target.output();
    output.block(&report?.fields())?;
    finish(output)?;
    Ok(Outcome::Good)
}
