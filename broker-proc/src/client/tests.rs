use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::join_all;

use super::test_broker::{FIRST_STORED, QUEUES, TestBroker};
use super::{
    Client, ClientError, Consumer, ConsumerEvent, ConsumerOptions, OutgoingMessage, Producer, StartPosition,
    decode_records,
};
use crate::remoting::protocol::MessageQueue;
use crate::remoting::{request_code, response_code};

/// Ample time for everything that is awaited; passing it is a failure.
const LONG: Duration = Duration::from_secs(30);

fn message(number: usize) -> OutgoingMessage {
    OutgoingMessage::new("T", format!("message {number}"))
}

/// Sends `count` messages, one behind the other, so that number `n` is message `n / QUEUES` of queue `n % QUEUES`.
async fn fill(client: &Client, count: usize) {
    let producer = Producer::new(client, "p");
    for number in 0..count {
        let result = producer.send(&message(number)).await.unwrap();
        assert_eq!(result.queue.queue_id as usize, number % QUEUES);
    }
}

async fn start(client: &Client, start: StartPosition, expression: &str) -> Consumer {
    let expression = expression.to_owned();
    let options = ConsumerOptions { start, expression, ..ConsumerOptions::new("g", "T") };
    Consumer::start(client, options).await.unwrap()
}

async fn next(consumer: &mut Consumer) -> ConsumerEvent {
    tokio::time::timeout(LONG, consumer.next()).await.expect("an event in time").expect("a living consumer")
}

/// Bodies by queue in the order of arrival, until the consumer has caught up.
async fn consume(consumer: &mut Consumer) -> BTreeMap<i32, Vec<String>> {
    let mut bodies: BTreeMap<_, Vec<_>> = BTreeMap::new();
    loop {
        if let ConsumerEvent::Pulled(pulled) = next(consumer).await {
            for message in pulled.messages {
                assert_eq!(message.queue_id, pulled.queue.queue().queue_id);
                let body = String::from_utf8(message.body.to_vec()).unwrap();
                bodies.entry(message.queue_id).or_default().push(body);
            }
            pulled.queue.consumed_before(pulled.next_offset);
        }
        if consumer.is_caught_up() {
            return bodies;
        }
    }
}

fn bodies(numbers: impl IntoIterator<Item = usize>) -> BTreeMap<i32, Vec<String>> {
    let mut bodies: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for number in numbers {
        bodies.entry((number % QUEUES) as i32).or_default().push(format!("message {number}"));
    }
    bodies
}

#[tokio::test]
async fn a_new_topic_is_sent_to_in_turn() {
    let broker = TestBroker::start().await;
    let producer = Producer::new(&broker.client().await, "p");
    for number in 0..2 * QUEUES {
        let result = producer.send(&message(number)).await.unwrap();
        let place = (result.queue.queue_id as usize, result.queue_offset as usize);
        assert_eq!(place, (number % QUEUES, number / QUEUES));
        let stored = broker.state().topics["T"][place.0][place.1].record.clone();
        let stored = decode_records(&stored.into()).unwrap().remove(0);
        assert_eq!((stored.msg_id, &stored.body), (result.msg_id, &message(number).body));
        assert_eq!(result.queue.to_string(), format!("T@b:{}", place.0));
    }
}

#[tokio::test]
async fn many_sends_share_a_connection() {
    let broker = TestBroker::start().await;
    let producer = Producer::new(&broker.client().await, "p");
    let messages: Vec<_> = (0..200).map(message).collect();
    let results = join_all(messages.iter().map(|message| producer.send(message))).await;
    let ids: BTreeSet<_> = results.into_iter().map(|result| result.unwrap().msg_id).collect();
    assert_eq!((ids.len(), broker.server.connection_count()), (200, 1));
}

#[tokio::test]
async fn busy_brokers_are_asked_again_and_others_not() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    let producer = Producer::new(&client, "p");
    let attempts = || {
        let requests = std::mem::take(&mut broker.state().requests);
        requests.iter().filter(|code| **code == request_code::SEND_MESSAGE_V2).count()
    };

    broker.state().refusals = vec![response_code::SYSTEM_BUSY; 2];
    producer.send(&message(0)).await.unwrap();
    assert_eq!(attempts(), 3);

    broker.state().refusals = vec![response_code::SYSTEM_BUSY; 3];
    let error = producer.send(&message(0)).await.unwrap_err().to_string();
    assert!(error.ends_with("SYSTEM_BUSY (2): as told by the test"), "{error}");
    assert!(error.starts_with(&broker.server.local_addr().to_string()), "{error}");
    assert_eq!(attempts(), 3);

    broker.state().refusals = vec![response_code::MESSAGE_ILLEGAL];
    let error = producer.send(&message(0)).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { code: response_code::MESSAGE_ILLEGAL, .. }), "{error}");
    assert_eq!(attempts(), 1);
}

