//! A message as the store takes it in, and what its parts mean.

pub mod host;
pub mod message_id;
pub mod properties;
pub mod sys_flag;
pub mod tags_code;

use std::net::SocketAddr;

/// A message to be stored. The store fills in what it decides itself: queue offset, log position, store time, CRC.
#[doc(alias = "MessageExtBrokerInner")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// Topic.
    pub topic: &'a str,
    /// Queue of the topic.
    pub queue_id: i32,
    /// The application's flag; the store does not look at it.
    pub flag: i32,
    /// Bits of [`sys_flag`]; the store adds the IPv6 bits.
    pub sys_flag: i32,
    /// When the producer made it, epoch milliseconds.
    pub born_timestamp: i64,
    /// Where the producer sits.
    pub born_host: SocketAddr,
    /// Address of this broker that clients know: it becomes part of the message id.
    pub store_host: SocketAddr,
    /// How often consumers have sent it back.
    pub reconsume_times: i32,
    /// Log position of the half message, for a committed one; else 0.
    pub prepared_transaction_offset: i64,
    /// Content, compressed or not.
    pub body: &'a [u8],
    /// Property string, see [`properties`].
    pub properties: &'a str,
}
