//! Cutting a byte stream into frames and commands into bytes.
//!
//! ```text
//! 0  total length, counts everything behind itself (4 bytes)
//! 4  serialize type (1 byte)
//! 5  header length (3 bytes)
//! 8  header, then body
//! ```

use bytes::{Buf as _, BytesMut};
use store_core::java_json::JavaJsonError;

use super::{Body, RemotingCommand, SerializeType, binary_header, json_header};

/// Bytes in front of the header.
const PREFIX_LEN: usize = 8;
/// Bytes of the total length, which does not count itself.
const LENGTH_LEN: usize = 4;
/// Largest frame of every peer, its length field included: Java's `com.rocketmq.remoting.frameMaxLength`.
pub const MAX_FRAME_LEN: usize = 16 * 1024 * 1024;
/// Largest header length that three bytes can say.
const MAX_HEADER_FIELD: usize = 0x00FF_FFFF;

/// What a receiver accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    /// Largest frame in bytes, its length field included.
    pub max_frame_len: usize,
    /// Largest header in bytes.
    pub max_header_len: usize,
}

impl FrameLimits {
    /// Limits of a server. A property string may have 32,767 bytes, of which JSON makes up to six times as
    /// many; somewhat more than that must still arrive, to be refused with an answer instead of a closed
    /// connection.
    pub const SERVER: Self = Self { max_frame_len: MAX_FRAME_LEN, max_header_len: 1024 * 1024 };
    /// Limits of a client: the answer to a batch lists the ids of all its messages in the header.
    pub const CLIENT: Self = Self { max_frame_len: MAX_FRAME_LEN, max_header_len: MAX_HEADER_FIELD };
}

/// Why bytes are no frame, or a command cannot become one. Every one of them ends the connection when it is
/// met on reading: the stream cannot be trusted from there on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The announced frame is too long.
    #[error("frame of {len} bytes announced, at most {limit} are accepted")]
    TooLong {
        /// Announced length, the length field included.
        len: u64,
        /// Largest accepted length.
        limit: usize,
    },
    /// The announced frame has no room for its own prefix.
    #[error("frame length {len} announced, at least 4 expected")]
    TooShort {
        /// Announced length without the length field.
        len: u32,
    },
    /// Byte 4 is no known encoding.
    #[error("serialize type {found} found, 0 (JSON) or 1 (ROCKETMQ) expected")]
    SerializeType {
        /// The byte.
        found: u8,
    },
    /// The header is longer than the frame or than what is accepted.
    #[error("header of {len} bytes announced, at most {limit} are possible here")]
    HeaderTooLong {
        /// Announced header length.
        len: usize,
        /// Bytes left in the frame, or the receiver's limit if smaller.
        limit: usize,
    },
    /// The JSON header does not parse.
    #[error("header: {0}")]
    JsonHeader(#[from] JavaJsonError),
    /// A number of the JSON header is none.
    #[error("header field {name}: a 32-bit integer expected, found `{found}`")]
    HeaderField {
        /// Name of the field.
        name: &'static str,
        /// Its text, shortened.
        found: String,
    },
    /// A length in the binary header does not fit.
    #[error("binary header at byte {offset}: {wanted} bytes expected for {what}, found {left}")]
    BinaryHeader {
        /// What was being read.
        what: &'static str,
        /// Where, from the start of the header or of the block of fields.
        offset: usize,
        /// Announced or needed length.
        wanted: i64,
        /// Bytes that are left.
        left: usize,
    },
    /// The header has too many fields.
    #[error("header with more than {limit} fields")]
    TooManyFields {
        /// Largest accepted number.
        limit: usize,
    },
}

/// Takes the next whole frame from the front of `received`; `None` when more bytes are needed.
///
/// A frame that breaks a limit is refused as soon as its prefix is there. Nothing is reserved for announced
/// bytes: memory follows what has arrived.
///
/// # Errors
///
/// [`FrameError`]; the content of `received` is of no use then.
pub fn decode(received: &mut BytesMut, limits: FrameLimits) -> Result<Option<RemotingCommand>, FrameError> {
    let Some(prefix) = Prefix::read(received, limits)? else {
        return Ok(None);
    };
    if received.len() < prefix.frame_len {
        return Ok(None);
    }
    let mut frame = received.split_to(prefix.frame_len);
    let body = frame.split_off(PREFIX_LEN + prefix.header_len);
    frame.advance(PREFIX_LEN);
    let mut command = match prefix.serialize {
        SerializeType::Json => json_header::decode(&frame)?,
        SerializeType::RocketMq => binary_header::decode(&frame)?,
    };
    if !body.is_empty() {
        command.body = Body::from(body.freeze());
    }
    Ok(Some(command))
}

