//! The table of faults met in the field, and the tests that keep them from coming back.

use anyhow::Result;

use super::Tree;

const FILE: &str = "docs/FIELD_CASES.md";

/// Every test that the table names must be a function of the file it is said to be in.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut cases = 0;
    for (number, line) in tree.text(FILE)?.lines().enumerate() {
        let Some(row) = row(line) else { continue };
        cases += 1;
        for (path, test) in tests_in(row) {
            let found = tree.exists(path) && defines(&tree.text(path)?, test);
            if !found {
                findings.push(format!("{FILE}:{}: there is no test {test} in {path}", number + 1));
            }
        }
    }
    if cases == 0 {
        findings.push(format!("{FILE}: expected a table of cases, found none"));
    }
    Ok(findings)
}

/// What a line of the table says about its case: the last column.
fn row(line: &str) -> Option<&str> {
    let columns: Vec<&str> = line.strip_prefix("| F")?.strip_suffix('|')?.split('|').collect();
    columns.last().copied()
}

/// Pairs of file and test: names in backticks belong to the last file before them.
fn tests_in(row: &str) -> Vec<(&str, &str)> {
    let mut path = None;
    let mut tests = Vec::new();
    for name in row.split('`').skip(1).step_by(2) {
        if name.ends_with(".rs") {
            path = Some(name);
        } else if let Some(path) = path {
            tests.push((path, name));
        }
    }
    tests
}

fn defines(source: &str, test: &str) -> bool {
    source.contains(&format!("fn {test}("))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_follow_their_file() {
        let line = "| F07 | a `key` | `a/b.rs` `field_F07_x`, `y`; `c.rs` `z` |";
        assert_eq!(tests_in(row(line).unwrap()), [("a/b.rs", "field_F07_x"), ("a/b.rs", "y"), ("c.rs", "z")]);
        assert_eq!(tests_in(row("| F08 | title | later: replication (`haListenPort`) |").unwrap()), []);
        assert_eq!(row("|---|---|"), None);
    }

    #[test]
    fn functions_are_found_by_their_whole_name() {
        let source = "#[test]\nfn field_F07_x() {}\n";
        assert!(defines(source, "field_F07_x") && !defines(source, "field_F07"));
    }
}
