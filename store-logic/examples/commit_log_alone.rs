//! Layer 3 alone: a log and one queue derived from it, without a store around them.
//!
//! `cargo run -p store-logic --example commit_log_alone -- DIRECTORY`

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use store_logic::commit_log::format::Checksum;
use store_logic::commit_log::{CommitLog, RecordBatch};
use store_logic::consume_queue::{ConsumeQueue, Unit};
use store_logic::message::Message;
use store_logic::{Env, OnDemand};

fn main() -> anyhow::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "log-example".into());
    let root = Path::new(&directory);
    let env = Env::os();
    let log = CommitLog::open(&env, &root.join("commitlog"), 1 << 20, Arc::new(OnDemand))?;
    let found = log.scan(log.min_offset(), Checksum::Body, |_, _| ControlFlow::Continue(()));
    log.truncate(found.offset)?;
    let queue = ConsumeQueue::open(&env, &root.join("consumequeue/T/0"), "T", 0, 6_000)?;
    queue.recover(found.offset)?;
    println!("found {} records, the queue ends at {}", found.records, queue.max_offset());

    let mut batch = RecordBatch::new();
    let body = format!("message {}", queue.max_offset());
    let message = Message {
        topic: "T",
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
    batch.push(&message, 4 << 20)?;
    let queue_offset = queue.max_offset();
    let (mut tail, now) = log.lock_tail(|| env.now_millis());
    let appended = tail.append(&mut batch, queue_offset, now)?;
    drop(tail);
    let size = u32::try_from(appended.end_offset - appended.phy_offset)?;
    queue.put(queue_offset, Unit { phy_offset: appended.phy_offset, size, tags_code: 0 })?;
    println!("appended {body:?} at {}, durable up to {}", appended.phy_offset, log.flush(0)?);
    queue.flush(0)?;
    Ok(())
}
