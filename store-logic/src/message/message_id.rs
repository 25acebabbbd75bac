//! The offset message id: where a record lies, as text (`MessageDecoder.createMessageId`).

use crate::message::host;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Upper-case hex of address, port (4 bytes) and log position (8 bytes): 32 or 56 characters.
///
/// ```
/// let id = store_logic::message::message_id::encode(&"192.168.0.1:10911".parse().unwrap(), 123_456);
/// assert_eq!(id, "C0A8000100002A9F000000000001E240");
/// ```
pub fn encode(store_host: &SocketAddr, phy_offset: u64) -> String {
    let mut bytes = Vec::with_capacity(host::V6_LEN + 8);
    host::encode(store_host, &mut bytes);
    bytes.extend_from_slice(&phy_offset.to_be_bytes());
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(UPPER_HEX[usize::from(byte >> 4)]));
        text.push(char::from(UPPER_HEX[usize::from(byte & 0xf)]));
    }
    text
}

/// Address and log position of an id; `None` when the text is none.
pub fn decode(text: &str) -> Option<(SocketAddr, u64)> {
    let ip_len = match text.len() {
        32 => 4,
        56 => 16,
        _ => return None,
    };
    let bytes = decode_hex(text)?;
    let ip = if ip_len == 4 {
        IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(&bytes[..4]).ok()?))
    } else {
        IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[..16]).ok()?))
    };
    let port = u32::from_be_bytes(bytes[ip_len..ip_len + 4].try_into().ok()?);
    let offset = u64::from_be_bytes(bytes[ip_len + 4..].try_into().ok()?);
    Some((SocketAddr::new(ip, u16::try_from(port).ok()?), offset))
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().map(|byte| char::from(byte).to_digit(16)).collect::<Option<Vec<_>>>()?;
    Some(digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_it_encodes() {
        for (host, offset) in [("10.9.8.7:10911", 0_u64), ("[::1]:22911", u64::MAX)] {
            let host: SocketAddr = host.parse().unwrap();
            assert_eq!(decode(&encode(&host, offset)), Some((host, offset)));
        }
    }

    #[test]
    fn other_text_is_no_id() {
        for text in ["", "C0A8", &"G".repeat(32), &"é".repeat(16), &"F".repeat(32)] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
