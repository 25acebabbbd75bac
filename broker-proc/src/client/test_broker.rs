//! A broker and name server in memory, just enough for a client.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use store_core::{Message, record_format};
use tokio::sync::watch;

use super::Client;
use crate::consumer_manager::Subscription;
use crate::remoting::headers::*;
use crate::remoting::protocol::{
    BrokerData, GetConsumerListByGroupResponseBody, HeartbeatData, QueueData, TopicRouteData,
};
use crate::remoting::{
    Channel, RemotingCommand, RemotingServer, Reply, RequestHandler, ServerOptions, request_code,
    response_code,
};

/// Queues that a new topic gets.
pub(super) const QUEUES: usize = 4;
/// Time at which the first message of a queue is stored; every further one a second later.
pub(super) const FIRST_STORED: i64 = 1_700_000_000_000;

/// A server with its state, ended when dropped.
pub(super) struct TestBroker {
    pub(super) server: RemotingServer,
    broker: Arc<Broker>,
}

struct Broker {
    addr: OnceLock<SocketAddr>,
    state: Mutex<State>,
    /// Told whenever a message is stored.
    stored: watch::Sender<()>,
}

#[derive(Default)]
pub(super) struct State {
    /// Stored messages with their tags by topic by queue.
    pub(super) topics: HashMap<String, [Vec<Stored>; QUEUES]>,
    pub(super) committed: HashMap<(String, i32), i64>,
    members: Vec<(Arc<Channel>, String)>,
    /// Codes with which the next sends are refused.
    pub(super) refusals: Vec<i32>,
    /// Codes of the requests so far.
    pub(super) requests: Vec<i32>,
}

pub(super) struct Stored {
    pub(super) record: Vec<u8>,
    pub(super) properties: String,
}

impl TestBroker {
    pub(super) async fn start() -> Self {
        let broker = Arc::new(Broker {
            addr: OnceLock::new(),
            state: Mutex::default(),
            stored: watch::Sender::new(()),
        });
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = RemotingServer::bind(any, ServerOptions::default(), Arc::clone(&broker) as _);
        let server = server.await.unwrap();
        broker.addr.set(server.local_addr()).unwrap();
        Self { server, broker }
    }

    pub(super) async fn client(&self) -> Client {
        Client::connect(&self.server.local_addr().to_string()).await.unwrap()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.broker.state()
    }

    /// Waits until `count` messages are stored for a topic.
    pub(super) async fn has_stored(&self, topic: &str, count: usize) {
        let mut stored = self.broker.stored.subscribe();
        let enough = |state: &State| {
            state.topics.get(topic).is_some_and(|queues| queues.iter().map(Vec::len).sum::<usize>() >= count)
        };
        while !enough(&self.state()) {
            stored.changed().await.unwrap();
        }
    }
}

impl RequestHandler for Broker {
    fn handle(&self, channel: &Arc<Channel>, request: RemotingCommand) -> Reply {
        self.state().requests.push(request.code);
        match request.code {
            request_code::GET_BROKER_CLUSTER_INFO => success(&request).into(),
            request_code::GET_ROUTEINFO_BY_TOPIC => self.route(&request).into(),
            request_code::SEND_MESSAGE_V2 | request_code::SEND_BATCH_MESSAGE => self.send(&request).into(),
            request_code::HEART_BEAT => self.heartbeat(channel, &request).into(),
            request_code::UNREGISTER_CLIENT => self.unregister(channel, &request).into(),
            request_code::GET_CONSUMER_LIST_BY_GROUP => self.members(&request).into(),
            request_code::PULL_MESSAGE => self.pull_or_hold(request),
            _ => self.offset(&request).into(),
        }
    }
}

fn success(request: &RemotingCommand) -> RemotingCommand {
    RemotingCommand::response_to(request, response_code::SUCCESS)
}

