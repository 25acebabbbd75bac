use crate::copies::copy_store;
use crate::messages::message;
use crate::see;
use crate::test_store::{TestStore, small_config};
use std::net::SocketAddr;
use store_core::{BoundaryType, Message, MessageStore, message_id, sys_flag};

const HOSTS: [&str; 2] = ["10.1.2.3:4711", "[2001:db8::1]:4711"];

#[test]
fn field_F78_addresses_of_both_kinds_shift_what_is_behind_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = TestStore::small(dir.path());
    let mut puts = Vec::new();
    // Several files, each combination first in one of them: recovery looks at the first record of a file.
    for round in 0..40_usize {
        let (born, stored) = (HOSTS[round / 2 % 2], HOSTS[round % 2]);
        let (born_host, store_host): (SocketAddr, SocketAddr) =
            (born.parse().unwrap(), stored.parse().unwrap());
        let body = vec![b'x'; 1000];
        let put = store.put_batch(&[Message { born_host, store_host, ..message("T", 0, &body) }]);
        assert_eq!(put.wrote_bytes as usize, 91 + 1 + 1000 + 12 * (round / 2 % 2) + 12 * (round % 2));
        let seen = see(&store, put.wrote_offset, |view| {
            (view.born_host, view.store_host, view.sys_flag, view.store_timestamp)
        });
        let bits =
            sys_flag::BORN_HOST_V6 * (round / 2 % 2) as i32 + sys_flag::STORE_HOST_V6 * (round % 2) as i32;
        assert_eq!(seen, (born_host, store_host, bits, put.store_timestamp));
        let id = message_id::encode(&store_host, put.wrote_offset);
        assert_eq!(id.len(), if stored == HOSTS[0] { 32 } else { 56 });
        assert_eq!(message_id::decode(&id), Some((store_host, put.wrote_offset)));
        puts.push(put);
    }
    store.settle();
    for (queue_offset, put) in puts.iter().enumerate() {
        let found = store.store.store_time("T", 0, queue_offset as u64);
        assert_eq!(found, Some(put.store_timestamp), "{queue_offset}");
    }
    let first = puts[0].store_timestamp;
    assert_eq!(store.store.offset_by_time("T", 0, first, BoundaryType::Lower), 0);
    assert!(puts.iter().filter(|put| put.wrote_offset % 4096 == 0).count() > 5);
    drop(store);
    let store = TestStore::small(dir.path());
    assert_eq!(store.store.recovery_report().cut, None);
    assert_eq!(store.read_all("T", 0).len(), 40);
}

#[test]
fn field_F79_an_old_id_finds_its_message_at_another_address() {
    let vector = ("7F0000010000276B0000000000000400", ("127.0.0.1:10091".parse().unwrap(), 1024));
    assert_eq!(message_id::encode(&vector.1.0, 1024), vector.0);
    assert_eq!(message_id::decode(vector.0), Some(vector.1));
    assert_eq!(message_id::decode(&vector.0.to_lowercase()), Some(vector.1));
    let unique_key = "7F0000013B2B30946E099962731B0000";
    for text in [&vector.0[1..], &format!("{}0", vector.0), &vector.0.replace('F', "G"), unique_key] {
        assert_eq!(message_id::decode(text), None, "{text}");
    }

    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let mut ids = Vec::new();
    {
        let mut store = TestStore::open(small_config(&root)).unwrap();
        for number in 0..30 {
            let store_host: SocketAddr = HOSTS[number % 2].parse().unwrap();
            let body = format!("m{number}");
            let put = store.put_batch(&[Message { store_host, ..message("T", 0, body.as_bytes()) }]);
            ids.push(message_id::encode(&store_host, put.wrote_offset));
        }
        store.stop();
    }
    let moved = dir.path().join("moved");
    copy_store(&root, &moved);
    let mut store = TestStore::open(small_config(&moved)).unwrap();
    let store_host: SocketAddr = "10.9.9.9:1".parse().unwrap();
    store.put_batch(&[Message { store_host, ..message("T", 0, b"at the new address") }]);
    for (number, id) in ids.iter().enumerate() {
        let (_, phy_offset) = message_id::decode(id).unwrap();
        assert_eq!(see(&store, phy_offset, |view| view.body.to_vec()), format!("m{number}").into_bytes());
        for wrong in [phy_offset + 1, phy_offset + 4, u64::MAX - phy_offset, u64::MAX >> 1] {
            assert!(store.store.message_at(wrong).is_none(), "{wrong}: no message begins there");
        }
    }
}
