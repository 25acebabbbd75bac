//! Relative links in Markdown.

use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::Tree;

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in tree.ending(".md") {
        let directory = Path::new(file).parent().unwrap_or(Path::new(""));
        for (number, line) in tree.text(file)?.lines().enumerate() {
            for target in targets(line) {
                let path = normal(&directory.join(target));
                if !tree.exists(&path.to_string_lossy()) {
                    findings.push(format!("{file}:{}: the link to {target} leads nowhere", number + 1));
                }
            }
        }
    }
    Ok(findings)
}

/// Files that a line links to: not other sites, not places within the same file.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next()?;
        (!target.is_empty() && !target.contains("://")).then_some(target)
    })
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_files_only() {
        let line = "see [a](docs/a.md), [b](../b.md#part) and [site](https://example.org) or [here](#part)";
        assert_eq!(targets(line).collect::<Vec<_>>(), ["docs/a.md", "../b.md"]);
        assert_eq!(normal(Path::new("docs/formats/../b.md")), Path::new("docs/b.md"));
    }
}
