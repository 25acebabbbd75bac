//! What must not stand in a file.

use anyhow::Result;

use super::Tree;

/// Pieces of text and why not. Each is put together here so that this file does not break its own rule.
const BANNED: [(&str, &str, &str); 8] = [
    ("to", "do!(", "a stub"),
    ("unimpl", "emented!(", "a stub"),
    ("#[ig", "nore", "a test that is switched off"),
    ("assert!(", "true)", "a test that cannot fail"),
    ("/wo", "rk/", "a path of one machine"),
    ("/ho", "me/", "a path of one machine"),
    ("/ro", "ot/", "a path of one machine"),
    ("/tm", "p/", "a path of one machine"),
];

const LOOKED_AT: [&str; 6] = [".rs", ".md", ".toml", ".java", ".js", ".go"];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in LOOKED_AT.iter().flat_map(|ending| tree.ending(ending)) {
        for (number, line) in tree.text(file)?.lines().enumerate() {
            for (head, tail, why) in BANNED {
                if line.contains(&format!("{head}{tail}")) {
                    findings.push(format!("{file}:{}: {why}: {head}{tail}", number + 1));
                }
            }
        }
    }
    Ok(findings)
}
