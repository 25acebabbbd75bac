//! The remoting protocol: frames over TCP, one request or answer a frame.
//!
//! From the wire upwards: [`frame`] cuts the byte stream, [`json_header`] and [`binary_header`] are the two
//! encodings of a header, [`RemotingCommand`] is what they carry. [`headers`] gives the text fields of a
//! command their types, [`protocol`] the JSON bodies. [`RemotingServer`] and [`RemotingClient`] move commands
//! over sockets; both ends may ask and both may answer, through a [`Channel`].

pub mod binary_header;
mod body;
mod channel;
mod client;
mod command;
mod connection;
mod ext_fields;
pub mod frame;
mod handler;
pub mod headers;
pub mod json_header;
mod language_code;
pub mod mq_version;
pub mod protocol;
pub mod request_code;
pub mod response_code;
mod serialize_type;
mod server;
#[cfg(test)]
mod test_handler;

pub use body::Body;
pub use channel::{Channel, ChannelError};
pub use client::{ClientOptions, RemotingClient};
pub use command::RemotingCommand;
pub use connection::ConnectionOptions;
pub use ext_fields::ExtFields;
pub use frame::{FrameError, FrameLimits};
pub use handler::{RejectRequests, Reply, RequestHandler};
pub use headers::{CommandHeader, HeaderError};
pub use language_code::LanguageCode;
pub use serialize_type::SerializeType;
pub use server::{RemotingServer, ServerOptions};
