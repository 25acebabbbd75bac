//! Every mutation still applies, and the tests that catch it exist.

use anyhow::Result;

use super::Tree;
use crate::mutants::Table;

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut functions = String::new();
    for file in tree.ending(".rs") {
        functions.extend(tree.text(file)?.lines().filter(|line| line.contains("fn ")));
    }
    for mutant in Table::read(&tree.root)?.mutants {
        let applied = tree.text(&mutant.file).and_then(|text| mutant.apply(&text));
        findings.extend(applied.err().map(|error| format!("{error:#}")));
        for test in &mutant.tests {
            let function = test.rsplit("::").next().unwrap_or(test);
            if !functions.contains(&format!("fn {function}(")) {
                findings.push(format!("{}: there is no test {test}", mutant.name));
            }
        }
    }
    Ok(findings)
}
