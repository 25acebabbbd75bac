//! Layer 4 alone: a store inside a program, without a broker.
//!
//! `cargo run -p store-core --example embed_store -- DIRECTORY`

use store_core::config::{FlushDiskType, MessageStoreConfig};
use store_core::{DefaultMessageStore, Env, GetRequest, Message, MessageStore, record_format};

fn main() -> anyhow::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "store-example".into());
    let mut config = MessageStoreConfig::new(directory);
    config.commit_log.mapped_file_size_commit_log = 16 << 20;
    config.index.message_index_enable = false;
    config.flush.flush_disk_type = FlushDiskType::SyncFlush;
    let env = Env::os();
    let store = DefaultMessageStore::open(&env, config)?;
    println!("{}", store.recovery_report());

    let body = format!("stored at {}", env.now_millis());
    let message = Message {
        topic: "Notes",
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: env.now_millis(),
        born_host: "127.0.0.1:1".parse()?,
        store_host: "127.0.0.1:10911".parse()?,
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: body.as_bytes(),
        properties: "",
    };
    // SYNC_FLUSH: on disk when this returns.
    let put = store.put(&message).wait();
    println!("{:?}", put.status);

    let offset = i64::try_from(store.offsets("Notes", 0).min)?;
    let request = GetRequest { topic: "Notes", queue_id: 0, offset, max_messages: 32, filter: None };
    for record in store.get(&request).messages {
        if let Ok(record_format::Decoded::Record(view)) = record_format::decode(&record, true) {
            println!("{} {}", view.queue_offset, String::from_utf8_lossy(view.body));
        }
    }
    store.shutdown()?;
    Ok(())
}
