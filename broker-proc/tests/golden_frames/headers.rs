//! Typed headers of the recorded frames.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use broker_proc::remoting::headers::*;
use broker_proc::remoting::{CommandHeader, ExtFields, HeaderError, RemotingCommand};

use crate::decode;
use crate::recording::{Recorded, recorded_frames};

/// A header in both name sets; see [`SendMessageRequestHeader`].
struct SendV2(SendMessageRequestHeader);

impl CommandHeader for SendV2 {
    const NAME: &'static str = "SendMessageRequestHeaderV2";

    fn decode(fields: &ExtFields) -> Result<Self, HeaderError> {
        SendMessageRequestHeader::decode_v2(fields).map(Self)
    }

    fn encode_into(&self, fields: &mut ExtFields) {
        self.0.encode_v2().iter().for_each(|(name, value)| fields.insert(name, value));
    }
}

/// Reads a header and checks that writing it gives the recorded values back.
fn check<H: CommandHeader>(command: &RemotingCommand) -> Result<(), HeaderError> {
    let written = command.decode_header::<H>()?.encode();
    for (name, value) in written.iter() {
        if let Some(recorded) = command.field(name) {
            assert_eq!(value, recorded, "{}: {name}", H::NAME);
        }
    }
    for (name, value) in command.fields().iter() {
        let beside_the_header = ["bname", "n", "ReqT", "_UNIQUE_KEY_QUERY", "heartbeatFingerprint"];
        if !beside_the_header.contains(&name) && !value.is_empty() {
            assert!(written.contains(name), "{}: no field for {name}={value}", H::NAME);
        }
    }
    Ok(())
}

type Check = fn(&RemotingCommand) -> Result<(), HeaderError>;

/// What the request headers are, by code.
fn request_headers() -> HashMap<i32, Check> {
    HashMap::from([
        (10, check::<SendMessageRequestHeader> as Check),
        (11, check::<PullMessageRequestHeader>),
        (12, check::<QueryMessageRequestHeader>),
        (14, check::<QueryConsumerOffsetRequestHeader>),
        (15, check::<UpdateConsumerOffsetRequestHeader>),
        (17, check::<CreateTopicRequestHeader>),
        (21, check::<GetAllTopicConfigRequestHeader>),
        (29, check::<SearchOffsetRequestHeader>),
        (30, check::<GetMaxOffsetRequestHeader>),
        (31, check::<QueueRequestHeader>),
        (32, check::<QueueRequestHeader>),
        (33, check::<ViewMessageRequestHeader>),
        (34, check::<()>),
        (35, check::<UnregisterClientRequestHeader>),
        (36, check::<ConsumerSendMsgBackRequestHeader>),
        (37, check::<EndTransactionRequestHeader>),
        (38, check::<ConsumerGroupRequestHeader>),
        (39, check::<CheckTransactionStateRequestHeader>),
        (40, check::<ConsumerGroupRequestHeader>),
        (100, check::<PutKvConfigRequestHeader>),
        (101, check::<KvConfigRequestHeader>),
        (102, check::<KvConfigRequestHeader>),
        (103, check::<RegisterBrokerRequestHeader>),
        (104, check::<UnregisterBrokerRequestHeader>),
        (105, check::<GetRouteInfoRequestHeader>),
        (201, check::<GetAllSubscriptionGroupRequestHeader>),
        (202, check::<TopicRequestHeader>),
        (203, check::<ConsumerGroupRequestHeader>),
        (204, check::<ProducerGroupRequestHeader>),
        (205, check::<BrokerNameRequestHeader>),
        (207, check::<DeleteSubscriptionGroupRequestHeader>),
        (208, check::<GetConsumeStatsRequestHeader>),
        (215, check::<TopicRequestHeader>),
        (216, check::<DeleteTopicFromNamesrvRequestHeader>),
        (219, check::<NamespaceRequestHeader>),
        (221, check::<GetConsumerStatusRequestHeader>),
        (222, check::<ResetOffsetRequestHeader>),
        (223, check::<GetConsumerStatusRequestHeader>),
        (224, check::<ClusterRequestHeader>),
        (300, check::<TopicRequestHeader>),
        (303, check::<GroupTopicRequestHeader>),
        (307, check::<GetConsumerRunningInfoRequestHeader>),
        (309, check::<ConsumeMessageDirectlyRequestHeader>),
        (310, check::<SendV2>),
        (315, check::<ViewBrokerStatsDataRequestHeader>),
        (317, check::<GetBrokerConsumeStatsRequestHeader>),
        (320, check::<SendV2>),
        (321, check::<QueryConsumeQueueRequestHeader>),
        (322, check::<QueryDataVersionRequestHeader>),
        (323, check::<ResumeCheckHalfMessageRequestHeader>),
        (325, check::<SendV2>),
        (326, check::<ReplyMessageRequestHeader>),
        (327, check::<BrokerNameRequestHeader>),
        (343, check::<GroupRequestHeader>),
        (345, check::<GroupTopicRequestHeader>),
        (351, check::<GetTopicConfigRequestHeader>),
        (353, check::<GroupForbiddenRequestHeader>),
        (361, check::<PullMessageRequestHeader>),
        (370, check::<RecallMessageRequestHeader>),
        (513, check::<CreateTopicRequestHeader>),
        (901, check::<BrokerMemberGroupRequestHeader>),
        (906, check::<ExchangeHaInfoHeader>),
        (908, check::<ResetMasterFlushOffsetHeader>),
        (2004, check::<SetCommitlogReadModeRequestHeader>),
        (3442, check::<PopMessageRequestHeader>),
        (5001, check::<SwitchTimerEngineRequestHeader>),
        (200_050, check::<PopMessageRequestHeader>),
        (200_051, check::<AckMessageRequestHeader>),
        (200_052, check::<PeekMessageRequestHeader>),
        (200_053, check::<ChangeInvisibleTimeRequestHeader>),
        (200_054, check::<NotificationRequestHeader>),
        (200_055, check::<PollingInfoRequestHeader>),
    ])
}

