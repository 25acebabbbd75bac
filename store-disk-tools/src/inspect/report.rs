use super::fields::{FieldValue, Fields};
use super::finding::Finding;
use std::io::{self, Write};

/// For whom a report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReportFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object per line.
    Json,
}

/// Renders fields and findings to a writer.
#[derive(Debug)]
pub struct Report<W: Write> {
    out: W,
    format: ReportFormat,
}

impl<W: Write> Report<W> {
    /// A report to `out`.
    pub fn new(out: W, format: ReportFormat) -> Self {
        Self { out, format }
    }

    /// Fields on one line.
    pub fn line(&mut self, fields: &Fields) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => writeln!(self.out, "{fields}"),
            ReportFormat::Json => self.json(fields),
        }
    }

    /// Fields one below the other, for people; on one line as JSON.
    pub fn block(&mut self, fields: &Fields) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => self.indented(fields, 0),
            ReportFormat::Json => self.json(fields),
        }
    }

    /// A line for people instead of the fields it was made from.
    pub fn row(&mut self, text: &str, fields: &Fields) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => writeln!(self.out, "{text}"),
            ReportFormat::Json => self.json(fields),
        }
    }

    /// A finding on one line.
    pub fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        match self.format {
            ReportFormat::Text => writeln!(self.out, "{finding}"),
            ReportFormat::Json => self.json(&finding.fields()),
        }
    }

    /// Hands over what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn json(&mut self, fields: &Fields) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, fields)?;
        writeln!(self.out)
    }

    fn indented(&mut self, fields: &Fields, depth: usize) -> io::Result<()> {
        let width = fields.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let indent = depth * 2;
        for (name, value) in fields.iter() {
            match value {
                FieldValue::Fields(inner) if !inner.is_empty() => {
                    writeln!(self.out, "{:indent$}{name}", "")?;
                    self.indented(inner, depth + 1)?;
                }
                FieldValue::List(values) => {
                    writeln!(self.out, "{:indent$}{name}", "")?;
                    for value in values {
                        match value {
                            FieldValue::Fields(inner) => writeln!(self.out, "{:indent$}  {inner}", "")?,
                            other => writeln!(self.out, "{:indent$}  {other}", "")?,
                        }
                    }
                }
                value => writeln!(self.out, "{:indent$}{name:width$}  {value}", "")?,
            }
        }
        Ok(())
    }
}
