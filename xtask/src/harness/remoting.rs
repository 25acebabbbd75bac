//! Requests and answers of the remoting protocol over one connection: a length, the length and kind of the header, a JSON
//! header, a body. Numbers are big endian.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

/// More than this is no answer of a broker or name server.
const MAX_FRAME: u32 = 16 << 20;

/// A connection that has one request under way at a time.
pub struct Connection {
    stream: TcpStream,
    opaque: i32,
}

/// What came back.
pub struct Answer {
    /// 0 is success.
    pub code: i64,
    /// Why not, in words.
    pub remark: String,
    /// The fields of the answer's header; numbers are text.
    pub fields: Map<String, Value>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A field that holds a number.
    ///
    /// # Errors
    /// When it is missing or no number.
    pub fn number(&self, name: &str) -> Result<i64> {
        let text = self.fields.get(name).and_then(Value::as_str).unwrap_or("nothing");
        text.parse().with_context(|| format!("expected a number as {name}, found {text}"))
    }
}

impl Connection {
    /// Connects; `patience` is how long an answer may take.
    ///
    /// # Errors
    /// When nobody listens there.
    pub fn open(address: &str, patience: Duration) -> Result<Self> {
        let socket = address.to_socket_addrs()?.next().with_context(|| format!("{address} is no address"))?;
        let stream = TcpStream::connect_timeout(&socket, patience)
            .with_context(|| format!("cannot reach {address}"))?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, opaque: 0 })
    }

    /// Asks, and waits for the answer. `fields` is a JSON object of text values.
    ///
    /// # Errors
    /// When the connection breaks, no answer comes in time, or what comes is none. The connection is of no use then.
    pub fn ask(&mut self, code: u32, fields: &Value, body: &[u8]) -> Result<Answer> {
        self.opaque += 1;
        let header = serde_json::to_vec(&json!({
            "code": code, "language": "OTHER", "version": 0, "opaque": self.opaque, "flag": 0, "extFields": fields,
        }))?;
        let header_length = u32::try_from(header.len())?;
        let length = u32::try_from(4 + header.len() + body.len())?;
        let mut frame = Vec::with_capacity(length as usize + 4);
        frame.extend_from_slice(&length.to_be_bytes());
        frame.extend_from_slice(&header_length.to_be_bytes());
        frame.extend_from_slice(&header);
        frame.extend_from_slice(body);
        self.stream.write_all(&frame)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        ensure!(
            (4..=MAX_FRAME).contains(&length),
            "expected a frame of 4 to {MAX_FRAME} bytes, found {length}"
        );
        let mut frame = vec![0; length as usize];
        self.stream.read_exact(&mut frame)?;
        // The first byte of the header length is the kind of serialization.
        let header_length = u32::from_be_bytes([0, frame[1], frame[2], frame[3]]) as usize;
        let header = frame.get(4..4 + header_length).context("the header is longer than its frame")?;
        let mut header: Value = serde_json::from_slice(header).context("the header is not JSON")?;
        if header["opaque"] != json!(self.opaque) {
            bail!("expected the answer to request {}, found {}", self.opaque, header["opaque"]);
        }
        let fields = match header["extFields"].take() {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Ok(Answer {
            code: header["code"].as_i64().context("the answer has no code")?,
            remark: header["remark"].as_str().unwrap_or_default().to_owned(),
            fields,
            body: frame.split_off(4 + header_length),
        })
    }
}
