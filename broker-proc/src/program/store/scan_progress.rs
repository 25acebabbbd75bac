use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Work that is done by then needs no bar.
const SHOW_AFTER: Duration = Duration::from_millis(500);
/// Bytes between two looks at the clock.
const STEP: u64 = 1 << 20;

/// A bar on standard error over the bytes of the log, for a person who waits; nothing when that is no terminal.
#[derive(Debug)]
pub(super) struct ScanProgress {
    bar: ProgressBar,
    began: Instant,
    shown: bool,
    next: u64,
}

impl ScanProgress {
    /// A bar over `total` bytes that appears when it takes long.
    pub(super) fn new(total: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let template = "{wide_bar} {bytes}/{total_bytes} ({bytes_per_sec}, {eta} left)";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, began: Instant::now(), shown: false, next: 0 }
    }

    /// `done` bytes are done.
    pub(super) fn set(&mut self, done: u64) {
        if done < self.next {
            return;
        }
        self.next = done + STEP;
        self.bar.set_position(done);
        if !self.shown && self.began.elapsed() >= SHOW_AFTER {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// The bar itself, to print around it.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
