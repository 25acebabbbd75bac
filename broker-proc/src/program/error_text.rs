//! An error and its causes on one line.

/// The error and its causes, outermost first; a cause that the text before it contains already is not said again.
pub(super) fn error_text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::error_text;
    use std::io;

    /// As errors of the disk are: the text has the cause, and so has the chain.
    #[derive(Debug, thiserror::Error)]
    #[error("cannot open x: {source}")]
    struct Open {
        source: io::Error,
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the log cannot be read")]
    struct Log(#[source] Open);

    fn open() -> Open {
        Open { source: io::Error::other("no space left") }
    }

    #[test]
    fn every_cause_once() {
        assert_eq!(error_text(&anyhow::Error::new(open())), "cannot open x: no space left");
        let error = anyhow::Error::new(Log(open())).context("no start");
        assert_eq!(error_text(&error), "no start: the log cannot be read: cannot open x: no space left");
    }
}
