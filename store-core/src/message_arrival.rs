/// A message that can be read from now on.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// Topic.
    pub topic: &'a str,
    /// Queue of the topic.
    pub queue_id: i32,
    /// Offset behind the message.
    pub next_offset: u64,
    /// Hash of its tags.
    pub tags_code: i64,
    /// When it was stored.
    pub store_timestamp: i64,
    /// Its property string.
    pub properties: &'a str,
}

/// Told of every message once it can be read: long polling hangs on it.
///
/// Threading: called on the dispatcher's thread, in log order; it must not block
/// and must not call the store's writing side.
pub trait MessageArrivingListener: Send + Sync {
    /// A message arrived.
    fn arriving(&self, arrival: &Arrival<'_>);
}
