use super::fields::Fields;
use std::fmt;
use std::path::{Path, PathBuf};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost or wrong.
    Note,
    /// Something is lost, wrong or in the wrong place.
    Error,
}

impl Severity {
    /// `note` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Error => "error",
        }
    }
}

/// One thing that is not as it should be, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of thing it is, a name in kebab-case that programs can compare: `missing-unit`.
    pub kind: &'static str,
    /// The file (or directory).
    pub file: PathBuf,
    /// Byte of the file.
    pub offset: Option<u64>,
    /// What it is about, in the terms of the format.
    pub subject: Fields,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl Finding {
    /// An error in a file.
    pub fn error(
        kind: &'static str,
        file: &Path,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            kind,
            file: file.to_owned(),
            offset: None,
            subject: Fields::new(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// A note on a file.
    pub fn note(
        kind: &'static str,
        file: &Path,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Note, ..Self::error(kind, file, expected, found) }
    }

    /// The finding with the byte of the file it is about.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The finding with what it is about.
    #[must_use]
    pub fn about(mut self, subject: Fields) -> Self {
        self.subject = subject;
        self
    }

    /// All of it as fields, for JSON.
    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new()
            .with("severity", self.severity.name())
            .with("kind", self.kind)
            .with("file", self.file.display().to_string());
        if let Some(offset) = self.offset {
            fields.push("fileOffset", offset);
        }
        fields.extend(self.subject.clone());
        fields.with("expected", self.expected.as_str()).with("found", self.found.as_str())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.severity.name(), self.kind, self.file.display())?;
        if let Some(offset) = self.offset {
            write!(f, " byte {offset}")?;
        }
        if !self.subject.is_empty() {
            write!(f, ", {}", self.subject)?;
        }
        let text = Fields::new().with("expected", self.expected.as_str()).with("found", self.found.as_str());
        let part = |name| text.get(name).map(ToString::to_string).unwrap_or_default();
        write!(f, ": expected {}, found {}", part("expected"), part("found"))
    }
}
