//! A progress bar for people, on standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use super::standard_streams::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done by then needs no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);

/// Counts what is done and shows it when it takes long and somebody looks.
///
/// Nothing is shown when standard error is no terminal, or when the results scroll over the same terminal anyway.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// The bar's own count jumps to its goal when it is taken away.
    count: u64,
    start: Instant,
    visible: bool,
}

impl Progress {
    /// Progress towards `total`, or without a goal; `unit` is the plural of what is counted.
    #[must_use]
    pub fn new(total: Option<u64>, unit: impl Into<Cow<'static, str>>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_message(unit);
        let template = match total {
            Some(_) => "{wide_bar} {human_pos}/{human_len} {msg} ({per_sec}, {eta} left)",
            None => "{spinner} {human_pos} {msg} ({per_sec})",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, count: 0, start: Instant::now(), visible: false }
    }

    /// `count` more are done.
    pub fn add(&mut self, count: u64) {
        self.count += count;
        self.bar.set_position(self.count);
        if !self.visible && self.start.elapsed() >= SHOW_AFTER {
            self.visible = true;
            if !io::stdout().is_terminal() {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
    }

    /// How many are done.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Writes a line for people to standard error, above the bar.
    pub fn note(&self, line: &str) {
        self.bar.suspend(|| tell(line));
    }

    /// Takes the bar away and says what was done in which time: `sent 1000 messages in 0.52 s (1923/s)`.
    pub fn finish(&self, verb: &str) {
        self.bar.finish_and_clear();
        let unit = self.bar.message();
        tell(summary(verb, self.count, &unit, self.start.elapsed()));
    }
}

fn summary(verb: &str, count: u64, unit: &str, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    format!("{verb} {count} {unit} in {seconds:.2} s ({rate:.0}/s)")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Progress, summary};

    #[test]
    fn a_summary_has_count_time_and_rate() {
        let text = summary("sent", 1000, "messages", Duration::from_millis(520));
        assert_eq!(text, "sent 1000 messages in 0.52 s (1923/s)");
        assert_eq!(summary("sent", 0, "messages", Duration::ZERO), "sent 0 messages in 0.00 s (0/s)");
    }

    #[test]
    fn what_is_counted_does_not_depend_on_the_goal() {
        let mut short = Progress::new(Some(5), "messages");
        short.add(1);
        short.add(2);
        short.finish("sent");
        assert_eq!(short.count(), 3);
        let mut beyond = Progress::new(Some(1), "messages");
        beyond.add(2);
        assert_eq!(beyond.count(), 2);
    }
}
