//! The property string of a record: `name 0x01 value 0x02`, repeated (`MessageDecoder.string2messageProperties`).
//!
//! Readers accept a missing last separator. A pair with an empty name or value is dropped, and of equal names the last
//! one counts, as in Java.

use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Between a name and its value.
pub const NAME_VALUE_SEPARATOR: char = '\u{1}';
/// Behind each pair.
pub const PROPERTY_SEPARATOR: char = '\u{2}';

/// Longest property string in bytes.
pub const MAX_LEN: usize = i16::MAX as usize;

/// Names that the store or the broker interprets.
pub mod names {
    /// Index keys, separated by blanks.
    pub const KEYS: &str = "KEYS";
    /// The tag.
    pub const TAGS: &str = "TAGS";
    /// `false`: do not wait for disk or replica.
    pub const WAIT_STORE_MSG_OK: &str = "WAIT";
    /// Delay level.
    pub const DELAY_TIME_LEVEL: &str = "DELAY";
    /// Topic before the first retry.
    pub const RETRY_TOPIC: &str = "RETRY_TOPIC";
    /// Topic a delayed or half message is meant for.
    pub const REAL_TOPIC: &str = "REAL_TOPIC";
    /// Queue a delayed or half message is meant for.
    pub const REAL_QUEUE_ID: &str = "REAL_QID";
    /// `true` for a half message.
    pub const TRANSACTION_PREPARED: &str = "TRAN_MSG";
    /// Producer group.
    pub const PRODUCER_GROUP: &str = "PGROUP";
    /// Offset id of the message before its first retry.
    pub const ORIGIN_MESSAGE_ID: &str = "ORIGIN_MESSAGE_ID";
    /// Region of the broker, told to the client.
    pub const MSG_REGION: &str = "MSG_REGION";
    /// Whether the client should trace.
    pub const TRACE_SWITCH: &str = "TRACE_ON";
    /// The client's own unique message id.
    pub const UNIQ_CLIENT_MESSAGE_ID_KEYIDX: &str = "UNIQ_KEY";
    /// Times a consumer that resends by itself has consumed the message.
    pub const RECONSUME_TIME: &str = "RECONSUME_TIME";
    /// Its limit of those times.
    pub const MAX_RECONSUME_TIMES: &str = "MAX_RECONSUME_TIMES";
    /// Handle of a popped message; never stored.
    pub const POP_CK: &str = "POP_CK";
    /// Cluster of the broker.
    pub const CLUSTER: &str = "CLUSTER";
    /// Messages in an inner batch.
    pub const INNER_NUM: &str = "INNER_NUM";
    /// First queue offset of an inner batch.
    pub const INNER_BASE: &str = "INNER_BASE";
    /// CRC of the whole record; see `commit_log::format::record_crc`.
    pub const CRC32: &str = "__CRC32#";
    /// Names of the light queues a message goes to, separated by commas; see `multi_dispatch`.
    pub const INNER_MULTI_DISPATCH: &str = "INNER_MULTI_DISPATCH";
    /// Its queue offsets there, in the same order.
    pub const INNER_MULTI_QUEUE_OFFSET: &str = "INNER_MULTI_QUEUE_OFFSET";
    /// Arbitrary delay in seconds.
    pub const TIMER_DELAY_SEC: &str = "TIMER_DELAY_SEC";
    /// Arbitrary delay in milliseconds.
    pub const TIMER_DELAY_MS: &str = "TIMER_DELAY_MS";
    /// Arbitrary time of delivery, epoch milliseconds.
    pub const TIMER_DELIVER_MS: &str = "TIMER_DELIVER_MS";
}

/// Pairs of a property string in their order; dropped are those Java drops.
pub fn pairs(properties: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = properties;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = memchr::memchr(PROPERTY_SEPARATOR as u8, rest.as_bytes()).unwrap_or(rest.len());
            let pair = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or("");
            let Some(middle) = memchr::memchr(NAME_VALUE_SEPARATOR as u8, pair.as_bytes()) else { continue };
            if middle > 0 && middle + 1 < pair.len() {
                return Some((&pair[..middle], &pair[middle + 1..]));
            }
        }
        None
    })
}

/// Value of a property; the last one of equal names.
pub fn get<'a>(properties: &'a str, name: &str) -> Option<&'a str> {
    pairs(properties).filter(|pair| pair.0 == name).last().map(|pair| pair.1)
}

static INNER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("INNER_"));
static CRC32: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(names::CRC32));

/// False when there is certainly no property whose name begins with `INNER_`: the usual case, found out fast.
pub fn may_name_inner(properties: &str) -> bool {
    INNER.find(properties.as_bytes()).is_some()
}

/// True for a property string that another pair cannot simply be put behind: its last separator is missing.
pub fn needs_separator(properties: &str) -> bool {
    !properties.is_empty() && !properties.ends_with(PROPERTY_SEPARATOR)
}

