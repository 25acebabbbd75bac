use std::borrow::Cow;

use store_core::tags_code::java_string_hash;

use crate::remoting::protocol::SubscriptionData;

/// Expression that selects every message.
pub const SUB_ALL: &str = "*";
/// Expression type of tag lists; a missing type means this one.
pub const TAG: &str = "TAG";

/// What a group wants of a topic, prepared for matching.
///
/// The hashes a client sends are not trusted (some send text, some send none): they are computed again from the
/// expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    data: SubscriptionData,
    selects_all: bool,
    /// Sorted hashes of the tags; few enough for a binary search to beat a hash set.
    tag_codes: Vec<i32>,
}

impl Subscription {
    /// The subscription a pull carries itself (system flag bit 4).
    ///
    /// # Errors
    /// `sub_string` is a tag list without a tag, such as `||`.
    pub fn parse(
        topic: &str,
        sub_string: Option<&str>,
        expression_type: Option<&str>,
    ) -> Result<Self, String> {
        let data = SubscriptionData {
            topic: topic.to_owned(),
            sub_string: sub_string.unwrap_or_default().to_owned(),
            expression_type: expression_type.unwrap_or_default().to_owned(),
            ..SubscriptionData::default()
        };
        let subscription = Self::new(data);
        if subscription.is_tag_type() && !subscription.selects_all && subscription.tag_codes.is_empty() {
            return Err(format!("no tag in the expression `{}`", subscription.data.sub_string));
        }
        Ok(subscription)
    }

    /// The subscription of a heartbeat. A tag list without a tag selects nothing.
    pub fn new(mut data: SubscriptionData) -> Self {
        if data.expression_type.is_empty() {
            data.expression_type = TAG.to_owned();
        }
        if data.expression_type != TAG {
            return Self { data, selects_all: false, tag_codes: Vec::new() };
        }
        if data.sub_string.trim().is_empty() {
            data.sub_string = SUB_ALL.to_owned();
        }
        let selects_all = data.sub_string == SUB_ALL;
        let tags: Vec<String> = if selects_all { Vec::new() } else { split_tags(&data.sub_string) };
        let mut tag_codes: Vec<i32> = tags.iter().map(|tag| java_string_hash(tag)).collect();
        tag_codes.sort_unstable();
        tag_codes.dedup();
        data.code_set = tag_codes.iter().copied().collect();
        data.tags_set = tags.into_iter().collect();
        Self { data, selects_all, tag_codes }
    }

    /// The subscription as it goes over the wire, with the computed hashes.
    pub fn data(&self) -> &SubscriptionData {
        &self.data
    }

    /// Whether the expression is a tag list.
    pub fn is_tag_type(&self) -> bool {
        self.data.expression_type == TAG
    }

    /// Whether a message with this hash in its queue unit may be wanted; `None` when the hash is not known. Only tag
    /// lists say no here: other expressions need the message's properties, class filters run in the client.
    pub fn matches_tags_code(&self, tags_code: Option<i64>) -> bool {
        if self.selects_all || self.data.class_filter_mode || !self.is_tag_type() {
            return true;
        }
        // The queue keeps the 32-bit hash in 64 bits; only the low half is compared.
        tags_code.is_none_or(|code| self.tag_codes.binary_search(&(code as i32)).is_ok())
    }

    /// The expression, for messages and logs.
    pub fn expression(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.data.sub_string)
    }
}

/// Splits `a || b` at the double bars and drops blanks and empty parts.
fn split_tags(expression: &str) -> Vec<String> {
    expression.split("||").map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(expression: &str) -> Subscription {
        Subscription::parse("T", Some(expression), None).expect(expression)
    }

    #[test]
    fn everything() {
        for text in [None, Some(""), Some("*"), Some("  ")] {
            let all = Subscription::parse("T", text, None).expect("all");
            assert_eq!((all.data().sub_string.as_str(), all.data().expression_type.as_str()), ("*", "TAG"));
            assert!(all.matches_tags_code(Some(7)) && all.matches_tags_code(None));
        }
    }

    #[test]
    fn tags_are_hashed_as_java_does() {
        let tags = parse(" TagA || 标签||😀|| TagA ");
        assert_eq!(tags.data().code_set.iter().copied().collect::<Vec<_>>(), [857_175, 1_772_899, 2_598_919]);
        assert_eq!(tags.data().tags_set.len(), 3);
        for code in [857_175, 1_772_899, 2_598_919] {
            assert!(tags.matches_tags_code(Some(code)), "{code}");
        }
        assert!(!tags.matches_tags_code(Some(0)), "an untagged message");
        assert!(tags.matches_tags_code(None), "unknown: look at the message");
    }

    #[test]
    fn only_the_low_half_of_the_queue_unit_counts() {
        // `polygenelubricants` has the hash i32::MIN, kept as a negative 64-bit number.
        let tags = parse("polygenelubricants");
        assert!(tags.matches_tags_code(Some(i64::from(i32::MIN))));
        assert!(tags.matches_tags_code(Some(0x8000_0000)));
        assert!(!tags.matches_tags_code(Some(i64::MIN)));
    }

    #[test]
    fn a_list_without_a_tag() {
        assert!(Subscription::parse("T", Some("||"), Some("TAG")).is_err());
        let data = SubscriptionData { sub_string: " || ".to_owned(), ..SubscriptionData::default() };
        assert!(!Subscription::new(data).matches_tags_code(Some(1)));
    }

    #[test]
    fn hashes_of_the_client_are_not_believed() {
        let data = SubscriptionData {
            sub_string: "TagA".to_owned(),
            code_set: [1, 2].into_iter().collect(),
            ..SubscriptionData::default()
        };
        let subscription = Subscription::new(data);
        assert!(subscription.matches_tags_code(Some(2_598_919)) && !subscription.matches_tags_code(Some(1)));
    }

    #[test]
    fn other_expressions_are_decided_elsewhere() {
        let sql = Subscription::parse("T", Some("a > 1"), Some("SQL92")).expect("sql");
        assert!(!sql.is_tag_type() && sql.matches_tags_code(Some(1)));
        assert_eq!(sql.expression(), "a > 1");
        let class = SubscriptionData {
            class_filter_mode: true,
            sub_string: "TagA".to_owned(),
            ..SubscriptionData::default()
        };
        assert!(Subscription::new(class).matches_tags_code(Some(1)));
    }
}
