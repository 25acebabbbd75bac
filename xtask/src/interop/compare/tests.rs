use super::super::messages::{Bodies, plan};
use super::*;
use std::net::{Ipv4Addr, Ipv6Addr};

const PORT: u16 = 10911;
const BROKER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);

fn offset_id(offset: usize) -> String {
    format!("7F000001{PORT:08X}{offset:016X}")
}

fn acknowledged(index: usize, id: &str) -> Acknowledged {
    Acknowledged {
        id: id.to_owned(),
        status: "SEND_OK".to_owned(),
        unique_key: Some(format!("unique-{index}")),
        offset_id: offset_id(index * 100),
        queue_id: 0,
        queue_offset: index as i64,
        body_sha256: None,
    }
}

fn sent() -> Vec<Sent> {
    let plan = plan(3, "java", 5, Bodies::Small);
    let lines = plan.iter().enumerate().map(|(index, planned)| acknowledged(index, &planned.id)).collect();
    join("topic", &plan, lines, BROKER, &BTreeMap::new()).unwrap()
}

fn received(sent: &Sent) -> Received {
    let planned = &sent.planned;
    let mut properties: BTreeMap<String, String> =
        planned.properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    properties.insert("id".to_owned(), planned.id.clone());
    if let Some(tag) = planned.tag {
        properties.insert("TAGS".to_owned(), tag.to_owned());
    }
    if !planned.keys.is_empty() {
        properties.insert("KEYS".to_owned(), planned.keys.join(" "));
    }
    Received {
        topic: sent.topic.clone(),
        properties,
        body_length: planned.body.len(),
        body_sha256: planned.body_sha256(),
        unique_key: sent.acknowledged.unique_key.clone().unwrap(),
        offset_id: sent.acknowledged.offset_id.clone(),
        queue_id: sent.acknowledged.queue_id,
        queue_offset: sent.acknowledged.queue_offset,
        physical_offset: physical_offset(&sent.acknowledged.offset_id, BROKER).unwrap(),
        reconsume_times: 0,
        store_host: format!("127.0.0.1:{PORT}"),
        born_timestamp: 1,
        store_timestamp: 2,
    }
}

fn difference(change: impl FnOnce(&mut Vec<Received>)) -> String {
    let sent = sent();
    let mut received: Vec<Received> = sent.iter().map(received).collect();
    change(&mut received);
    format!("{:#}", same(&sent, &received, BROKER).unwrap_err())
}

#[test]
fn everything_once_is_the_same_in_any_order() {
    let sent = sent();
    let mut received: Vec<Received> = sent.iter().map(received).collect();
    received.reverse();
    same(&sent, &received, BROKER).unwrap();
}

#[test]
fn missing_repeated_and_foreign_messages_are_found() {
    assert!(difference(|all| drop(all.pop())).contains("1 are missing [(\"topic\", \"java-4\")]"));
    assert!(difference(|all| all.push(all[0].clone())).contains("1 came again"));
    assert!(difference(|all| all[0].topic = "other".to_owned()).contains("1 came that should not"));
}

#[test]
fn every_changed_field_is_found() {
    assert!(difference(|all| all[1].body_sha256 = "00".to_owned()).contains("body: expected"));
    assert!(difference(|all| all[1].body_length += 1).contains("body length: expected"));
    assert!(
        difference(|all| drop(all[1].properties.insert("TAGS".into(), "x".into()))).contains("tag: expected")
    );
    assert!(
        difference(|all| drop(all[1].properties.insert("KEYS".into(), "x".into())))
            .contains("keys: expected")
    );
    assert!(
        difference(|all| drop(all[1].properties.insert("x".into(), "y".into()))).contains("user properties")
    );
    assert!(difference(|all| all[1].queue_id = 9).contains("queue id: expected 0, found 9"));
    assert!(difference(|all| all[1].queue_offset = 9).contains("queue offset: expected 1, found 9"));
    assert!(difference(|all| all[1].physical_offset = 9).contains("physical offset: expected 100, found 9"));
    assert!(difference(|all| all[1].offset_id = offset_id(9)).contains("offset id: expected"));
    assert!(difference(|all| all[1].unique_key = "x".into()).contains("unique key: expected"));
    assert!(difference(|all| all[1].store_host = "x".into()).contains("store host: expected"));
    assert!(difference(|all| all[1].store_timestamp = 0).contains("no timestamps"));
    assert!(difference(|all| all[1].reconsume_times = 1).contains("expected reconsumeTimes 0, found 1"));
}

#[test]
fn bad_acknowledgements_are_found() {
    let plan = plan(3, "java", 2, Bodies::Small);
    let joined = |change: fn(&mut Vec<Acknowledged>)| {
        let mut lines: Vec<_> =
            plan.iter().enumerate().map(|(index, planned)| acknowledged(index, &planned.id)).collect();
        change(&mut lines);
        join("topic", &plan, lines, BROKER, &BTreeMap::new()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(joined(|lines| drop(lines.pop())).contains("expected 2 acknowledgements, found 1"));
    assert!(joined(|lines| lines[1].queue_offset = 2).contains("queue 0: expected offset 1, found 2"));
    assert!(joined(|lines| lines[1].queue_offset = 0).contains("queue 0 offset 0 was given twice"));
    assert!(joined(|lines| lines[1].offset_id = lines[0].offset_id.clone()).contains("was given twice"));
    assert!(
        joined(|lines| lines[1].status = "FLUSH_DISK_TIMEOUT".into()).contains("expected status SEND_OK")
    );
}

#[test]
fn an_offset_id_names_address_port_and_offset() {
    assert_eq!(physical_offset(&offset_id(0x1234), BROKER).unwrap(), 0x1234);
    assert!(physical_offset(&offset_id(1), SocketAddr::new(BROKER.ip(), PORT + 1)).is_err());
    assert!(physical_offset("", BROKER).is_err());
    assert!(physical_offset("7F000001", BROKER).is_err());
}

#[test]
fn an_ipv6_broker_has_longer_offset_ids_and_an_address_without_brackets() {
    let broker = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), PORT);
    let id = format!("{:032X}{PORT:08X}{:016X}", 1, 0x1234);
    assert_eq!(physical_offset(&id, broker).unwrap(), 0x1234);
    assert!(physical_offset(&offset_id(1), broker).is_err());
    assert_eq!(host("0:0:0:0:0:0:0:1:10911").unwrap(), broker);
    assert_eq!(host("::1:10911").unwrap(), broker);
    assert!(host("10911").is_err());
}
