use super::*;

fn acknowledged(number: i64) -> Acknowledged {
    Acknowledged {
        id: format!("hammer-{number}"),
        status: "SEND_OK".to_owned(),
        unique_key: None,
        offset_id: format!("offset-{number}"),
        queue_id: 0,
        queue_offset: number,
        body_sha256: Some(format!("sum-{number}")),
    }
}

fn received(number: i64) -> Received {
    let sum = format!("sum-{number}");
    let properties =
        BTreeMap::from([("id".to_owned(), format!("hammer-{number}")), ("sha256".to_owned(), sum.clone())]);
    Received {
        topic: TOPIC.to_owned(),
        properties,
        body_length: 1,
        body_sha256: sum,
        unique_key: String::new(),
        offset_id: format!("offset-{number}"),
        queue_id: 0,
        queue_offset: number,
        physical_offset: 0,
        reconsume_times: 0,
        store_host: String::new(),
        born_timestamp: 1,
        store_timestamp: 1,
    }
}

fn judged(acknowledged: &[Acknowledged], received: Vec<Received>) -> String {
    match index(received).and_then(|found| compare(acknowledged, &found)) {
        Ok(()) => "right".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_stored_message_without_acknowledgement_is_no_fault() {
    assert_eq!(
        judged(&[acknowledged(0), acknowledged(2)], vec![received(0), received(1), received(2)]),
        "right"
    );
}

#[test]
fn a_lost_message_is_found() {
    let reason = judged(&[acknowledged(0), acknowledged(1)], vec![received(0)]);
    assert_eq!(reason, "1 of 2 acknowledged messages are lost, the first is hammer-1");
}

#[test]
fn a_moved_or_changed_message_is_found() {
    let changed = |change: fn(&mut Received)| {
        let mut messages = vec![received(0), received(1)];
        change(&mut messages[1]);
        judged(&[acknowledged(1)], messages)
    };
    assert!(changed(|message| message.offset_id.push('x')).contains("acknowledged as"));
    assert!(changed(|message| message.queue_offset = 2).contains("expected offset 1, found 2"));
    assert!(changed(|message| message.body_sha256 = "other".to_owned()).contains("expected body sum-1"));
    let twice = |message: &mut Received| drop(message.properties.insert("id".into(), "hammer-0".into()));
    assert!(changed(twice).contains("hammer-0 is there twice"));
}
