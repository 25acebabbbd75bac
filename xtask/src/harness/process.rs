//! Programs that run to their end within a deadline.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use wait_timeout::ChildExt;

/// How many lines of a log are shown with a failure.
const TAIL_LINES: usize = 12;

/// Starts a program whose standard output and error go to a file (behind what is already in it).
///
/// # Errors
/// When the log cannot be opened or the program cannot be started.
pub fn spawn(command: &mut Command, log: &Path) -> Result<Child> {
    let file = File::options().create(true).append(true).open(log);
    let file = file.with_context(|| format!("cannot open {}", log.display()))?;
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdout(file.try_clone()?).stderr(file);
    command.spawn().with_context(|| format!("cannot start {program}"))
}

/// Waits for the end of a program; kills it at the deadline.
///
/// # Errors
/// When it had to be killed or cannot be waited for.
pub fn wait(child: &mut Child, deadline: Duration) -> Result<ExitStatus> {
    if let Some(status) = child.wait_timeout(deadline)? {
        return Ok(status);
    }
    child.kill()?;
    child.wait()?;
    bail!("did not end within {} s and was killed", deadline.as_secs());
}

/// Runs a program with no input to a successful end.
///
/// # Errors
/// When it cannot be started, ends with a failure or passes the deadline; the end of its log is part of the
/// error.
pub fn run(command: &mut Command, log: &Path, deadline: Duration) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let outcome = spawn(command.stdin(Stdio::null()), log).and_then(|mut child| wait(&mut child, deadline));
    match outcome {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{program} ended with {status}\n{}", tail(log)),
        Err(error) => bail!("{program}: {error:#}\n{}", tail(log)),
    }
}

/// The name and the last lines of a log, for an error message.
pub fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    format!("{} ends with:\n{}", log.display(), shown.join("\n"))
}
