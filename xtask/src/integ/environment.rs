//! What this machine lets a check do.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::harness::report::NotRun;

/// Set in the process that runs in its own mount namespace.
const INSIDE: &str = "XTASK_INTEG_PRIVATE_MOUNTS";
const UNSHARE: [&str; 4] = ["unshare", "--mount", "--propagation", "private"];

/// Goes on in a mount namespace of this process's own, by starting this program again in its place. Returns there, or when
/// it cannot be had.
///
/// # Errors
/// [`NotRun`] with the reason why nothing can be mounted.
pub fn enter_private_mounts() -> Result<(), NotRun> {
    if env::var_os(INSIDE).is_some() {
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        return Err(NotRun("needs root to mount file systems".to_owned()));
    }
    let attempt = unshare().arg("true").stdin(Stdio::null()).output();
    let attempt = attempt.map_err(|error| NotRun(format!("needs the program unshare: {error}")))?;
    if !attempt.status.success() {
        let reason = String::from_utf8_lossy(&attempt.stderr).trim().to_owned();
        return Err(NotRun(format!("needs a mount namespace: {reason}")));
    }
    let program = env::current_exe().map_err(|error| NotRun(format!("cannot start again: {error}")))?;
    let error = unshare().arg(program).args(env::args_os().skip(1)).env(INSIDE, "1").exec();
    Err(NotRun(format!("cannot start again in a mount namespace: {error}")))
}

fn unshare() -> Command {
    let mut command = Command::new(UNSHARE[0]);
    command.args(&UNSHARE[1..]);
    command
}

/// Programs to put in front of a process that shall end with this one, however it ends; none where that cannot be had.
pub fn ending_with_this_process() -> Vec<String> {
    let wrapper = ["setpriv", "--pdeathsig", "KILL"];
    let attempt = Command::new(wrapper[0]).args(&wrapper[1..]).arg("true").stdin(Stdio::null()).output();
    let can = attempt.is_ok_and(|attempt| attempt.status.success());
    if can { wrapper.map(str::to_owned).to_vec() } else { Vec::new() }
}

/// Whether a program is on the path.
pub fn has_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// # Errors
/// [`NotRun`] when a program is not on the path.
pub fn require_program(name: &str) -> Result<()> {
    if has_program(name) { Ok(()) } else { Err(NotRun(format!("needs the program {name}")).into()) }
}
