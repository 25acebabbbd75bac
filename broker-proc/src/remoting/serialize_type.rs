//! How the header of a frame is encoded.

/// Encoding of a header; byte 4 of every frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SerializeType {
    /// Text, understood by every client.
    #[default]
    Json,
    /// The compact form that Java calls ROCKETMQ.
    RocketMq,
}

impl SerializeType {
    /// Byte on the wire.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Json => 0,
            Self::RocketMq => 1,
        }
    }

    /// Encoding of a wire byte; `None` for bytes that no version uses.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Json),
            1 => Some(Self::RocketMq),
            _ => None,
        }
    }

    /// Name that Java writes into JSON headers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::RocketMq => "ROCKETMQ",
        }
    }
}
