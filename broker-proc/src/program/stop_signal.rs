//! The signals by which the program is asked to stop.

use super::standard_streams::tell;
use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit status of a stop that did not wait for anything.
const STOPPED_AT_ONCE: i32 = 1;

/// Watches for SIGINT, SIGTERM and SIGHUP from now on; the future ends with the first of them, also with one that came
/// before it was awaited. A SIGINT or SIGTERM after that ends the process at once.
///
/// SIGHUP stays ignored when the program was started so (`nohup`).
pub(super) fn watch_for_stop() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
    let mut hang_up = if is_hang_up_ignored() {
        None
    } else {
        Some(signal(SignalKind::hangup()).context("cannot watch for SIGHUP")?)
    };
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            () = received(&mut hang_up) => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            tell("stratamq: asked to stop again: stopped at once, without what was left to do");
            std::process::exit(STOPPED_AT_ONCE);
        });
    })
}

/// Ends when the process is asked to stop.
pub(super) async fn stop_signal() -> Result<()> {
    watch_for_stop()?.await;
    Ok(())
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

fn is_hang_up_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hang_up(&status))
}

/// Reads the mask of ignored signals; its lowest bit is signal 1, SIGHUP.
fn ignores_hang_up(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::ignores_hang_up;

    #[test]
    fn the_mask_of_ignored_signals() {
        assert!(ignores_hang_up("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n"));
        assert!(!ignores_hang_up("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n"));
        assert!(!ignores_hang_up(""));
    }
}