/// What the headers of successful answers are, by the code of the request.
fn response_headers() -> HashMap<i32, Check> {
    HashMap::from([
        (10, check::<SendMessageResponseHeader> as Check),
        (11, check::<PullMessageResponseHeader>),
        (12, check::<QueryMessageResponseHeader>),
        (14, check::<QueryConsumerOffsetResponseHeader>),
        (21, check::<GetAllTopicConfigResponseHeader>),
        (26, check::<GetBrokerConfigResponseHeader>),
        (29, check::<OffsetResponseHeader>),
        (30, check::<OffsetResponseHeader>),
        (31, check::<OffsetResponseHeader>),
        (32, check::<TimestampResponseHeader>),
        (34, check::<HeartbeatResponseHeader>),
        (101, check::<GetKvConfigResponseHeader>),
        (103, check::<RegisterBrokerResponseHeader>),
        (201, check::<GetAllSubscriptionGroupResponseHeader>),
        (205, check::<WipeWritePermResponseHeader>),
        (310, check::<SendMessageResponseHeader>),
        (320, check::<SendMessageResponseHeader>),
        (325, check::<SendMessageResponseHeader>),
        (327, check::<AddWritePermResponseHeader>),
        (361, check::<PullMessageResponseHeader>),
        (906, check::<ExchangeHaInfoHeader>),
        (200_050, check::<PopMessageResponseHeader>),
        (200_053, check::<ChangeInvisibleTimeResponseHeader>),
        (200_054, check::<NotificationResponseHeader>),
        (200_055, check::<PollingInfoResponseHeader>),
    ])
}

/// Response codes by the place of their request.
fn answer_codes() -> HashMap<(String, i32), i32> {
    let answers = recorded_frames().iter().filter(|recorded| recorded.is_response());
    answers
        .map(|answer| ((answer.text("file").to_owned(), answer.number("requestT")), answer.number("code")))
        .collect()
}

#[test]
fn headers_of_known_requests_are_read_and_written() {
    let headers = request_headers();
    let answers = answer_codes();
    let mut seen = BTreeSet::new();
    let mut refused = BTreeMap::new();
    for recorded in recorded_frames().iter().filter(|frame| frame.is_frame() && !frame.is_response()) {
        let command = decode(recorded);
        let Some(check) = headers.get(&command.code) else {
            continue;
        };
        seen.insert(command.code);
        if let Err(error) = check(&command) {
            refused.insert(recorded.place(), error.to_string());
            assert_answered_with_an_error(recorded, &answers, &error);
        }
    }
    let unseen: Vec<_> = headers.keys().filter(|code| !seen.contains(code)).collect();
    assert!(unseen.is_empty(), "no frame with {unseen:?}");
    assert!(refused.len() < 12, "{refused:#?}");
}

/// What this program cannot read was no success for Java either.
fn assert_answered_with_an_error(
    recorded: &Recorded,
    answers: &HashMap<(String, i32), i32>,
    error: &HeaderError,
) {
    let answer = answers.get(&(recorded.text("file").to_owned(), recorded.number("t")));
    // Calls without any field were made on purpose; some are answered although a field is missing.
    let bare = recorded.text("file") == "raw-codes";
    assert!(bare || answer != Some(&0), "{}: {error}, answered {answer:?}", recorded.place());
}

#[test]
fn headers_of_known_answers_are_read_and_written() {
    let headers = response_headers();
    let mut seen = BTreeSet::new();
    for recorded in recorded_frames().iter().filter(|frame| frame.is_response()) {
        let command = decode(recorded);
        let code = recorded.number("requestCode");
        if let (0, Some(check)) = (command.code, headers.get(&code)) {
            seen.insert(code);
            check(&command).unwrap_or_else(|error| panic!("{}: {error}", recorded.place()));
        }
    }
    let unseen: Vec<_> = headers.keys().filter(|code| !seen.contains(code)).collect();
    assert!(unseen.is_empty(), "no answer to {unseen:?}");
}

#[test]
fn pulls_without_a_message_carry_all_four_offsets() {
    let mut codes = BTreeSet::new();
    for recorded in recorded_frames().iter().filter(|frame| frame.number("requestCode") == 11) {
        let command = decode(recorded);
        if [19, 20, 21].contains(&command.code) {
            check::<PullMessageResponseHeader>(&command).unwrap();
            codes.insert(command.code);
        }
    }
    assert_eq!(codes.len(), 3);
}
