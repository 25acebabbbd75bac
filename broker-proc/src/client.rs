//! The client side: the smallest complete producer and consumer.
//!
//! [`Client`] knows the name servers, keeps the routes they give and one connection to every server. On top of it
//! stand [`Producer`] (route, choice of a queue, send) and [`Consumer`] (membership in a group, allocation of
//! queues, long-polling pulls, offsets).
//!
//! ```no_run
//! # async fn example() -> Result<(), broker_proc::client::ClientError> {
//! use broker_proc::client::{Client, OutgoingMessage, Producer};
//!
//! let client = Client::connect("127.0.0.1:9876").await?;
//! let producer = Producer::new(&client, "example");
//! let result = producer.send(&OutgoingMessage::new("TopicTest", "hello")).await?;
//! println!("{} in {} at {}", result.msg_id, result.queue, result.queue_offset);
//! # Ok(())
//! # }
//! ```
//!
//! Left out on purpose: transactions, orderly consumption, sending messages back for a retry, SQL filters, reading
//! from replicas, access control. Bodies are sent as they are, never compressed.

mod answer;
mod consumer;
mod error;
mod outgoing_message;
mod producer;
mod push_handler;
mod queue_offsets;
mod received_message;
mod route;
mod send_result;
#[cfg(test)]
mod test_broker;
mod unique_id;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, watch};

pub use self::consumer::{
    AssignedQueue, Consumer, ConsumerEvent, ConsumerOptions, PulledMessages, StartPosition,
};
pub use self::error::ClientError;
pub use self::outgoing_message::OutgoingMessage;
pub use self::producer::Producer;
pub use self::received_message::{Compression, ReceivedMessage, RecordError, decode_records};
pub use self::route::TopicRoute;
pub use self::send_result::{SendResult, SendStatus};
pub use self::unique_id::UniqueIdGenerator;

use self::answer::Answer;
use self::push_handler::PushHandler;
use self::route::{AUTO_CREATE_TOPIC, DEFAULT_TOPIC_QUEUE_NUMS};
use crate::remoting::headers::GetRouteInfoRequestHeader;
use crate::remoting::protocol::TopicRouteData;
use crate::remoting::{
    ClientOptions, ConnectionOptions, RemotingClient, RemotingCommand, request_code, response_code,
};

/// Time for an answer to everything but a pull, as in Java's clients.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(3);
/// Age at which a route is fetched again, as in Java's clients.
const ROUTE_MAX_AGE: Duration = Duration::from_secs(30);
/// Unsent bytes to one server above which sends fail. Windows of large messages fit; a flood of one-way sends to a
/// server that does not read must end somewhere.
const MAX_UNSENT: usize = 256 * 1024 * 1024;

/// Name servers, routes and connections. Cheap to clone; clones share everything.
///
/// A broker tells group members apart by their connections, so that two members of one group need two clients.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    remoting: RemotingClient,
    name_servers: Vec<String>,
    /// Index of the name server that answered last; it is asked first.
    current: AtomicUsize,
    local_ip: IpAddr,
    push_handler: Arc<PushHandler>,
    /// Held while a route is fetched, so that a topic in demand is fetched once.
    routes: Mutex<HashMap<String, CachedRoute>>,
}

struct CachedRoute {
    expires: Instant,
    route: Arc<TopicRoute>,
}

impl Client {
    /// Connects to the first of `name_servers` (`host:port`, several separated by `;`) that answers.
    ///
    /// # Errors
    ///
    /// [`ClientError::NameServerList`] when there is no address, [`ClientError::Channel`] when none answers.
    pub async fn connect(name_servers: &str) -> Result<Self, ClientError> {
        let list = name_servers.split(';').map(str::trim).filter(|addr| !addr.is_empty());
        let list: Vec<String> = list.map(str::to_owned).collect();
        if list.is_empty() {
            return Err(ClientError::NameServerList { found: name_servers.to_owned() });
        }
        let connection = ConnectionOptions { max_unsent: MAX_UNSENT, ..ConnectionOptions::CLIENT };
        let options = ClientOptions { connection, ..ClientOptions::default() };
        let push_handler = Arc::new(PushHandler::new());
        let mut shared = Shared {
            remoting: RemotingClient::with_handler(options, Arc::clone(&push_handler) as _),
            name_servers: list,
            current: AtomicUsize::new(0),
            local_ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            push_handler,
            routes: Mutex::default(),
        };
        let question = RemotingCommand::request(request_code::GET_BROKER_CLUSTER_INFO);
        let addr = shared.ask_name_server(&question).await?.addr.to_owned();
        if let Some(channel) = shared.remoting.connected(&addr).await {
            shared.local_ip = channel.local().ip();
        }
        Ok(Self(Arc::new(shared)))
    }

