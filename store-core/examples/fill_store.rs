//! Makes a store of a given size, for measuring what reads stores: `stratamq store verify --baseline` and others.
//!
//! `cargo run --release -p store-core --example fill_store -- DIRECTORY [MIB [BODY_BYTES]]`
//!
//! 2,048 MiB of log and bodies of 1,024 bytes unless told otherwise; four topics of four queues; two keys per message, so
//! that the index is filled as by an ordinary producer.

use anyhow::ensure;
use store_core::config::MessageStoreConfig;
use store_core::{DefaultMessageStore, Env, Message, MessageStore};

const TOPICS: [&str; 4] = ["Orders", "Payments", "Shipments", "Audit"];
const QUEUES: u64 = 4;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| "store-filled".into());
    let mib: u64 = arguments.next().unwrap_or_else(|| "2048".into()).parse()?;
    let body_len: usize = arguments.next().unwrap_or_else(|| "1024".into()).parse()?;

    let env = Env::os();
    let mut config = MessageStoreConfig::new(&directory);
    config.commit_log.os_page_cache_busy_time_out_mills = 60_000;
    let store = DefaultMessageStore::open(&env, config)?;
    let mut random = fastrand::Rng::with_seed(1);
    let mut body = vec![0_u8; body_len];
    let mut number = 0_u64;
    while store.log_positions().end < mib << 20 {
        random.fill(&mut body);
        let born_timestamp = env.now_millis();
        let properties = format!(
            "UNIQ_KEY\u{1}7F00000100002A9F{number:016X}\u{2}KEYS\u{1}key-{number}\u{2}TAGS\u{1}t\u{2}"
        );
        let message = Message {
            topic: TOPICS[(number % TOPICS.len() as u64) as usize],
            queue_id: (number / TOPICS.len() as u64 % QUEUES) as i32,
            flag: 0,
            sys_flag: 0,
            born_timestamp,
            born_host: "127.0.0.1:40000".parse()?,
            store_host: "127.0.0.1:10911".parse()?,
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body: &body,
            properties: &properties,
        };
        let put = store.put(&message).wait();
        ensure!(put.appended.is_some(), "{:?}: {:?}", put.status, put.remark);
        number += 1;
    }
    store.shutdown()?;
    println!("{number} messages in {directory}");
    Ok(())
}
