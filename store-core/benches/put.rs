//! One put of 1 KiB through the whole store, dispatch running beside it.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use store_core::config::MessageStoreConfig;
use store_core::{DefaultMessageStore, Env, Message, MessageStore};

fn put(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut config = MessageStoreConfig::new(dir.path());
    // The oldest file goes as soon as there is a next one.
    config.clean.delete_when = (0..24).collect();
    config.clean.file_reserved_time = 0;
    config.clean.clean_resource_interval = 100;
    config.commit_log.mapped_file_size_commit_log = 256 << 20;
    let store = DefaultMessageStore::open(&Env::os(), config).expect("a store");
    let body = vec![7_u8; 1024];
    let message = Message {
        topic: "TopicTest",
        queue_id: 0,
        flag: 0,
        sys_flag: 0,
        born_timestamp: 1_700_000_000_000,
        born_host: "127.0.0.1:40000".parse().expect("an address"),
        store_host: "127.0.0.1:10911".parse().expect("an address"),
        reconsume_times: 0,
        prepared_transaction_offset: 0,
        body: &body,
        properties: "TAGS\u{1}TagA\u{2}",
    };
    let mut group = criterion.benchmark_group("store");
    group.throughput(Throughput::Elements(1));
    group.bench_function("put_1k_async", |bencher| bencher.iter(|| store.put(black_box(&message)).wait()));
    group.finish();
    store.shutdown().expect("a clean stop");
}

criterion_group!(benches, put);
criterion_main!(benches);