#[tokio::test]
async fn a_batch_lies_in_one_queue() {
    let broker = TestBroker::start().await;
    let producer = Producer::new(&broker.client().await, "p");
    let messages: Vec<_> = (0..3).map(message).collect();
    let result = producer.send_batch(&messages).await.unwrap();
    let records: Vec<_> = {
        let state = broker.state();
        state.topics["T"][result.queue.queue_id as usize]
            .iter()
            .flat_map(|stored| stored.record.clone())
            .collect()
    };
    let stored = decode_records(&records.into()).unwrap();
    assert!(stored.iter().map(|stored| &stored.body).eq(messages.iter().map(|message| &message.body)));
    let ids: Vec<_> = stored.iter().map(|stored| stored.msg_id.as_str()).collect();
    assert_eq!(ids.join(","), result.msg_id);

    let mixed = [message(0), OutgoingMessage::new("Other", "x")];
    assert!(matches!(producer.send_batch(&mixed).await, Err(ClientError::IllegalMessage { .. })));
    assert!(matches!(producer.send_batch(&[]).await, Err(ClientError::IllegalMessage { .. })));
}

#[tokio::test]
async fn oneway_messages_arrive() {
    let broker = TestBroker::start().await;
    let producer = Producer::new(&broker.client().await, "p");
    for number in 0..3 {
        producer.send_oneway(&message(number)).await.unwrap();
    }
    tokio::time::timeout(LONG, broker.has_stored("T", 3)).await.unwrap();
}

#[tokio::test]
async fn a_group_goes_on_where_it_stopped() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    fill(&client, 21).await;
    let mut consumer = start(&client, StartPosition::First, "*").await;
    assert!(matches!(next(&mut consumer).await, ConsumerEvent::Assigned));
    assert_eq!(consume(&mut consumer).await, bodies(0..21));
    consumer.shutdown().await.unwrap();
    assert_eq!(broker.state().committed[&("T".to_owned(), 0)], 6);
    assert_eq!(broker.state().committed[&("T".to_owned(), 3)], 5);

    let producer = Producer::new(&client, "p");
    let queue = MessageQueue { topic: "T".to_owned(), broker_name: "b".to_owned(), queue_id: 1 };
    producer.send_to(&message(21), &queue).await.unwrap();
    let mut consumer = start(&client, StartPosition::First, "*").await;
    assert_eq!(consume(&mut consumer).await, bodies([21]));
    consumer.shutdown().await.unwrap();
}

#[tokio::test]
async fn what_is_not_reported_comes_again() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    fill(&client, 4).await;
    let mut consumer = start(&client, StartPosition::First, "*").await;
    while !matches!(next(&mut consumer).await, ConsumerEvent::Pulled(_)) {}
    consumer.shutdown().await.unwrap();
    let mut consumer = start(&client, StartPosition::Last, "*").await;
    assert_eq!(consume(&mut consumer).await, bodies(0..4));
}

#[tokio::test]
async fn a_new_group_starts_where_it_is_told_to() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    fill(&client, 12).await;
    let mut last = start(&client, StartPosition::Last, "*").await;
    assert_eq!(consume(&mut last).await, bodies([]));
    last.shutdown().await.unwrap();
    broker.state().committed.clear();
    let third = StartPosition::Time(FIRST_STORED + 2000);
    let mut consumer = start(&client, third, "*").await;
    assert_eq!(consume(&mut consumer).await, bodies(8..12));
}

#[tokio::test]
async fn tags_are_selected_and_the_rest_counts_as_consumed() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    let producer = Producer::new(&client, "p");
    // `Aa` and `BB` have the same hash, so that the broker cannot tell them apart.
    for (number, tag) in ["Aa", "BB", "C", "Aa", "BB", "BB", "C", "C", "C"].into_iter().enumerate() {
        producer.send(&OutgoingMessage { tag: Some(tag.to_owned()), ..message(number) }).await.unwrap();
    }
    let mut consumer = start(&client, StartPosition::First, "Aa || D").await;
    assert_eq!(consume(&mut consumer).await, bodies([0, 3]));
    consumer.shutdown().await.unwrap();
    let committed = (0..4).map(|queue| broker.state().committed[&("T".to_owned(), queue)]);
    assert_eq!(committed.collect::<Vec<_>>(), [3, 2, 2, 2]);
}

