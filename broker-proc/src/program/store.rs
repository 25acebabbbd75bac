//! `stratamq store`: looks at the files of a store, whoever wrote them; the verbs that change something say what.

mod cat;
mod dump;
mod export;
mod import;
mod info;
mod ls;
mod probe;
mod ranges;
mod rebuild;
mod repair;
mod residency;
mod scan_progress;
mod truncate;
mod usage;
mod verify;

use super::error_text::error_text;
use super::standard_streams::tell;
use anyhow::{Context, Result, anyhow};
use clap::{Args, Subcommand};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store_core::Env;
use store_core::inspect::{Registry, Report, ReportFormat};
use store_core::inspectors::{InspectOptions, StoreInspection};
use store_core::repair::StoreRepair;

/// Arguments of `stratamq store`.
#[derive(Debug, Args)]
pub struct StoreArguments {
    #[command(subcommand)]
    verb: StoreVerb,
}

#[derive(Debug, Subcommand)]
enum StoreVerb {
    /// List the files of a store and what they are.
    Ls(ls::LsArguments),
    /// Tell what this is, and what a start of a broker would do to it.
    Info(info::InfoArguments),
    /// List what log, queues, index, checkpoint or settings hold.
    Dump(dump::DumpArguments),
    /// Print messages, found by offset, id or key.
    Cat(cat::CatArguments),
    /// Check log, queues, index and checkpoint against each other; every record's CRC. Exit status: 0 clean, 1 errors
    /// found, 2 cannot read.
    Verify(verify::VerifyArguments),
    /// Write messages as JSON, one per line, with everything that is in their records.
    Export(export::ExportArguments),
    /// Append exported messages to a store that is not in use, or make a store of them.
    Import(import::ImportArguments),
    /// Build queues and index anew from the log; the old ones are kept in stratamq.replaced.
    Rebuild(rebuild::RebuildArguments),
    /// Tell what of each file is in the page cache; reads nothing.
    Residency(residency::ResidencyArguments),
    /// Tell what the disk below a directory can do: writes and deletes one file there.
    Probe(probe::ProbeArguments),
    /// Cut the log of a stopped store at a position. Saves what is cut in stratamq.cut; queues and index follow at the
    /// next start.
    Truncate(truncate::TruncateArguments),
    /// List damage in the log of a stopped store, or mend it. Exit status: 0 no damage left, 1 damage found, 2 cannot
    /// read or write.
    Repair(repair::RepairArguments),
    /// Tell how much space the parts of a store take, or its topics.
    Usage(usage::UsageArguments),
}

/// What every verb takes.
#[derive(Debug, Args)]
struct Target {
    /// Store root, or a file or directory in it.
    path: PathBuf,
    /// Print JSON, one object per line; numbers of 64 bits are text.
    #[arg(long)]
    json: bool,
    /// Directories of the log, when it is not below the root (storePathCommitLog), `,` between them.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    commit_log: Vec<PathBuf>,
    /// Slots of an index file (maxHashSlotNum), which are not in the file; default: as the store's notes say, else
    /// 5000000.
    #[arg(long, value_name = "N")]
    slots: Option<u32>,
    /// Entries of an index file (maxIndexNum); default: as the store's notes say, else 20000000.
    #[arg(long, value_name = "N")]
    index_num: Option<u32>,
}

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// As asked.
    Good,
    /// Errors were found, or nothing was.
    Bad,
}

/// Exit status when something cannot be read.
const CANNOT_READ: u8 = 2;

type Output<'a> = Report<BufWriter<io::StdoutLock<'a>>>;

