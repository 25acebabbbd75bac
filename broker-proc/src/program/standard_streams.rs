//! Writing to standard output and standard error when somebody may have closed them: that ends nothing.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Writes a line to standard output.
pub(super) fn print_line(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Writes a line for people to standard error.
pub(super) fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
