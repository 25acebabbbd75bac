//! `cargo xtask tidy`: the structure that the documents promise, checked.

mod bans;
mod field_cases;
mod homes;
mod layers;
mod links;
mod mutants;
mod names;
mod where_table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Files that are looked at: what git tracks or would track, as paths from the root of the workspace.
pub struct Tree {
    root: PathBuf,
    files: Vec<String>,
}

impl Tree {
    fn read(root: &Path) -> Result<Self> {
        let output = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("cannot run git")?;
        ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
        let listed = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        // A file that was just deleted is still listed.
        let files = listed.lines().filter(|file| root.join(file).is_file()).map(str::to_owned).collect();
        Ok(Self { root: root.to_owned(), files })
    }

    /// Files whose name ends so.
    fn ending<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.iter().map(String::as_str).filter(move |file| file.ends_with(ending))
    }

    fn text(&self, file: &str) -> Result<String> {
        fs::read_to_string(self.root.join(file)).with_context(|| format!("cannot read {file}"))
    }

    fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}

/// One rule: its name, and what breaks it.
type Rule = (&'static str, fn(&Tree) -> Result<Vec<String>>);

const RULES: [Rule; 8] = [
    ("each crate depends only on the one below", layers::check),
    ("unsafe code has two homes", homes::check),
    ("docs/WHERE.md tells the truth", where_table::check),
    ("docs/FIELD_CASES.md names tests that exist", field_cases::check),
    ("links in documents lead somewhere", links::check),
    ("files and modules are named after what they hold", names::check),
    ("no stubs, no skipped tests, no paths of one machine", bans::check),
    ("every mutation still applies", mutants::check),
];

/// Checks every rule; true when all hold.
pub fn run() -> Result<bool> {
    let tree = Tree::read(&Workspace::locate()?.root)?;
    let mut broken = 0;
    for (rule, check) in RULES {
        let findings = check(&tree)?;
        println!("{} {rule}", if findings.is_empty() { "ok  " } else { "FAIL" });
        for finding in &findings {
            println!("     {finding}");
        }
        broken += usize::from(!findings.is_empty());
    }
    Ok(broken == 0)
}