pub(super) fn run(arguments: &StoreArguments) -> ExitCode {
    let outcome = match &arguments.verb {
        StoreVerb::Ls(arguments) => ls::run(arguments),
        StoreVerb::Info(arguments) => info::run(arguments),
        StoreVerb::Dump(arguments) => dump::run(arguments),
        StoreVerb::Cat(arguments) => cat::run(arguments),
        StoreVerb::Verify(arguments) => verify::run(arguments),
        StoreVerb::Export(arguments) => export::run(arguments),
        StoreVerb::Import(arguments) => import::run(arguments),
        StoreVerb::Rebuild(arguments) => rebuild::run(arguments),
        StoreVerb::Residency(arguments) => residency::run(arguments),
        StoreVerb::Probe(arguments) => probe::run(arguments),
        StoreVerb::Truncate(arguments) => truncate::run(arguments),
        StoreVerb::Repair(arguments) => repair::run(arguments),
        StoreVerb::Usage(arguments) => usage::run(arguments),
    };
    match outcome {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::FAILURE,
        // Whoever reads has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(format_args!("stratamq store: {}", error_text(&error)));
            ExitCode::from(CANNOT_READ)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(kind))
}

impl Target {
    fn options(&self) -> InspectOptions {
        InspectOptions {
            commit_log: self.commit_log.clone(),
            max_hash_slot_num: self.slots,
            max_index_num: self.index_num,
        }
    }

    fn output(&self) -> Output<'static> {
        let format = if self.json { ReportFormat::Json } else { ReportFormat::Text };
        Report::new(BufWriter::new(io::stdout().lock()), format)
    }

    /// True when the path is the store root itself.
    fn is_root(&self, store: &StoreInspection) -> bool {
        store.paths().root() == self.path
    }

    /// The store that the path belongs to; `None` when it lies outside of any.
    fn enclosing_store(&self, env: &Env) -> Result<Option<StoreInspection>> {
        let path = std::path::absolute(&self.path).context("cannot tell where that is")?;
        if env.disk().stat(&path)?.is_none() {
            return Err(anyhow!("{}: expected a store or a part of one, found nothing", self.path.display()));
        }
        // A root that was named as such stands before one that encloses it.
        let found = StoreInspection::root_of(env, &self.path)?.or(StoreInspection::root_of(env, &path)?);
        found.map(|root| StoreInspection::open(env, &root, &self.options())).transpose().map_err(Into::into)
    }

    /// The store whose root or part the path is.
    fn store(&self, env: &Env) -> Result<StoreInspection> {
        let store = match self.enclosing_store(env)? {
            Some(store) => store,
            None => StoreInspection::open(env, &self.path, &self.options())?,
        };
        warn_in_use(&store)?;
        Ok(store)
    }

    /// The store whose root the path is: what changes a store is told of the whole of it.
    fn root_store(&self, env: &Env) -> Result<StoreInspection> {
        Ok(StoreInspection::open(env, &self.path, &self.options())?)
    }

    /// The store whose root the path is, locked for whoever changes it.
    fn stopped_store(&self, env: &Env) -> Result<StoreRepair> {
        let root =
            self.enclosing_store(env)?.map_or(self.path.clone(), |store| store.paths().root().to_owned());
        if !self.is_same_path(&root)? {
            return Err(anyhow!(
                "{}: expected a store root, such as {}",
                self.path.display(),
                root.display()
            ));
        }
        Ok(StoreRepair::open(env, &root, &self.options())?)
    }

    fn is_same_path(&self, other: &Path) -> Result<bool> {
        let absolute = |path: &Path| std::path::absolute(path).context("cannot tell where that is");
        Ok(absolute(&self.path)? == absolute(other)?)
    }

    /// Inspectors for the path, whether it is in a store or was taken out of one.
    fn registry(&self, env: &Env) -> Result<Registry> {
        Ok(match self.enclosing_store(env)? {
            Some(store) => store.registry(),
            None => store_core::inspectors::registry(env, &self.options()),
        })
    }

    /// A path below the target, as it is shown.
    fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.path).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path)
    }
}

/// A store in use changes while it is looked at.
fn warn_in_use(store: &StoreInspection) -> Result<()> {
    if let Some(holder) = store.in_use()? {
        let who = holder.pid.map_or("a broker".to_owned(), |pid| format!("process {pid}"));
        tell(format_args!(
            "warning: {who} is using this store; what it writes meanwhile may look as if it were missing"
        ));
    }
    Ok(())
}

fn finish<W: Write>(mut output: Report<W>) -> Result<()> {
    output.flush().context("cannot write the result")
}
