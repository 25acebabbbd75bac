//! Bits of a record's `sysFlag` (`MessageSysFlag`).

/// The body is compressed.
pub const COMPRESSED: i32 = 0x1;
/// The topic's messages carry several tags.
pub const MULTI_TAGS: i32 = 0x2;
/// Mask of the transaction bits.
pub const TRANSACTION_MASK: i32 = 0xC;
/// Not part of a transaction.
pub const TRANSACTION_NOT: i32 = 0x0;
/// A half message.
pub const TRANSACTION_PREPARED: i32 = 0x4;
/// A committed message.
pub const TRANSACTION_COMMIT: i32 = 0x8;
/// A rolled back message.
pub const TRANSACTION_ROLLBACK: i32 = 0xC;
/// The producer's address has 16 bytes.
pub const BORN_HOST_V6: i32 = 0x10;
/// The broker's address has 16 bytes.
pub const STORE_HOST_V6: i32 = 0x20;
/// The client must split an inner batch.
pub const NEED_UNWRAP: i32 = 0x40;
/// The record holds several messages.
pub const INNER_BATCH: i32 = 0x80;

/// The transaction bits alone.
pub fn transaction(flag: i32) -> i32 {
    flag & TRANSACTION_MASK
}

/// True for records that get a place in a queue: messages outside transactions and committed ones.
pub fn is_visible(flag: i32) -> bool {
    matches!(transaction(flag), TRANSACTION_NOT | TRANSACTION_COMMIT)
}