#[tokio::test]
async fn members_share_the_queues() {
    let broker = TestBroker::start().await;
    fill(&broker.client().await, 4).await;
    let queues = |consumer: &Consumer| {
        let assigned = consumer.assigned();
        assigned.iter().map(|assigned| assigned.queue().queue_id).collect::<BTreeSet<_>>()
    };
    let (one_client, two_client) = (broker.client().await, broker.client().await);
    let mut one = start(&one_client, StartPosition::Last, "*").await;
    assert_eq!(queues(&one), (0..4).collect());
    let two = start(&two_client, StartPosition::Last, "*").await;
    while queues(&one).len() == 4 {
        next(&mut one).await;
    }
    assert_eq!(&queues(&one) | &queues(&two), (0..4).collect());
    assert_eq!((queues(&one).len(), queues(&two).len()), (2, 2));
    two.shutdown().await.unwrap();
    while queues(&one).len() < 4 {
        next(&mut one).await;
    }
    one.shutdown().await.unwrap();
}

#[tokio::test]
async fn new_messages_end_the_wait() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    fill(&client, 4).await;
    let mut consumer = start(&client, StartPosition::Last, "*").await;
    assert!(matches!(next(&mut consumer).await, ConsumerEvent::Assigned));
    Producer::new(&client, "p").send(&message(4)).await.unwrap();
    match next(&mut consumer).await {
        ConsumerEvent::Pulled(pulled) => assert_eq!(pulled.messages[0].body, "message 4"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_offset_behind_the_end_is_corrected() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    fill(&client, 4).await;
    broker.state().committed = (0..4).map(|queue| (("T".to_owned(), queue), 1)).collect();
    broker.state().committed.insert(("T".to_owned(), 2), 50);
    let mut consumer = start(&client, StartPosition::First, "*").await;
    loop {
        if let ConsumerEvent::Pulled(pulled) = next(&mut consumer).await {
            assert_eq!((pulled.messages.len(), pulled.next_offset), (0, 1));
            pulled.queue.consumed_before(pulled.next_offset);
            break;
        }
    }
    consumer.shutdown().await.unwrap();
    assert_eq!(broker.state().committed[&("T".to_owned(), 2)], 1);
}

#[tokio::test]
async fn damaged_messages_are_a_problem_that_names_the_queue() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    fill(&client, 4).await;
    broker.state().topics.get_mut("T").unwrap()[3][0].record[4] = 0;
    let mut consumer = start(&client, StartPosition::First, "*").await;
    loop {
        if let ConsumerEvent::Problem(problem) = next(&mut consumer).await {
            let text = problem.to_string();
            assert!(text.starts_with("messages of T@b:3 from 127.0.0.1:"), "{text}");
            assert!(text.contains("record at byte 0: expected magic"), "{text}");
            return;
        }
    }
}

#[tokio::test]
async fn an_old_route_is_better_than_none() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    assert_eq!(client.route("T").await.unwrap(), None);
    fill(&client, 4).await;
    let route = client.route("T").await.unwrap();
    assert_eq!(route.as_ref().map(|route| route.publish_queues().len()), Some(QUEUES));
    broker.server.shutdown(Duration::ZERO).await;
    client.expire_route("T").await;
    assert_eq!(client.route("T").await.unwrap(), route);
    assert!(matches!(client.route("Other").await, Err(ClientError::Channel(_))));
}

#[tokio::test]
async fn errors_say_what_is_missing() {
    let broker = TestBroker::start().await;
    let client = broker.client().await;
    let addr = broker.server.local_addr();
    let error = Consumer::start(&client, ConsumerOptions::new("g", "Unknown")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("topic Unknown: no route known to {addr}"));
    let error = Client::connect(" ; ").await.unwrap_err();
    assert!(error.to_string().ends_with("found ` ; `"), "{error}");
    // The first name server is not there, the second answers.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(Client::connect(&free.to_string()).await.is_err());
    Client::connect(&format!("{free};{addr}")).await.unwrap();
}
