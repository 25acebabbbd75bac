//! Encoding and checking a 1 KiB record, beside the limit: the copy and the CRC alone.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use store_logic::commit_log::RecordBatch;
use store_logic::commit_log::format::{self, PropertyTail};
use store_logic::message::Message;

fn record(criterion: &mut Criterion) {
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
        properties: "UNIQ_KEY\u{1}7F000001000000000000000000000001\u{2}WAIT\u{1}true\u{2}TAGS\u{1}TagA\u{2}",
    };
    let mut group = criterion.benchmark_group("record_1k");
    group.throughput(Throughput::Bytes(1024));
    let mut batch = RecordBatch::new();
    group.bench_function("encode", |bencher| {
        bencher.iter(|| {
            batch.clear();
            batch.push(black_box(&message), 4 << 20).expect("within the limits");
        });
    });
    let mut encoded = Vec::new();
    format::encode(&message, 4 << 20, PropertyTail::default(), &mut encoded).expect("within the limits");
    group.bench_function("decode_with_crc", |bencher| {
        bencher.iter(|| format::decode(black_box(&encoded), true).is_ok())
    });
    group.bench_function("crc_limit", |bencher| bencher.iter(|| store_logic::bytes::crc32(black_box(&body))));
    let mut target = vec![0_u8; encoded.len()];
    group
        .bench_function("copy_limit", |bencher| bencher.iter(|| target.copy_from_slice(black_box(&encoded))));
    group.finish();
}

criterion_group!(benches, record);
criterion_main!(benches);
