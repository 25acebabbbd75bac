//! Names on the command line are checked before anything is sent, with the remarks a broker would answer.

use crate::topic_validator::{validate_group, validate_topic};

/// A topic.
pub(super) fn parse_topic(text: &str) -> Result<String, String> {
    validate_topic(text).map(|()| text.to_owned())
}

/// A producer or consumer group.
pub(super) fn parse_group(text: &str) -> Result<String, String> {
    validate_group(text).map(|()| text.to_owned())
}
