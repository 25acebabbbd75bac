//! Which keys a record has.

use super::format::{self, key_hash_of};
use crate::dispatch::DispatchRequest;

/// Keys under which a record is indexed, in the order they are put: unique id, each message key, tags.
pub fn keys_of(request: &DispatchRequest<'_>, index_tags: bool) -> Vec<String> {
    let mut keys: Vec<String> = message_keys(request).map(|key| format::key_of(request.topic, key)).collect();
    if let Some(tags) = request.tags.filter(|_| index_tags) {
        keys.push(format::tags_key_of(request.topic, tags));
    }
    keys
}

/// Hashes of [`keys_of`] without the tags', in the same order.
pub fn key_hashes_of(request: &DispatchRequest<'_>) -> impl Iterator<Item = u32> {
    message_keys(request).map(|key| key_hash_of(&[request.topic, "#", key]))
}

/// Hashes of [`keys_of`], in the same order.
pub(crate) fn all_key_hashes_of(
    request: &DispatchRequest<'_>,
    index_tags: bool,
) -> impl Iterator<Item = u32> {
    key_hashes_of(request).chain(tags_hash_of(request).filter(|_| index_tags))
}

/// Hash of the tags' key; `None` without tags.
pub fn tags_hash_of(request: &DispatchRequest<'_>) -> Option<u32> {
    request.tags.map(|tags| key_hash_of(&[request.topic, "#T#", tags]))
}

fn message_keys<'a>(request: &DispatchRequest<'a>) -> impl Iterator<Item = &'a str> {
    let keys = request.keys.unwrap_or("").split(' ').filter(|key| !key.is_empty());
    request.uniq_key.into_iter().chain(keys)
}