/// The checked numbers in front of a header.
struct Prefix {
    /// Length of the whole frame in bytes.
    frame_len: usize,
    header_len: usize,
    serialize: SerializeType,
}

impl Prefix {
    /// Reads as much of the prefix as has arrived; `None` when it is incomplete.
    fn read(received: &[u8], limits: FrameLimits) -> Result<Option<Self>, FrameError> {
        let Some((length, rest)) = received.split_first_chunk::<LENGTH_LEN>() else {
            return Ok(None);
        };
        let announced = u32::from_be_bytes(*length);
        let frame_len = u64::from(announced) + LENGTH_LEN as u64;
        let too_long = FrameError::TooLong { len: frame_len, limit: limits.max_frame_len };
        let frame_len = usize::try_from(frame_len).ok().filter(|&len| len <= limits.max_frame_len);
        let frame_len = frame_len.ok_or(too_long)?;
        if frame_len < PREFIX_LEN {
            return Err(FrameError::TooShort { len: announced });
        }
        let Some(&[serialize, high, middle, low]) = rest.first_chunk::<4>() else {
            return Ok(None);
        };
        let serialize =
            SerializeType::from_code(serialize).ok_or(FrameError::SerializeType { found: serialize })?;
        let header_len = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        let limit = limits.max_header_len.min(frame_len - PREFIX_LEN);
        if header_len > limit {
            return Err(FrameError::HeaderTooLong { len: header_len, limit });
        }
        Ok(Some(Self { frame_len, header_len, serialize }))
    }
}

/// Appends prefix and header of `command` to `out`; the parts of the body must follow.
///
/// # Errors
///
/// [`FrameError::TooLong`] or [`FrameError::HeaderTooLong`]; `out` is as before then.
pub fn encode_head(command: &RemotingCommand, out: &mut Vec<u8>) -> Result<(), FrameError> {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX_LEN]);
    let serialize = match command.serialize {
        SerializeType::RocketMq if binary_header::fits(command) => {
            binary_header::encode(command, out);
            SerializeType::RocketMq
        }
        _ => {
            json_header::encode(command, out);
            SerializeType::Json
        }
    };
    let header_len = out.len() - start - PREFIX_LEN;
    match prefix_of(serialize, header_len, command.body.len()) {
        Ok(prefix) => {
            out[start..start + PREFIX_LEN].copy_from_slice(&prefix);
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

fn prefix_of(
    serialize: SerializeType,
    header_len: usize,
    body_len: usize,
) -> Result<[u8; PREFIX_LEN], FrameError> {
    let frame_len = PREFIX_LEN + header_len + body_len;
    if frame_len > MAX_FRAME_LEN {
        let len = u64::try_from(frame_len).unwrap_or(u64::MAX);
        return Err(FrameError::TooLong { len, limit: MAX_FRAME_LEN });
    }
    let header_too_long = FrameError::HeaderTooLong { len: header_len, limit: MAX_HEADER_FIELD };
    let header_field =
        u32::try_from(header_len).ok().filter(|_| header_len <= MAX_HEADER_FIELD).ok_or(header_too_long)?;
    let length = u32::try_from(frame_len - LENGTH_LEN).unwrap_or(u32::MAX).to_be_bytes();
    let [_, high, middle, low] = header_field.to_be_bytes();
    Ok([length[0], length[1], length[2], length[3], serialize.code(), high, middle, low])
}

/// The whole frame of `command` in one piece.
///
/// # Errors
///
/// As [`encode_head`].
pub fn encode(command: &RemotingCommand) -> Result<Vec<u8>, FrameError> {
    let mut out = Vec::with_capacity(256 + command.body.len());
    encode_head(command, &mut out)?;
    command.body.parts().iter().for_each(|part| out.extend_from_slice(part));
    Ok(out)
}

#[cfg(test)]
mod tests;
