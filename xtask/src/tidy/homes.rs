//! Where `unsafe` may stand.

use anyhow::Result;

use super::Tree;

/// System calls, and mapped memory.
const HOMES: [&str; 2] = ["store-disk-tools/src/os/linux.rs", "store-mmap/src/mapping/"];
/// Crates that forbid it altogether.
const WITHOUT: [&str; 3] = ["store-logic/src/lib.rs", "store-core/src/lib.rs", "broker-proc/src/lib.rs"];

pub(super) fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").filter(|file| !HOMES.iter().any(|home| file.starts_with(home))) {
        for (number, line) in tree.text(file)?.lines().enumerate() {
            if uses_unsafe(line) {
                findings.push(format!("{file}:{}: unsafe code outside its homes {HOMES:?}", number + 1));
            }
        }
    }
    for file in WITHOUT {
        if !tree.text(file)?.contains("#![forbid(unsafe_code)]") {
            findings.push(format!("{file}: expected #![forbid(unsafe_code)]"));
        }
    }
    Ok(findings)
}

/// The keyword in code; comments and strings that mention it do not count.
fn uses_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    let keyword = concat!("uns", "afe");
    // Its block may begin on the next line.
    let ends_so = code
        .trim_end()
        .strip_suffix(keyword)
        .is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric() || last == '_'));
    let goes_on = ["{", "fn", "impl", "trait", "extern"];
    ends_so || goes_on.iter().any(|after| code.contains(&format!("{keyword} {after}")))
}

#[cfg(test)]
mod tests {
    use super::uses_unsafe;

    #[test]
    fn the_keyword_and_nothing_else() {
        let keyword = concat!("uns", "afe");
        assert!(uses_unsafe(&format!("let x = {keyword} {{ f() }};")));
        assert!(uses_unsafe(&format!("pub {keyword} fn f() {{")));
        assert!(uses_unsafe(&format!("let x = {keyword} // why")));
        assert!(uses_unsafe(&format!("    {keyword}")));
        assert!(!uses_unsafe(&format!("let is_{keyword}")));
        assert!(!uses_unsafe(&format!("// {keyword} {{ }} in a comment")));
        assert!(!uses_unsafe("#![forbid(unsafe_code)]"));
    }
}