impl Broker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn route(&self, request: &RemotingCommand) -> RemotingCommand {
        let topic = request.decode_header::<GetRouteInfoRequestHeader>().unwrap().topic;
        if topic != "TBW102" && !self.state().topics.contains_key(&topic) {
            return RemotingCommand::response_to(request, response_code::TOPIC_NOT_EXIST);
        }
        let queues = if topic == "TBW102" { 8 } else { QUEUES as i32 };
        let broker_addrs = [(0, self.addr.get().unwrap().to_string())].into();
        let route = TopicRouteData {
            queue_datas: vec![QueueData {
                broker_name: "b".to_owned(),
                read_queue_nums: queues,
                write_queue_nums: queues,
                perm: 6,
                topic_sys_flag: 0,
            }],
            broker_datas: vec![BrokerData {
                broker_name: "b".to_owned(),
                broker_addrs,
                ..BrokerData::default()
            }],
            ..TopicRouteData::default()
        };
        success(request).with_json_body(&route).unwrap()
    }

    fn send(&self, request: &RemotingCommand) -> RemotingCommand {
        let header = SendMessageRequestHeader::decode_for(request.code, request.fields()).unwrap();
        let mut state = self.state();
        if let Some(code) = state.refusals.pop() {
            return RemotingCommand::response_to(request, code).with_remark("as told by the test");
        }
        let body = request.body.to_bytes();
        let messages = if header.batch {
            batch_entries(&body)
        } else {
            vec![(body.to_vec(), header.properties.clone().unwrap())]
        };
        let queue = &mut state.topics.entry(header.topic.clone()).or_default()[header.queue_id as usize];
        let queue_offset = queue.len() as i64;
        for (body, properties) in messages {
            let record = encode(&header, &body, &properties, queue.len());
            queue.push(Stored { record, properties });
        }
        drop(state);
        self.stored.send_replace(());
        let msg_id = "OFFSET-ID".to_owned();
        let queue_id = header.queue_id;
        let answer = SendMessageResponseHeader {
            msg_id,
            queue_id,
            queue_offset,
            ..SendMessageResponseHeader::default()
        };
        success(request).with_header(&answer)
    }

    fn heartbeat(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> RemotingCommand {
        let client_id = request.decode_body::<HeartbeatData>().unwrap().client_id;
        let mut state = self.state();
        if state.members.iter().all(|(member, _)| member.id() != channel.id()) {
            state.members.push((Arc::clone(channel), client_id));
            notify(&state.members);
        }
        success(request)
    }

    fn unregister(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> RemotingCommand {
        let mut state = self.state();
        state.members.retain(|(member, _)| member.id() != channel.id());
        notify(&state.members);
        success(request)
    }

    fn members(&self, request: &RemotingCommand) -> RemotingCommand {
        let consumer_id_list = self.state().members.iter().map(|(_, id)| id.clone()).collect();
        success(request).with_json_body(&GetConsumerListByGroupResponseBody { consumer_id_list }).unwrap()
    }

    /// As a broker does: holds a pull for which there is nothing.
    fn pull_or_hold(&self, request: RemotingCommand) -> Reply {
        let answer = pull(&self.state(), &request);
        if answer.code != response_code::PULL_NOT_FOUND {
            return answer.into();
        }
        let mut stored = self.stored.subscribe();
        Reply::later(async move {
            stored.changed().await.unwrap();
            answer
        })
    }

    fn offset(&self, request: &RemotingCommand) -> RemotingCommand {
        let number = |name: &str| request.field(name).unwrap().parse::<i64>().unwrap();
        let queue = (request.field("topic").unwrap().to_owned(), number("queueId") as i32);
        let mut state = self.state();
        let max = state.topics.get(&queue.0).map_or(0, |queues| queues[queue.1 as usize].len() as i64);
        let offset = match request.code {
            request_code::GET_MIN_OFFSET => 0,
            request_code::GET_MAX_OFFSET => max,
            request_code::SEARCH_OFFSET_BY_TIMESTAMP => (number("timestamp") - FIRST_STORED) / 1000,
            request_code::UPDATE_CONSUMER_OFFSET => {
                state.committed.insert(queue, number("commitOffset"));
                return success(request);
            }
            request_code::QUERY_CONSUMER_OFFSET => match state.committed.get(&queue) {
                Some(offset) => *offset,
                None => return RemotingCommand::response_to(request, response_code::QUERY_NOT_FOUND),
            },
            _ => return RemotingCommand::not_supported(request),
        };
        success(request).with_header(&OffsetResponseHeader { offset })
    }
}

/// Tells every member that the members changed.
fn notify(members: &[(Arc<Channel>, String)]) {
    for (channel, _) in members {
        // A member that has gone needs no news.
        let _ = channel.push(RemotingCommand::request(request_code::NOTIFY_CONSUMER_IDS_CHANGED));
    }
}

/// Up to two messages a pull, so that several pulls are needed.
fn pull(state: &State, request: &RemotingCommand) -> RemotingCommand {
    let header: PullMessageRequestHeader = request.decode_header().unwrap();
    let queue = &state.topics[&header.topic][header.queue_id as usize];
    let subscription = Subscription::parse(&header.topic, header.subscription.as_deref(), None).unwrap();
    let max_offset = queue.len() as i64;
    let mut body = Vec::new();
    let mut next_begin_offset = header.queue_offset;
    for stored in queue.iter().skip(header.queue_offset as usize).take(2) {
        let tag = store_core::properties::get(&stored.properties, "TAGS");
        if subscription.matches_tags_code(Some(store_core::tags_code::tags_code(tag))) {
            body.extend(&stored.record);
        }
        next_begin_offset += 1;
    }
    let code = if header.queue_offset > max_offset {
        next_begin_offset = max_offset;
        response_code::PULL_OFFSET_MOVED
    } else if next_begin_offset == header.queue_offset {
        response_code::PULL_NOT_FOUND
    } else if body.is_empty() {
        response_code::PULL_RETRY_IMMEDIATELY
    } else {
        response_code::SUCCESS
    };
    let header =
        PullMessageResponseHeader { next_begin_offset, max_offset, ..PullMessageResponseHeader::default() };
    RemotingCommand::response_to(request, code).with_header(&header).with_body(body)
}

fn encode(header: &SendMessageRequestHeader, body: &[u8], properties: &str, queue_offset: usize) -> Vec<u8> {
    let local = SocketAddr::from(([127, 0, 0, 1], 10911));
    let message = Message {
        topic: &header.topic,
        queue_id: header.queue_id,
        flag: header.flag,
        sys_flag: header.sys_flag,
        born_timestamp: header.born_timestamp,
        born_host: local,
        store_host: local,
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body,
        properties,
    };
    let store_timestamp = FIRST_STORED + 1000 * queue_offset as i64;
    let place =
        record_format::RecordPlace { queue_offset: queue_offset as u64, phy_offset: 0, store_timestamp };
    record_format::encode_whole(&message, 1 << 20, false, &place).unwrap()
}

/// Body and properties of every entry of a batch.
fn batch_entries(mut body: &[u8]) -> Vec<(Vec<u8>, String)> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
    let mut entries = Vec::new();
    while !body.is_empty() {
        let (entry, rest) = body.split_at(number(&body[..4]));
        let body_end = 20 + number(&entry[16..20]);
        assert_eq!(body_end + 2 + number(&entry[body_end..body_end + 2]), entry.len());
        let properties = std::str::from_utf8(&entry[body_end + 2..]).unwrap();
        entries.push((entry[20..body_end].to_vec(), properties.to_owned()));
        body = rest;
    }
    entries
}
