//! `xtask/mutants.toml`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Where the table is, from the root of the workspace.
pub const FILE: &str = "xtask/mutants.toml";

/// All mutations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// In the order of the file.
    #[serde(rename = "mutant")]
    pub mutants: Vec<Mutant>,
}

/// One deliberate fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// What it does, in a few words with dashes.
    pub name: String,
    /// The source file, from the root of the workspace.
    pub file: String,
    /// Text that stands in the file exactly once.
    pub search: String,
    /// What stands there instead.
    pub replace: String,
    /// Crate of the tests.
    pub package: String,
    /// `lib`, `models` (the library's models, run under loom), or the name of an integration test.
    pub target: String,
    /// Names of the tests that must fail, or parts of them.
    pub tests: Vec<String>,
}

impl Table {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// When it is not there or not as it should be.
    pub fn read(root: &Path) -> Result<Self> {
        let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
        let table: Self = toml::from_str(&text).with_context(|| format!("cannot understand {FILE}"))?;
        for mutant in &table.mutants {
            ensure!(!mutant.tests.is_empty(), "{FILE}: {} names no test", mutant.name);
        }
        Ok(table)
    }
}

impl Mutant {
    /// The mutated text of the file.
    ///
    /// # Errors
    ///
    /// When the text to be replaced does not stand there exactly once.
    pub fn apply(&self, text: &str) -> Result<String> {
        let found = text.matches(&self.search).count();
        ensure!(found == 1, "{}: expected its text once in {}, found it {found} times", self.name, self.file);
        ensure!(self.search != self.replace, "{}: changes nothing", self.name);
        Ok(text.replacen(&self.search, &self.replace, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutation_applies_once_or_is_an_error() {
        let text = "[[mutant]]\nname = 'n'\nfile = 'f'\nsearch = 'a'\nreplace = 'b'\npackage = 'p'\ntarget = 'lib'\n\
                    tests = ['t']\n";
        let table: Table = toml::from_str(text).unwrap();
        assert_eq!(table.mutants[0].apply("xay").unwrap(), "xby");
        assert!(table.mutants[0].apply("xy").is_err());
        assert!(table.mutants[0].apply("aa").is_err());
    }
}
