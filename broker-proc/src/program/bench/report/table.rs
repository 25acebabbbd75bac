use super::Report;
use std::fmt::Write as _;

/// Column titles.
const TITLES: [&str; 5] = ["figure", "ours", "limit", "measured as", "ours / limit"];

impl Report {
    /// The report for people: settings, machine, one row per figure and limit, checks, notes.
    pub(in super::super) fn table(&self) -> String {
        let mut text = self.work.to_owned();
        for setting in &self.settings {
            let _ = write!(text, " {}={}", setting.name, setting.value);
        }
        let _ = writeln!(text, "\non {}", self.machine);
        let rows = self.rows();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 5] = std::array::from_fn(width);
        for row in &rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                let _ = write!(line, "{cell:width$}  ");
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        for check in &self.checks {
            let _ = match check.right {
                true => writeln!(text, "right  {}: {}", check.name, check.found),
                false => {
                    writeln!(
                        text,
                        "WRONG  {}: expected {}, found {}",
                        check.name, check.expected, check.found
                    )
                }
            };
        }
        for note in &self.notes {
            let _ = writeln!(text, "note   {note}");
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn rows(&self) -> Vec<[String; 5]> {
        let mut rows = vec![TITLES.map(str::to_owned)];
        for figure in &self.figures {
            let ours = format!("{} {}", number(figure.value), figure.unit);
            if figure.limits.is_empty() {
                rows.push([figure.name.clone(), ours, String::new(), String::new(), String::new()]);
                continue;
            }
            for (place, limit) in figure.limits.iter().enumerate() {
                let (name, ours) = match place {
                    0 => (figure.name.clone(), ours.clone()),
                    _ => (String::new(), String::new()),
                };
                let ratio = limit.ratio.map_or_else(String::new, number);
                rows.push([name, ours, number(limit.value), limit.name.clone(), ratio]);
            }
        }
        rows
    }
}

/// Three digits that say something; from a thousand on all digits, in groups.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        let digits = format!("{:.0}", size);
        let mut text = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        return if value < 0.0 { format!("-{text}") } else { text };
    }
    let decimals = match size {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_show_what_matters() {
        let shown = [0.0, 0.1234, 1.234, 12.34, 123.4, 1234.6, 1_234_567.0, -2000.0].map(number);
        assert_eq!(shown, ["0", "0.123", "1.23", "12.3", "123", "1,235", "1,234,567", "-2,000"]);
    }
}
