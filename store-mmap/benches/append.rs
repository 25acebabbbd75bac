//! Appending 1 KiB records to a mapped file, beside the limit: the same copies into plain memory.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use store_mmap::{Env, MappedFile, ReservePolicy, WarmUp};

const RECORD: usize = 1024;
const SIZE: u64 = 64 << 20;

fn append(criterion: &mut Criterion) {
    let record = [7_u8; RECORD];
    let mut group = criterion.benchmark_group("append_1k");
    group.throughput(Throughput::Bytes(RECORD as u64));

    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("0");
    let file = MappedFile::create(&Env::os(), &path, 0, SIZE, ReservePolicy::Whole).expect("a mapped file");
    let file = Arc::new(file);
    let mut warm_up = WarmUp::new(Arc::clone(&file), None);
    while warm_up.step().expect("nothing is flushed") {}
    group.bench_function("mapped_file", |bencher| {
        bencher.iter(|| {
            if file.is_full() {
                file.truncate(0).expect("nobody reads");
            }
            file.append(black_box(&record)).expect("room")
        });
    });

    let mut memory = vec![0_u8; SIZE as usize];
    let mut at = 0;
    group.bench_function("memcpy_limit", |bencher| {
        bencher.iter(|| {
            at = (at + RECORD) % (SIZE as usize - RECORD);
            memory[at..at + RECORD].copy_from_slice(black_box(&record));
        });
    });
    group.finish();
}

criterion_group!(benches, append);
criterion_main!(benches);
