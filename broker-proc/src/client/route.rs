//! Where the queues of a topic are.

use std::collections::BTreeMap;

use crate::remoting::protocol::{MessageQueue, TopicRouteData};

/// Topic whose settings a new topic inherits (`TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC`).
pub(super) const AUTO_CREATE_TOPIC: &str = "TBW102";
/// Number of queues that clients wish for a new topic.
pub(super) const DEFAULT_TOPIC_QUEUE_NUMS: i32 = 4;
/// Most queues of one broker that are looked at; far above what exists, so that a broken answer cannot ask for
/// millions.
const MAX_QUEUES: i32 = 65_536;
/// Broker id of a master.
const MASTER_ID: i64 = 0;
/// Permission bit: the topic may be read.
const PERM_READ: i32 = 4;
/// Permission bit: the topic may be written.
const PERM_WRITE: i32 = 2;

/// Queues of a topic and the addresses of their brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicRoute {
    publish_queues: Vec<MessageQueue>,
    subscribe_queues: Vec<MessageQueue>,
    /// Address by broker id by broker name.
    brokers: BTreeMap<String, BTreeMap<i64, String>>,
}

impl TopicRoute {
    /// Reads the answer of a name server.
    #[must_use]
    pub fn new(topic: &str, data: &TopicRouteData) -> Self {
        let brokers = data.broker_datas.iter();
        let brokers = brokers.map(|broker| (broker.broker_name.clone(), broker.broker_addrs.clone()));
        let mut route =
            Self { publish_queues: Vec::new(), subscribe_queues: Vec::new(), brokers: brokers.collect() };
        for data in &data.queue_datas {
            let queues = |count: i32| {
                let (topic, broker_name) = (topic.to_owned(), data.broker_name.clone());
                (0..count.min(MAX_QUEUES)).map(move |queue_id| MessageQueue {
                    topic: topic.clone(),
                    broker_name: broker_name.clone(),
                    queue_id,
                })
            };
            if data.perm & PERM_WRITE != 0 && route.master(&data.broker_name).is_some() {
                route.publish_queues.extend(queues(data.write_queue_nums));
            }
            if data.perm & PERM_READ != 0 && route.address(&data.broker_name).is_some() {
                route.subscribe_queues.extend(queues(data.read_queue_nums));
            }
        }
        route.publish_queues.sort();
        route.subscribe_queues.sort();
        route
    }

    /// Queues that messages can be sent to, sorted; masters only.
    #[must_use]
    pub fn publish_queues(&self) -> &[MessageQueue] {
        &self.publish_queues
    }

    /// Queues that messages can be pulled from, sorted.
    #[must_use]
    pub fn subscribe_queues(&self) -> &[MessageQueue] {
        &self.subscribe_queues
    }

    /// Address of the master of a broker name.
    #[must_use]
    pub fn master(&self, broker_name: &str) -> Option<&str> {
        self.brokers.get(broker_name)?.get(&MASTER_ID).map(String::as_str)
    }

    /// Address to read from: the master, or the first replica when there is none.
    #[must_use]
    pub fn address(&self, broker_name: &str) -> Option<&str> {
        self.brokers.get(broker_name)?.values().next().map(String::as_str)
    }

    /// One address of every broker name.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.brokers.values().filter_map(|addresses| addresses.values().next()).map(String::as_str)
    }

    /// The route that a topic will have once it is created after the pattern of this one, with at most `queues`
    /// queues a broker.
    #[must_use]
    pub(super) fn for_new_topic(&self, topic: &str, queues: i32) -> Self {
        let adapt = |pattern: &[MessageQueue]| {
            let first = pattern.iter().filter(|queue| queue.queue_id < queues);
            first.map(|queue| MessageQueue { topic: topic.to_owned(), ..queue.clone() }).collect()
        };
        Self {
            publish_queues: adapt(&self.publish_queues),
            subscribe_queues: adapt(&self.subscribe_queues),
            brokers: self.brokers.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TopicRoute;
    use crate::remoting::protocol::{MessageQueue, TopicRouteData};

    fn route(json: &str) -> TopicRoute {
        let data: TopicRouteData = store_core::java_json::from_slice(json.as_bytes()).unwrap();
        TopicRoute::new("T", &data)
    }

    fn names(queues: &[MessageQueue]) -> Vec<String> {
        queues.iter().map(MessageQueue::to_string).collect()
    }

    #[test]
    fn only_masters_take_messages_and_permissions_count() {
        let route = route(
            r#"{"brokerDatas":[
                {"brokerAddrs":{0:"10.0.0.1:1",1:"10.0.0.2:1"},"brokerName":"b"},
                {"brokerAddrs":{2:"10.0.0.4:1",1:"10.0.0.3:1"},"brokerName":"a"}],
              "queueDatas":[
                {"brokerName":"b","perm":6,"readQueueNums":1,"writeQueueNums":2},
                {"brokerName":"a","perm":6,"readQueueNums":2,"writeQueueNums":2},
                {"brokerName":"gone","perm":6,"readQueueNums":2,"writeQueueNums":2},
                {"brokerName":"b","perm":1,"readQueueNums":9,"writeQueueNums":9}]}"#,
        );
        assert_eq!(names(route.publish_queues()), ["T@b:0", "T@b:1"]);
        assert_eq!(names(route.subscribe_queues()), ["T@a:0", "T@a:1", "T@b:0"]);
        assert_eq!((route.master("b"), route.master("a")), (Some("10.0.0.1:1"), None));
        assert_eq!((route.address("a"), route.address("gone")), (Some("10.0.0.3:1"), None));
        assert_eq!(route.addresses().collect::<Vec<_>>(), ["10.0.0.3:1", "10.0.0.1:1"]);
    }

    #[test]
    fn a_new_topic_gets_at_most_four_queues() {
        let pattern = route(
            r#"{"brokerDatas":[{"brokerAddrs":{"0":"h:1"},"brokerName":"b"}],
              "queueDatas":[{"brokerName":"b","perm":7,"readQueueNums":8,"writeQueueNums":8}]}"#,
        );
        let new = pattern.for_new_topic("New", 4);
        assert_eq!(names(new.publish_queues()), ["New@b:0", "New@b:1", "New@b:2", "New@b:3"]);
        assert_eq!(new.master("b"), Some("h:1"));
    }

    #[test]
    fn absurd_queue_counts_do_no_harm() {
        let route = route(
            r#"{"brokerDatas":[{"brokerAddrs":{"0":"h:1"},"brokerName":"b"}],
              "queueDatas":[{"brokerName":"b","perm":6,"readQueueNums":-5,"writeQueueNums":2147483647}]}"#,
        );
        assert_eq!((route.publish_queues().len(), route.subscribe_queues().len()), (65_536, 0));
    }
}