    /// Address of this machine as seen from the name server.
    #[must_use]
    pub fn local_ip(&self) -> IpAddr {
        self.0.local_ip
    }

    /// Route of a topic, at most half a minute old; `None` when the name servers know no such topic.
    ///
    /// # Errors
    ///
    /// [`ClientError`] when no name server answers or the answer is no route.
    pub async fn route(&self, topic: &str) -> Result<Option<Arc<TopicRoute>>, ClientError> {
        let mut routes = self.0.routes.lock().await;
        let cached = routes.get(topic);
        if let Some(fresh) = cached.filter(|cached| cached.expires > Instant::now()) {
            return Ok(Some(Arc::clone(&fresh.route)));
        }
        let route = match self.fetch_route(topic).await {
            Ok(Some(route)) => Arc::new(route),
            Ok(None) => {
                routes.remove(topic);
                return Ok(None);
            }
            // Brokers work without name servers, so an old route is better than none.
            Err(error) => cached.map(|cached| Arc::clone(&cached.route)).ok_or(error)?,
        };
        let expires = Instant::now() + ROUTE_MAX_AGE;
        routes.insert(topic.to_owned(), CachedRoute { expires, route: Arc::clone(&route) });
        Ok(Some(route))
    }

    /// Route for sending to a topic. An unknown topic gets the queues that a broker is going to create for it on
    /// the first send: those of `TBW102`, at most four a broker.
    ///
    /// # Errors
    ///
    /// As [`Client::route`], and [`ClientError::NoRoute`] when brokers create no topics either.
    pub async fn publish_route(&self, topic: &str) -> Result<Arc<TopicRoute>, ClientError> {
        if let Some(route) = self.route(topic).await? {
            return Ok(route);
        }
        match self.route(AUTO_CREATE_TOPIC).await? {
            Some(template) => Ok(Arc::new(template.for_new_topic(topic, DEFAULT_TOPIC_QUEUE_NUMS))),
            None => Err(self.no_route(topic)),
        }
    }

    /// Makes the next use of a topic ask for its route again, because a broker was not as the route promised.
    pub async fn expire_route(&self, topic: &str) {
        if let Some(cached) = self.0.routes.lock().await.get_mut(topic) {
            cached.expires = Instant::now();
        }
    }

    async fn fetch_route(&self, topic: &str) -> Result<Option<TopicRoute>, ClientError> {
        let header = GetRouteInfoRequestHeader { topic: topic.to_owned(), accept_standard_json_only: true };
        let question = RemotingCommand::request_with(request_code::GET_ROUTEINFO_BY_TOPIC, &header);
        let answer = self.0.ask_name_server(&question).await?;
        if answer.code() == response_code::TOPIC_NOT_EXIST {
            return Ok(None);
        }
        let data: TopicRouteData = answer.success()?.body()?;
        Ok(Some(TopicRoute::new(topic, &data)))
    }

    /// Asks the server at `addr` and waits for whatever it answers.
    async fn ask<'a>(
        &self,
        addr: &'a str,
        command: RemotingCommand,
        timeout: Duration,
    ) -> Result<Answer<'a>, ClientError> {
        self.0.ask(addr, command, timeout).await
    }

    fn no_route(&self, topic: &str) -> ClientError {
        ClientError::NoRoute { topic: topic.to_owned(), name_servers: self.0.name_servers.join(";") }
    }

    /// Sees a change whenever a group's members change or a connection ends.
    fn group_changes(&self) -> watch::Receiver<()> {
        self.0.push_handler.changes()
    }
}

impl Shared {
    async fn ask<'a>(
        &self,
        addr: &'a str,
        command: RemotingCommand,
        timeout: Duration,
    ) -> Result<Answer<'a>, ClientError> {
        let request = command.code;
        let answer = self.remoting.call(addr, command, timeout).await?;
        Ok(Answer { addr, request, command: answer })
    }

    /// Asks one name server after the other until one answers.
    async fn ask_name_server(&self, question: &RemotingCommand) -> Result<Answer<'_>, ClientError> {
        let first = self.current.load(Ordering::Relaxed);
        let mut outcome = Err(ClientError::NameServerList { found: String::new() });
        for step in 0..self.name_servers.len() {
            let index = (first + step) % self.name_servers.len();
            outcome = self.ask(&self.name_servers[index], question.clone(), CALL_TIMEOUT).await;
            if outcome.is_ok() {
                self.current.store(index, Ordering::Relaxed);
                break;
            }
        }
        outcome
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("name_servers", &self.0.name_servers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
