//! One message as a JSON object on one line. Numbers of 64 bits are text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use store_logic::commit_log::format::MessageView;
use store_logic::message::Message;
use store_logic::message::properties::Properties;

/// A message with everything that is in its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageLine {
    /// Topic.
    pub topic: String,
    /// Queue of the topic.
    pub queue_id: i32,
    /// Position in the queue.
    #[serde(with = "wide")]
    pub queue_offset: i64,
    /// Position in the log.
    #[serde(with = "wide")]
    pub physical_offset: i64,
    /// The application's flag.
    pub flag: i32,
    /// Bits of the sysFlag.
    pub sys_flag: i32,
    /// When the producer made it, epoch milliseconds.
    #[serde(with = "wide")]
    pub born_timestamp: i64,
    /// Where the producer sat.
    pub born_host: SocketAddr,
    /// When it was stored, epoch milliseconds.
    #[serde(with = "wide")]
    pub store_timestamp: i64,
    /// Broker that stored it.
    pub store_host: SocketAddr,
    /// How often consumers have sent it back.
    #[serde(default)]
    pub reconsume_times: i32,
    /// Log position of the half message.
    #[serde(with = "wide", default)]
    pub prepared_transaction_offset: i64,
    /// Properties in their order.
    #[serde(with = "pairs", default)]
    pub properties: Vec<(String, String)>,
    /// The property string byte by byte, where `properties` does not give it back exactly; stands before those.
    #[serde(with = "bytes", default, skip_serializing_if = "Option::is_none")]
    pub properties_base64: Option<Vec<u8>>,
    /// The body as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body as base64, unless `body` is there.
    #[serde(with = "bytes", default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<Vec<u8>>,
}

impl MessageLine {
    /// The line of the record at `phy_offset`. With `text` a body that is UTF-8 becomes `body`, else `bodyBase64`.
    pub fn new(phy_offset: u64, view: &MessageView<'_>, text: bool) -> Self {
        let parsed = Properties::parse(view.properties);
        let is_exact = parsed.encode().as_bytes() == view.properties_bytes;
        let body = std::str::from_utf8(view.body).ok().filter(|_| text);
        Self {
            topic: view.topic.to_owned(),
            queue_id: view.queue_id,
            queue_offset: view.queue_offset,
            physical_offset: i64::try_from(phy_offset).unwrap_or(i64::MAX),
            flag: view.flag,
            sys_flag: view.sys_flag,
            born_timestamp: view.born_timestamp,
            born_host: view.born_host,
            store_timestamp: view.store_timestamp,
            store_host: view.store_host,
            reconsume_times: view.reconsume_times,
            prepared_transaction_offset: view.prepared_transaction_offset,
            properties: parsed.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            properties_base64: (!is_exact).then(|| view.properties_bytes.to_vec()),
            body: body.map(str::to_owned),
            body_base64: if body.is_some() { None } else { Some(view.body.to_vec()) },
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn parse(line: &str) -> Result<Self, String> {
        let parsed: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if parsed.body.is_some() && parsed.body_base64.is_some() {
            return Err("expected body or bodyBase64, found both".to_owned());
        }
        Ok(parsed)
    }

    /// The property string.
    ///
    /// # Errors
    ///
    /// Bytes that are not UTF-8, which a store does not take.
    pub fn property_string(&self) -> Result<String, String> {
        match &self.properties_base64 {
            Some(bytes) => String::from_utf8(bytes.clone())
                .map_err(|_| "propertiesBase64: expected UTF-8, found other bytes".to_owned()),
            None => {
                let mut properties = Properties::default();
                for (name, value) in &self.properties {
                    properties.set(name, value);
                }
                Ok(properties.encode())
            }
        }
    }

    /// The message to put, with the property string of [`MessageLine::property_string`].
    pub fn message<'a>(&'a self, properties: &'a str) -> Message<'a> {
        let text = self.body.as_deref().map(str::as_bytes);
        Message {
            topic: &self.topic,
            queue_id: self.queue_id,
            flag: self.flag,
            sys_flag: self.sys_flag,
            born_timestamp: self.born_timestamp,
            born_host: self.born_host,
            store_host: self.store_host,
            reconsume_times: self.reconsume_times,
            prepared_transaction_offset: self.prepared_transaction_offset,
            body: text.or(self.body_base64.as_deref()).unwrap_or_default(),
            properties,
        }
    }
}

/// Numbers of 64 bits as text; plain numbers are read as well.
mod wide {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Number(i64),
    }

    pub(super) fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        match Either::deserialize(deserializer)? {
            Either::Number(number) => Ok(number),
            Either::Text(text) => {
                text.parse().map_err(|_| D::Error::custom(format!("expected a number, found {text:?}")))
            }
        }
    }
}

mod bytes {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes.as_deref().unwrap_or_default()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Some).map_err(D::Error::custom)
    }
}

/// Names and values as an object that keeps their order.
mod pairs {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        pairs: &[(String, String)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(pairs.len()))?;
        for (name, value) in pairs {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, String)>, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, String)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of texts")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
