use crate::in_process::{Noise, RawClient};
use crate::{broken_frames, flawed_requests, flawed_sends};
use broker_proc::remoting::{RemotingCommand, frame, request_code, response_code};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::AddAssign;

/// Requests sent before their answers are read.
const PIPELINED: usize = 16;

/// One malformed input.
pub enum Input {
    /// Bytes that can be no frame: the broker closes the connection.
    Refused(Vec<u8>),
    /// Bytes that do not end a frame: the client closes the connection.
    CutOff(Vec<u8>),
    /// A frame whose content is wrong.
    Request(RemotingCommand),
    /// The same, which must be refused, as it would store a message otherwise.
    MustFail(RemotingCommand),
}

/// Sends malformed inputs over one connection after the other.
pub struct MaliciousClient {
    address: String,
    noise: Noise,
    connection: Option<RawClient>,
    next_opaque: i32,
    /// Numbers of requests whose answer has not come.
    unanswered: HashSet<i32>,
    /// Those among them that must fail.
    must_fail: HashSet<i32>,
    tally: Tally,
}

impl MaliciousClient {
    pub fn new(address: String, noise: Noise) -> Self {
        Self {
            address,
            noise,
            connection: None,
            next_opaque: 0,
            unanswered: HashSet::new(),
            must_fail: HashSet::new(),
            tally: Tally::default(),
        }
    }

    /// Sends `inputs` inputs.
    pub async fn attack(mut self, inputs: usize) -> Tally {
        for _ in 0..inputs {
            match self.next_input() {
                Input::Refused(bytes) => self.write_refused(&bytes).await,
                Input::CutOff(bytes) => self.write_cut_off(&bytes).await,
                Input::Request(request) => self.request(request, false).await,
                Input::MustFail(request) => self.request(request, true).await,
            }
        }
        self.read_answers().await;
        self.tally
    }

    fn next_input(&mut self) -> Input {
        match self.noise.below(10) {
            0 => broken_frames::refused(&mut self.noise),
            1 => broken_frames::cut_off(&mut self.noise),
            2..=4 => Input::MustFail(flawed_sends::flawed_send(&mut self.noise)),
            _ => Input::Request(flawed_requests::flawed_request(&mut self.noise)),
        }
    }

    async fn connection(&mut self) -> &mut RawClient {
        if self.connection.is_none() {
            self.tally.connections += 1;
            self.connection = Some(RawClient::connect(&self.address).await);
        }
        self.connection.as_mut().unwrap()
    }

    async fn write_refused(&mut self, bytes: &[u8]) {
        self.read_answers().await;
        self.tally.refused += 1;
        let connection = self.connection().await;
        // The broker may close before all is written.
        let _ = connection.write(bytes).await;
        while let Some(pushed) = connection.receive().await {
            assert!(!pushed.is_response(), "{bytes:02x?} was answered: {pushed:?}");
        }
        self.connection = None;
    }

    async fn write_cut_off(&mut self, bytes: &[u8]) {
        self.read_answers().await;
        self.tally.cut_off += 1;
        self.connection().await.write(bytes).await;
        self.connection = None;
    }

    async fn request(&mut self, mut request: RemotingCommand, must_fail: bool) {
        self.next_opaque += 1;
        request.opaque = self.next_opaque;
        if !request.is_oneway() && !request.is_response() {
            self.unanswered.insert(request.opaque);
            if must_fail {
                self.must_fail.insert(request.opaque);
            }
        }
        self.tally.requests += 1;
        // A header of text that the encoding cannot hold does not become a frame.
        let bytes = frame::encode(&request).unwrap();
        assert!(self.connection().await.write(&bytes).await, "the connection was closed after a frame");
        if self.unanswered.len() >= PIPELINED {
            self.read_answers().await;
        }
    }

    /// Every request of a connection must be answered, whatever is wrong with it.
    async fn read_answers(&mut self) {
        while !self.unanswered.is_empty() {
            let Some(answer) = self.connection().await.receive().await else {
                panic!("the connection was closed over {} frames", self.unanswered.len());
            };
            if !answer.is_response() {
                assert_eq!(answer.code, request_code::NOTIFY_CONSUMER_IDS_CHANGED);
                continue;
            }
            assert!(self.unanswered.remove(&answer.opaque), "nobody asked for {answer:?}");
            if self.must_fail.remove(&answer.opaque) {
                assert_ne!(answer.code, response_code::SUCCESS, "{answer:?}");
            }
            *self.tally.answers.entry(answer.code).or_default() += 1;
        }
    }
}

/// What was sent, and what came of it.
#[derive(Default)]
pub struct Tally {
    connections: usize,
    refused: usize,
    cut_off: usize,
    requests: usize,
    /// Answers by code.
    answers: BTreeMap<i32, usize>,
}

impl Tally {
    /// Makes sure that the inputs reached what they were meant for.
    pub fn check(&self) {
        assert!(self.refused > 500 && self.cut_off > 500 && self.requests > 5000, "{self}");
        let wanted = [
            response_code::SUCCESS,
            response_code::SYSTEM_ERROR,
            response_code::REQUEST_CODE_NOT_SUPPORTED,
            response_code::MESSAGE_ILLEGAL,
            response_code::INVALID_PARAMETER,
        ];
        for code in wanted {
            assert!(self.answers.get(&code).is_some_and(|count| *count > 50), "{code}: {self}");
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.connections += other.connections;
        self.refused += other.refused;
        self.cut_off += other.cut_off;
        self.requests += other.requests;
        for (code, count) in other.answers {
            *self.answers.entry(code).or_default() += count;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connections, refused, cut_off, requests, answers } = self;
        write!(
            f,
            "{connections} connections, {refused} refused inputs, {cut_off} cut off, {requests} requests, answers by \
             code {answers:?}"
        )
    }
}
