//! Addresses inside records: the bytes of the IP address, then the port as 4 bytes.

use crate::bytes::Reader;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes of a host field with an IPv4 address.
pub const V4_LEN: usize = 8;
/// Bytes of a host field with an IPv6 address.
pub const V6_LEN: usize = 20;

/// The address to store: one mapped into IPv6 (`::ffff:a.b.c.d`, what a dual-stack listener reports) becomes IPv4,
/// since several clients cannot read 16-byte hosts.
pub fn canonical(host: SocketAddr) -> SocketAddr {
    SocketAddr::new(host.ip().to_canonical(), host.port())
}

/// Bytes of the host field.
pub fn encoded_len(host: &SocketAddr) -> usize {
    if host.is_ipv4() { V4_LEN } else { V6_LEN }
}

/// Appends the host field.
pub fn encode(host: &SocketAddr, out: &mut Vec<u8>) {
    match host.ip() {
        IpAddr::V4(ip) => out.extend_from_slice(&ip.octets()),
        IpAddr::V6(ip) => out.extend_from_slice(&ip.octets()),
    }
    out.extend_from_slice(&u32::from(host.port()).to_be_bytes());
}

/// Reads a host field; `None` when bytes are missing or the port is none (above 65535), which Java refuses too.
pub fn decode(reader: &mut Reader<'_>, v6: bool) -> Option<SocketAddr> {
    let ip = if v6 {
        IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(reader.take(16)?).ok()?))
    } else {
        IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(reader.take(4)?).ok()?))
    };
    let port = u16::try_from(reader.i32()?).ok()?;
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_there_and_back() {
        for text in ["10.1.2.3:12345", "[2001:db8::1]:80"] {
            let host: SocketAddr = text.parse().unwrap();
            let mut bytes = Vec::new();
            encode(&host, &mut bytes);
            assert_eq!(bytes.len(), encoded_len(&host));
            assert_eq!(decode(&mut Reader::new(&bytes), host.is_ipv6()), Some(host));
        }
    }

    #[test]
    fn mapped_addresses_become_v4() {
        let host = canonical("[::ffff:1.2.3.4]:5".parse().unwrap());
        assert_eq!(host.to_string(), "1.2.3.4:5");
    }
}
