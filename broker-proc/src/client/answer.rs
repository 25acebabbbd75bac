//! An answer together with who gave it to what.

use serde::de::DeserializeOwned;

use super::ClientError;
use crate::remoting::{CommandHeader, RemotingCommand, response_code};

/// The answer of a server, ready to be turned into an error that names the server.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) addr: &'a str,
    /// Code of the request.
    pub(super) request: i32,
    pub(super) command: RemotingCommand,
}

impl Answer<'_> {
    /// Response code.
    pub(super) fn code(&self) -> i32 {
        self.command.code
    }

    /// The answer itself when its code is `SUCCESS`.
    pub(super) fn success(self) -> Result<Self, ClientError> {
        if self.code() == response_code::SUCCESS { Ok(self) } else { Err(self.refused()) }
    }

    /// The error that this answer is, its code being none that was hoped for.
    pub(super) fn refused(&self) -> ClientError {
        ClientError::Refused {
            addr: self.addr.to_owned(),
            what: self.what(),
            code: self.code(),
            remark: self.command.remark.clone().unwrap_or_else(|| "no remark".to_owned()),
        }
    }

    /// The fields as a typed header.
    pub(super) fn header<H: CommandHeader>(&self) -> Result<H, ClientError> {
        self.command.decode_header().map_err(|source| ClientError::Header {
            addr: self.addr.to_owned(),
            what: self.what(),
            source,
        })
    }

    /// The body as JSON.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        self.command.decode_body().map_err(|source| ClientError::Body {
            addr: self.addr.to_owned(),
            what: self.what(),
            source,
        })
    }

    fn what(&self) -> String {
        RemotingCommand::request(self.request).code_name()
    }
}
