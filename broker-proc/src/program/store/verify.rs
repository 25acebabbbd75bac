//! `stratamq store verify`.

use super::scan_progress::ScanProgress;
use super::{Outcome, Output, Target, finish};
use crate::program::standard_streams::tell;
use anyhow::Result;
use clap::Args;
use std::io;
use std::ops::ControlFlow;
use store_core::Env;
use store_core::inspect::{Fields, Finding, Severity};
use store_core::inspectors::StoreInspection;

/// Arguments of `stratamq store verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    target: Target,
    /// Check the records of a whole store against the CRC of the whole record, where they have one, instead of the body's
    /// (forceVerifyPropCRC).
    #[arg(long)]
    record_crc: bool,
    /// Read the same files once more without looking into them, with one CRC32 over all, and tell how many times as long
    /// the check took. Both are measured with the files in the page cache, as far as they fit.
    #[arg(long)]
    baseline: bool,
}

/// Prints findings as they come and counts them.
struct Findings<'a> {
    output: Output<'a>,
    written: io::Result<()>,
    errors: u64,
    notes: u64,
}

impl Findings<'_> {
    fn take(&mut self, finding: &Finding) {
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Note => self.notes += 1,
        }
        if self.written.is_ok() {
            self.written = self.output.finding(finding).and_then(|()| self.output.flush());
        }
    }
}

pub(super) fn run(arguments: &VerifyArguments) -> Result<Outcome> {
    let env = Env::os();
    let target = &arguments.target;
    let mut findings = Findings { output: target.output(), written: Ok(()), errors: 0, notes: 0 };
    let mut store = target.enclosing_store(&env)?;
    if arguments.record_crc {
        store = store.map(StoreInspection::with_record_crc);
    }
    let whole = store.filter(|store| target.is_root(store) || !target.commit_log.is_empty());
    let summary = match &whole {
        Some(store) if arguments.baseline => verify_against_baseline(&env, store, &mut findings)?,
        Some(store) => verify_store(store, &mut findings)?,
        None => verify_files(target, &env, &mut findings)?,
    };
    findings.written?;
    if target.json {
        findings.output.line(&Fields::new().with("summary", summary))?;
    } else {
        tell(summary);
    }
    finish(findings.output)?;
    Ok(if findings.errors == 0 { Outcome::Good } else { Outcome::Bad })
}

fn verify_store(store: &StoreInspection, findings: &mut Findings<'_>) -> Result<Fields> {
    super::warn_in_use(store)?;
    let mut progress = ScanProgress::new(store.log_bytes()?);
    let bar = progress.bar();
    let summary = store.verify(&mut |done| progress.set(done), &mut |finding| {
        bar.suspend(|| findings.take(&finding));
    });
    progress.finish();
    Ok(summary?.fields())
}

/// The check between two plain reads: the first one brings the files into the page cache, the second one is measured.
fn verify_against_baseline(
    env: &Env,
    store: &StoreInspection,
    findings: &mut Findings<'_>,
) -> Result<Fields> {
    store.plain_read()?;
    let began = env.clock().monotonic();
    let summary = verify_store(store, findings)?;
    let verified = env.clock().monotonic();
    let read = store.plain_read()?;
    let verify = verified.saturating_sub(began);
    let plain = env.clock().monotonic().saturating_sub(verified);
    let ratio = verify.as_secs_f64() / plain.as_secs_f64().max(f64::EPSILON);
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let baseline = read
        .fields()
        .with("plainReadMillis", millis(plain))
        .with("verifyMillis", millis(verify))
        .with("ratio", format!("{ratio:.2}"));
    Ok(summary.with("baseline", baseline))
}

/// A part of a store, or a file that was taken out of one: each file by itself.
fn verify_files(target: &Target, env: &Env, findings: &mut Findings<'_>) -> Result<Fields> {
    let registry = target.registry(env)?;
    let mut files = 0_u64;
    let _ = registry.walk(env.disk(), &target.path, &mut |place, inspector| {
        files += 1;
        inspector.verify(place, &mut |finding| findings.take(&finding))?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Fields::new().with("files", files).with("errors", findings.errors).with("notes", findings.notes))
}
