//! Bytes that are not what was written.

/// Every beginning of `bytes` that is not all of them.
pub fn truncated(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..bytes.len()).map(|len| &bytes[..len])
}

/// `bytes` with one bit flipped, and the byte it is in.
pub fn flipped(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    (0..bytes.len() * 8).map(|bit| {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        (bit / 8, damaged)
    })
}
