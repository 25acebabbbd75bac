//! What goes wrong between a client and its servers.

use store_core::java_json::JavaJsonError;

use super::received_message::RecordError;
use crate::remoting::protocol::MessageQueue;
use crate::remoting::{ChannelError, HeaderError, response_code};

/// Why a client could not do what it was asked for. Every message names the server concerned.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The list of name servers has no address.
    #[error("name servers: expected HOST:PORT, several separated by `;`, found `{found}`")]
    NameServerList {
        /// The text found.
        found: String,
    },
    /// No connection, or no answer in time.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// A server refused.
    #[error("{addr} answered {what} with {code}: {remark}", code = code_text(*code))]
    Refused {
        /// Address of the server.
        addr: String,
        /// Name of the request.
        what: String,
        /// Response code.
        code: i32,
        /// What the server says about it.
        remark: String,
    },
    /// An answer lacks a field or has a malformed one.
    #[error("answer of {addr} to {what}: {source}")]
    Header {
        /// Address of the server.
        addr: String,
        /// Name of the request.
        what: String,
        /// Which field.
        source: HeaderError,
    },
    /// The body of an answer is not what it should be.
    #[error("answer of {addr} to {what}: {source}")]
    Body {
        /// Address of the server.
        addr: String,
        /// Name of the request.
        what: String,
        /// Where the body is wrong.
        source: JavaJsonError,
    },
    /// Pulled bytes are no messages.
    #[error("messages of {queue} from {addr}: {source}")]
    Records {
        /// Address of the broker.
        addr: String,
        /// The queue.
        queue: MessageQueue,
        /// What is wrong with them.
        source: Box<RecordError>,
    },
    /// The topic is unknown and is not created by sending to it.
    #[error("topic {topic}: no route known to {name_servers}")]
    NoRoute {
        /// The topic.
        topic: String,
        /// Addresses of the name servers.
        name_servers: String,
    },
    /// The topic has a route, but not for this.
    #[error("topic {topic}: no {what} in its route")]
    NoQueue {
        /// The topic.
        topic: String,
        /// What is missing.
        what: String,
    },
    /// The broker does not list this consumer among the members of its group.
    #[error("{addr} does not list {client_id} among the members of group {group}")]
    NotMember {
        /// Address of the broker.
        addr: String,
        /// The group.
        group: String,
        /// This consumer.
        client_id: String,
    },
    /// A message that no broker would take.
    #[error("message for topic {topic}: {reason}")]
    IllegalMessage {
        /// Its topic.
        topic: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A request body could not be written as JSON.
    #[error("request: {0}")]
    Request(#[from] JavaJsonError),
    /// A background task of the client died.
    #[error("{0} ended unexpectedly")]
    TaskDied(&'static str),
}

impl ClientError {
    /// Whether sending the same message to another queue may help. The codes are those of Java's producers; a
    /// message whose connection broke may have been stored, so that a retry can make a duplicate with the same id.
    #[must_use]
    pub fn is_worth_a_retry(&self) -> bool {
        match self {
            Self::Channel(ChannelError::Backlog { .. }) => false,
            Self::Channel(_) => true,
            Self::Refused { code, .. } => matches!(
                *code,
                response_code::TOPIC_NOT_EXIST
                    | response_code::SERVICE_NOT_AVAILABLE
                    | response_code::SYSTEM_ERROR
                    | response_code::SYSTEM_BUSY
                    | response_code::NO_PERMISSION
                    | response_code::NO_BUYER_ID
                    | response_code::NOT_IN_CURRENT_UNIT
            ),
            _ => false,
        }
    }
}

/// A response code with its name.
fn code_text(code: i32) -> String {
    response_code::name(code).map_or_else(|| code.to_string(), |name| format!("{name} ({code})"))
}

#[cfg(test)]
mod tests {
    use super::ClientError;
    use crate::remoting::ChannelError;

    fn refused(code: i32) -> ClientError {
        let (addr, what) = ("10.0.0.1:10911".to_owned(), "PULL_MESSAGE (11)".to_owned());
        ClientError::Refused { addr, what, code, remark: "the group is unknown".to_owned() }
    }

    #[test]
    fn a_refusal_names_address_code_and_remark() {
        assert_eq!(
            refused(26).to_string(),
            "10.0.0.1:10911 answered PULL_MESSAGE (11) with SUBSCRIPTION_GROUP_NOT_EXIST (26): the group is unknown"
        );
        assert!(refused(4711).to_string().contains("with 4711: "));
    }

    #[test]
    fn what_is_worth_a_retry() {
        assert!(refused(2).is_worth_a_retry() && refused(17).is_worth_a_retry());
        assert!(!refused(13).is_worth_a_retry() && !refused(29).is_worth_a_retry());
        let (peer, what) = ("10.0.0.1:10911".to_owned(), "SEND_MESSAGE_V2 (310)".to_owned());
        let closed = ChannelError::Closed { peer: peer.clone(), what: what.clone() };
        assert!(ClientError::from(closed).is_worth_a_retry());
        let backlog = ChannelError::Backlog { peer, what, unsent: 1 };
        assert!(!ClientError::from(backlog).is_worth_a_retry());
    }
}
