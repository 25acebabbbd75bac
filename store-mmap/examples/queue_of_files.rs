//! Layer 2 alone: an append-only range of bytes over several mapped files.
//!
//! `cargo run -p store-mmap --example queue_of_files -- DIRECTORY`

use std::sync::Arc;
use store_mmap::{Env, MappedFileQueue, OnDemand, QueueOptions, ReservePolicy};

fn main() -> anyhow::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "queue-example".into());
    let options = QueueOptions { file_size: 4096, reserve: ReservePolicy::Whole, ..QueueOptions::default() };
    let env = Env::os();
    let queue = MappedFileQueue::load(&env, &directory, options, Arc::new(OnDemand))?;
    queue.truncate(0)?;

    for number in 0..1000_u32 {
        let line = format!("{number:08}");
        let file = queue.last_for_append(0)?;
        file.append(line.as_bytes())?;
    }
    let durable = queue.flush(0)?;
    let view = queue.slice(4096, 8).ok_or_else(|| anyhow::anyhow!("nothing at offset 4096"))?;
    println!(
        "{} files, {durable} B durable, at 4096: {}",
        queue.file_count(),
        String::from_utf8_lossy(&view)
    );
    Ok(())
}