/// The property string without the properties that the store alone writes ([`names::CRC32`],
/// [`names::INNER_MULTI_QUEUE_OFFSET`], [`names::INNER_BASE`]); everything else stays as it is, byte for byte. From a client, or left from where
/// a message was stored before, they would be wrong.
pub fn without_the_stores_own(properties: &str) -> Cow<'_, str> {
    let is_own = |pair: &str| {
        let name = pair.split_once(NAME_VALUE_SEPARATOR).map_or(pair, |pair| pair.0);
        matches!(name, names::CRC32 | names::INNER_MULTI_QUEUE_OFFSET | names::INNER_BASE)
    };
    if !may_name_inner(properties) && CRC32.find(properties.as_bytes()).is_none() {
        return Cow::Borrowed(properties);
    }
    let kept = properties.split_inclusive(PROPERTY_SEPARATOR);
    Cow::Owned(kept.filter(|pair| !is_own(pair.trim_end_matches(PROPERTY_SEPARATOR))).collect())
}

/// Properties that are looked at and changed, in their order.
///
/// All names and values lie in one string, so that a message costs two allocations however many properties it has.
#[derive(Debug, Clone, Default)]
pub struct Properties {
    text: String,
    pairs: Vec<Pair>,
}

/// Where a property lies: its name from `start`, its value right behind.
#[derive(Debug, Clone, Copy)]
struct Pair {
    start: usize,
    name_len: usize,
    value_len: usize,
}

impl Properties {
    /// Room behind a property string that was read: brokers add a few properties.
    const SPARE_TEXT: usize = 96;
    const SPARE_PAIRS: usize = 8;

    /// Reads a property string.
    pub fn parse(properties: &str) -> Self {
        let mut parsed = Self {
            text: String::with_capacity(properties.len() + Self::SPARE_TEXT),
            pairs: Vec::with_capacity(Self::SPARE_PAIRS),
        };
        for (name, value) in pairs(properties) {
            parsed.set(name, value);
        }
        parsed
    }

    /// Value of a property.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.position(name).map(|at| self.value(self.pairs[at]))
    }

    /// Sets a property, keeping its place when it is there. An empty value could not be read back, so it removes it.
    pub fn set(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            self.remove(name);
            return;
        }
        let existing = self.position(name);
        let pair = Pair { start: self.text.len(), name_len: name.len(), value_len: value.len() };
        self.text.push_str(name);
        self.text.push_str(value);
        match existing {
            // What lay there before stays behind, unseen.
            Some(at) => self.pairs[at] = pair,
            None => self.pairs.push(pair),
        }
    }

    /// Removes a property; true when it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        match self.position(name) {
            Some(at) => {
                self.pairs.remove(at);
                true
            }
            None => false,
        }
    }

    /// All pairs.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|&pair| (self.name(pair), self.value(pair)))
    }

    /// The property string, with a separator behind every pair.
    pub fn encode(&self) -> String {
        let mut text =
            String::with_capacity(self.pairs.iter().map(|pair| pair.name_len + pair.value_len + 2).sum());
        for (name, value) in self.iter() {
            text.push_str(name);
            text.push(NAME_VALUE_SEPARATOR);
            text.push_str(value);
            text.push(PROPERTY_SEPARATOR);
        }
        text
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.pairs.iter().position(|&pair| self.name(pair) == name)
    }

    fn name(&self, pair: Pair) -> &str {
        &self.text[pair.start..pair.start + pair.name_len]
    }

    fn value(&self, pair: Pair) -> &str {
        let start = pair.start + pair.name_len;
        &self.text[start..start + pair.value_len]
    }
}

impl PartialEq for Properties {
    /// Equal when the same pairs stand in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Properties {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_java_does() {
        let text = "a\u{1}1\u{2}\u{2}x\u{2}\u{1}v\u{2}n\u{1}\u{2}b\u{1}2\u{1}3\u{2}a\u{1}4";
        assert_eq!(pairs(text).collect::<Vec<_>>(), [("a", "1"), ("b", "2\u{1}3"), ("a", "4")]);
        assert_eq!(get(text, "a"), Some("4"));
        assert_eq!(get(text, "x"), None);
    }

    #[test]
    fn what_the_store_writes_itself_is_taken_out() {
        let kept = "a\u{1}1\u{2}\u{2}b";
        assert!(matches!(without_the_stores_own(kept), Cow::Borrowed(text) if text == kept));
        let all = "__CRC32#\u{1}1\u{2}a\u{1}1\u{2}INNER_MULTI_QUEUE_OFFSET\u{1}3\u{2}b\u{1}__CRC32#\u{1}\u{2}__CRC32#";
        assert_eq!(without_the_stores_own(all), "a\u{1}1\u{2}b\u{1}__CRC32#\u{1}\u{2}");
        assert!(!needs_separator("") && !needs_separator("a\u{1}1\u{2}") && needs_separator("a\u{1}1"));
    }

    #[test]
    fn changes_keep_the_order() {
        let mut properties = Properties::parse("a\u{1}1\u{2}b\u{1}2\u{2}c\u{1}3");
        properties.set("b", "two");
        properties.set("d", "4");
        assert!(properties.remove("a"));
        assert!(!properties.remove("a"));
        assert_eq!(properties.encode(), "b\u{1}two\u{2}c\u{1}3\u{2}d\u{1}4\u{2}");
    }
}
