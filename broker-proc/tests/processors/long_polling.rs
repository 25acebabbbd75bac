//! Pulls that wait for a message.

use crate::in_process::{TestBroker, eventually, pulled, requests};
use broker_proc::remoting::headers::PullMessageRequestHeader;
use broker_proc::remoting::{request_code, response_code};

async fn until_held(broker: &TestBroker, count: u64) {
    eventually("pulls are held", || broker.context().hold.waiting() == count).await;
}

fn tagged(tag: &str) -> String {
    requests::properties(&[("TAGS", tag)])
}

#[tokio::test]
async fn field_F97_a_message_of_the_tag_wakes_and_one_of_another_does_not() {
    let broker = TestBroker::start().await;
    let (client, producer) = (broker.client(), broker.client());
    client.ok(requests::create_topic("Wait", 2)).await;
    let wanted = requests::waiting_pull_header("wanting", "Wait", 0, 0, "TagA || TagC");
    let tag_pull = client.start(requests::pull_with(&wanted));
    until_held(&broker, 1).await;
    let any = requests::waiting_pull_header("any", "Wait", 0, 0, "*");
    let any_pull = client.start(requests::pull_with(&any));
    until_held(&broker, 2).await;

    producer.send("Wait", 1, "another queue", &tagged("TagA")).await;
    producer.send("Wait", 0, "another tag", &tagged("TagB")).await;
    // One arrival is told to all pulls of a queue: when this one has been answered, the other has been passed over.
    let (_, messages) = pulled(&any_pull.await.unwrap(), response_code::SUCCESS);
    assert_eq!(messages[0].body, "another tag");
    until_held(&broker, 1).await;
    assert!(!tag_pull.is_finished());

    producer.send("Wait", 0, "wanted", &tagged("TagC")).await;
    let (fields, messages) = pulled(&tag_pull.await.unwrap(), response_code::SUCCESS);
    assert_eq!((messages.len(), messages[0].body.as_str(), fields.next_begin_offset), (1, "wanted", 2));
    until_held(&broker, 0).await;
    broker.stop().await;
}

#[tokio::test]
async fn patience_ends_with_nothing_found() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Patience", 0, "x", &tagged("TagB")).await;
    client.until_dispatched("Patience", 0, 1).await;
    let header = PullMessageRequestHeader {
        suspend_timeout_millis: 20,
        ..requests::waiting_pull_header("readers", "Patience", 0, 1, "*")
    };
    let (fields, messages) = client.pull(&header, response_code::PULL_NOT_FOUND).await;
    assert_eq!((fields.next_begin_offset, fields.max_offset, messages.len()), (1, 1, 0));
    assert_eq!(broker.context().hold.waiting(), 0);
    broker.stop().await;
}

#[tokio::test]
async fn a_wait_that_only_others_messages_came_into_moves_the_offset() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Skip", 1)).await;
    let header = PullMessageRequestHeader {
        suspend_timeout_millis: 1500,
        ..requests::waiting_pull_header("readers", "Skip", 0, 0, "TagA")
    };
    let pull = client.start(requests::pull_with(&header));
    until_held(&broker, 1).await;
    client.send("Skip", 0, "x", &tagged("TagB")).await;
    let (fields, _) = pulled(&pull.await.unwrap(), response_code::PULL_RETRY_IMMEDIATELY);
    assert_eq!(fields.next_begin_offset, 1, "the next pull need not look at the message again");
    broker.stop().await;
}

#[tokio::test]
async fn field_F35_only_a_pull_that_allows_it_waits_and_only_for_new_messages() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.send("Now", 0, "x", &tagged("TagB")).await;
    client.until_dispatched("Now", 0, 1).await;
    client.pull(&requests::pull_header("readers", "Now", 0, 1), response_code::PULL_NOT_FOUND).await;
    let waiting = |offset, expression| requests::waiting_pull_header("readers", "Now", 0, offset, expression);
    client.pull(&waiting(0, "TagA"), response_code::PULL_RETRY_IMMEDIATELY).await;
    client.pull(&waiting(2, "*"), response_code::PULL_OFFSET_MOVED).await;
    let no_time = PullMessageRequestHeader { suspend_timeout_millis: 0, ..waiting(1, "*") };
    client.pull(&no_time, response_code::PULL_NOT_FOUND).await;
    broker.stop().await;
}

