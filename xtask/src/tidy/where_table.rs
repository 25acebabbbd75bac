//! The table that says where things are.

use anyhow::Result;

use super::Tree;

const FILE: &str = "docs/WHERE.md";

/// Every path in backticks in the last column of a table must exist.
pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut paths = 0;
    for (number, line) in tree.text(FILE)?.lines().enumerate() {
        for path in paths_in(line) {
            paths += 1;
            if !tree.exists(path) {
                findings.push(format!("{FILE}:{}: {path} does not exist", number + 1));
            }
        }
    }
    if paths == 0 {
        findings
            .push(format!("{FILE}: expected a table with paths in backticks in its last column, found none"));
    }
    Ok(findings)
}

fn paths_in(line: &str) -> impl Iterator<Item = &str> {
    let row = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|'));
    let last = row.and_then(|row| row.rsplit('|').next()).unwrap_or("");
    last.split('`').skip(1).step_by(2).filter(|text| text.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::paths_in;

    #[test]
    fn paths_stand_in_the_last_column() {
        let row = "| `a/b` concept | `x/y.rs`, `z/` and `Type` |";
        assert_eq!(paths_in(row).collect::<Vec<_>>(), ["x/y.rs", "z/"]);
        assert_eq!(paths_in("no table `a/b`").count(), 0);
        assert_eq!(paths_in("|---|---|").count(), 0);
    }
}
