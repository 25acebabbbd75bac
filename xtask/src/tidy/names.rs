//! Names and sizes of files.

use std::path::Path;

use anyhow::Result;

use super::Tree;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = ["util", "utils", "common", "base", "helper", "helpers", "impl", "misc"];
/// Lines a file of production code may have, its tests included; more is two concepts.
const MOST_LINES: usize = 500;
/// Lines of a file of tests.
const MOST_TEST_LINES: usize = 900;

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        let path = Path::new(file);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem == "mod" {
            findings.push(format!("{file}: a module is a file and a folder of its name, never mod.rs"));
        }
        if EMPTY_NAMES.contains(&stem) {
            findings.push(format!("{file}: the name says nothing about what is inside"));
        }
        let text = tree.text(file)?;
        let lines = text.lines().count();
        let is_test = stem == "tests" || file.contains("/tests/");
        let most = if is_test { MOST_TEST_LINES } else { MOST_LINES };
        if lines > most {
            findings.push(format!("{file}: {lines} lines, expected at most {most}; split it by meaning"));
        }
        if stem == "lib" && !text.starts_with("//!") {
            findings.push(format!("{file}: expected an essay (//!) at the top of the crate"));
        }
    }
    Ok(findings)
}