#[tokio::test]
async fn short_polling_waits_no_longer_than_set() {
    let broker = TestBroker::with("longPollingEnable=false\nshortPollingTimeMills=20\n").await;
    let client = broker.client();
    client.ok(requests::create_topic("Short", 1)).await;
    let pull =
        client.start(requests::pull_with(&requests::waiting_pull_header("readers", "Short", 0, 0, "*")));
    // The client would wait for 20 s; well before that the answer is there.
    let answer = tokio::time::timeout(std::time::Duration::from_secs(10), pull).await.expect("held too long");
    pulled(&answer.unwrap(), response_code::PULL_NOT_FOUND);
    broker.stop().await;
}

#[tokio::test]
async fn a_closed_connection_takes_its_waiting_pulls_along() {
    let broker = TestBroker::start().await;
    let (client, other) = (broker.client(), broker.client());
    client.ok(requests::create_topic("Left", 1)).await;
    let header = requests::waiting_pull_header("readers", "Left", 0, 0, "*");
    let pulls: Vec<_> = (0..5).map(|_| client.start(requests::pull_with(&header))).collect();
    let stays = other.start(requests::pull_with(&header));
    until_held(&broker, 6).await;
    client.disconnect().await;
    until_held(&broker, 1).await;
    for pull in pulls {
        assert!(pull.await.is_err(), "the call ends with its connection");
    }
    other.send("Left", 0, "x", "").await;
    pulled(&stays.await.unwrap(), response_code::SUCCESS);
    broker.stop().await;
}

#[tokio::test]
async fn field_F97_a_stop_answers_those_who_wait() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Stop", 1)).await;
    let pull =
        client.start(requests::pull_with(&requests::waiting_pull_header("readers", "Stop", 0, 0, "*")));
    until_held(&broker, 1).await;
    broker.stop().await;
    pulled(&pull.await.unwrap(), response_code::PULL_NOT_FOUND);
}

/// The message arrives before, while or after the pull is put aside: whoever asks for it must not sleep beside it.
#[tokio::test]
async fn field_F97_a_pull_that_races_with_a_message_gets_it() {
    let broker = TestBroker::start().await;
    let (client, producer) = (broker.client(), broker.client());
    client.ok(requests::create_topic("Race", 1)).await;
    for offset in 0..200 {
        let header = requests::waiting_pull_header("racers", "Race", 0, offset, "*");
        let pull = client.start(requests::pull_with(&header));
        producer.send("Race", 0, "x", "").await;
        let (fields, messages) = pulled(&pull.await.unwrap(), response_code::SUCCESS);
        assert_eq!((messages.len(), fields.next_begin_offset), (1, offset + 1));
    }
    until_held(&broker, 0).await;
    broker.stop().await;
}

/// A pull of a topic that is deleted meanwhile is answered once, when its patience ends.
#[tokio::test]
async fn field_F97_a_pull_of_a_deleted_topic_is_answered() {
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic("Goes", 1)).await;
    let header = PullMessageRequestHeader {
        suspend_timeout_millis: 300,
        ..requests::waiting_pull_header("waiters", "Goes", 0, 0, "*")
    };
    let pull = client.start(requests::pull_with(&header));
    until_held(&broker, 1).await;
    client.ok(requests::topic(request_code::DELETE_TOPIC_IN_BROKER, "Goes")).await;
    let (_, messages) = pulled(&pull.await.unwrap(), response_code::PULL_NOT_FOUND);
    assert!(messages.is_empty());
    until_held(&broker, 0).await;
    broker.stop().await;
}
