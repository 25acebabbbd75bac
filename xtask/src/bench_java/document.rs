//! The table, and `docs/performance/` made from it.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::bars::Row;
use super::chart::{self, Bars};

const TITLES: [&str; 8] = ["work", "figure", "StrataMQ", "limit", "Java", "ratio", "bar", ""];

/// How the figures were taken.
pub struct How<'a> {
    pub machine: &'a str,
    pub rounds: u32,
    pub quick: bool,
}

/// All rows as a table of Markdown.
pub fn table(rows: &[Row]) -> String {
    let line = |cells: &[String; 8]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&TITLES.map(str::to_owned));
    text += "|---|---|---|---|---|---|---|---|\n";
    for row in rows {
        text += &line(&row.cells());
    }
    text
}

/// Writes the table and the charts.
///
/// # Errors
/// A file cannot be written.
pub fn write(directory: &Path, how: &How<'_>, rows: &[Row]) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join("results.md"), results(how, rows))?;
    let rates = rows.iter().filter(|row| row.unit == "messages/s");
    fs::write(directory.join("throughput.svg"), chart::svg("Messages per second", &bars(rates)))?;
    let cpu = rows.iter().filter(|row| row.figure.ends_with("CPU per message"));
    fs::write(directory.join("cpu.svg"), chart::svg("CPU time per message, microseconds", &bars(cpu)))?;
    Ok(())
}

fn results(how: &How<'_>, rows: &[Row]) -> String {
    let warning = match how.quick {
        true => "\nOf a short run (`--quick`): these figures show that everything runs, and little else.\n",
        false => "",
    };
    format!(
        "# Results\n\nMade by `cargo xtask bench-java --write`; what each figure means is told in [README.md](README.md).\n\
         {warning}\n\
         Machine: {machine}.\n\n\
         Median of {rounds} (least–greatest), StrataMQ and Java in turn. The ratio is StrataMQ's figure over what the bar \
         speaks of.\n\n\
         {table}\n\
         ![Messages per second](throughput.svg)\n\n\
         ![CPU time per message](cpu.svg)\n",
        machine = how.machine,
        rounds = match how.rounds {
            1 => "1 round".to_owned(),
            rounds => format!("{rounds} rounds"),
        },
        table = table(rows),
    )
}

/// Each figure of a work once.
fn bars<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<Bars> {
    let mut bars: Vec<Bars> = Vec::new();
    for row in rows {
        let label = format!("{}: {}", row.work, row.figure);
        let mut values = vec![("StrataMQ", row.ours.median())];
        values.extend(row.java.as_ref().map(|java| ("Java", java.median())));
        if row.bar.contains("limit") {
            values.extend(row.limit.as_ref().map(|limit| ("limit", limit.1.median())));
        }
        match bars.iter_mut().find(|bars| bars.label == label) {
            Some(bars) if bars.values.len() < values.len() => bars.values = values,
            Some(_) => {}
            None => bars.push(Bars { label, values }),
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_java::bars::{Bar, Expected};
    use crate::bench_java::contestants::Measured;

    #[test]
    fn a_row_has_a_cell_for_each_title() {
        let mut measured = Measured::default();
        measured.ours.entry("put".to_owned()).or_default().add(5.0);
        let row = Row::of("work", &Bar::new("put", "messages/s", Expected::AtMost(6.0)), &measured);
        let text = results(&How { machine: "a machine", rounds: 1, quick: true }, &[row]);
        assert!(text.contains("| work | put messages/s | 5.00 |  |  |  | ≤ 6.00 | met |"), "{text}");
        assert!(text.contains("Machine: a machine.") && text.contains("--quick"), "{text}");
    }
}
