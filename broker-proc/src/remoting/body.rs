//! Body of a command: bytes that are handed on without copying.

use bytes::{Bytes, BytesMut};

/// What follows the header of a frame. Cheap to clone; may consist of several parts, which are written one
/// after the other, so that an answer to a pull can refer to records where they lie.
#[derive(Debug, Clone, Default)]
pub struct Body(Parts);

#[derive(Debug, Clone, Default)]
enum Parts {
    #[default]
    None,
    One(Bytes),
    Many(Vec<Bytes>),
}

impl Body {
    /// A body of no bytes. On the wire it is the same as none at all.
    #[must_use]
    pub const fn empty() -> Self {
        Self(Parts::None)
    }

    /// A body of several parts in this order.
    #[must_use]
    pub fn from_parts(mut parts: Vec<Bytes>) -> Self {
        parts.retain(|part| !part.is_empty());
        match parts.len() {
            0 => Self::empty(),
            1 => Self(parts.pop().map_or(Parts::None, Parts::One)),
            _ => Self(Parts::Many(parts)),
        }
    }

    /// The parts, none of them empty.
    #[must_use]
    pub fn parts(&self) -> &[Bytes] {
        match &self.0 {
            Parts::None => &[],
            Parts::One(part) => std::slice::from_ref(part),
            Parts::Many(parts) => parts,
        }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts().iter().map(Bytes::len).sum()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }

    /// The whole body as one piece; copies only when there are several parts.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match self.parts() {
            [] => Bytes::new(),
            [part] => part.clone(),
            parts => {
                let mut joined = BytesMut::with_capacity(self.len());
                parts.iter().for_each(|part| joined.extend_from_slice(part));
                joined.freeze()
            }
        }
    }
}

impl PartialEq for Body {
    /// Bodies are equal when their bytes are, however they are cut.
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl Eq for Body {}

impl From<Bytes> for Body {
    fn from(part: Bytes) -> Self {
        if part.is_empty() { Self::empty() } else { Self(Parts::One(part)) }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::Body;

    #[test]
    fn parts_count_as_one_body() {
        let cut = Body::from_parts(vec![Bytes::from_static(b"ab"), Bytes::new(), Bytes::from_static(b"c")]);
        assert_eq!((cut.len(), cut.parts().len()), (3, 2));
        assert_eq!(cut.to_bytes(), "abc");
        assert_eq!(cut, Body::from(b"abc".to_vec()));
        assert_ne!(cut, Body::from(b"abd".to_vec()));
    }

    #[test]
    fn nothing_is_empty_however_it_is_made() {
        for body in
            [Body::empty(), Body::from(Vec::new()), Body::from_parts(vec![Bytes::new(), Bytes::new()])]
        {
            assert!(body.is_empty());
            assert_eq!((body.len(), body.to_bytes().len()), (0, 0));
        }
    }
}
