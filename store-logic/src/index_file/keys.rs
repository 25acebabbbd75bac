//! Which keys a record has.

use super::format;
use crate::dispatch::DispatchRequest;

/// Keys under which a record is indexed, in the order they are put: unique id, each message key, tags.
pub fn keys_of(request: &DispatchRequest<'_>, index_tags: bool) -> Vec<String> {
    let mut keys = Vec::new();
    if let Some(uniq_key) = request.uniq_key {
        keys.push(format::key_of(request.topic, uniq_key));
    }
    let message_keys = request.keys.unwrap_or("").split(' ').filter(|key| !key.is_empty());
    keys.extend(message_keys.map(|key| format::key_of(request.topic, key)));
    if let Some(tags) = request.tags.filter(|_| index_tags) {
        keys.push(format::tags_key_of(request.topic, tags));
    }
    keys
}
