//! What a request costs above the store: cutting the frame, reading and writing the header, and a send as a whole through
//! the table of processors.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use broker_proc::broker_config::{BrokerConfig, Loaded};
use broker_proc::processor::ProcessorTable;
use broker_proc::remoting::headers::SendMessageRequestHeader;
use broker_proc::remoting::{
    Channel, FrameLimits, RemotingCommand, Reply, RequestHandler, SerializeType, frame, request_code,
};
use broker_proc::{Broker, ProcessSource};
use bytes::BytesMut;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use store_core::Env;

/// Size of the message in every benchmark.
const BODY_LEN: usize = 1024;

fn header() -> SendMessageRequestHeader {
    SendMessageRequestHeader {
        producer_group: "benchmark_producer".to_owned(),
        topic: "BenchmarkTest".to_owned(),
        default_topic: "TBW102".to_owned(),
        default_topic_queue_nums: 4,
        queue_id: 0,
        born_timestamp: 1_700_000_000_000,
        properties: Some("KEYS\u{1}order-4711\u{2}UNIQ_KEY\u{1}7F00000100002A9F0000018BCFE56800\u{2}WAIT\u{1}true\u{2}TAGS\u{1}TagA\u{2}".to_owned()),
        ..Default::default()
    }
}

/// A send as Java's clients make it.
fn send(serialize: SerializeType) -> RemotingCommand {
    let mut request = RemotingCommand::request(request_code::SEND_MESSAGE_V2).with_body(vec![b'x'; BODY_LEN]);
    request.ext_fields = Some(header().encode_v2());
    request.serialize = serialize;
    request
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frame");
    for (name, serialize) in [("json", SerializeType::Json), ("binary", SerializeType::RocketMq)] {
        let request = send(serialize);
        let bytes = frame::encode(&request).expect("a frame");
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format!("decode/{name}"), |bencher| {
            bencher.iter_batched(
                || BytesMut::from(&bytes[..]),
                |mut received| frame::decode(&mut received, FrameLimits::SERVER),
                BatchSize::SmallInput,
            );
        });
        let mut out = Vec::with_capacity(bytes.len());
        group.bench_function(format!("encode_head/{name}"), |bencher| {
            bencher.iter(|| {
                out.clear();
                frame::encode_head(black_box(&request), &mut out)
            });
        });
    }
    group.finish();
}

fn headers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("header");
    let header = header();
    let fields = header.encode_v2();
    group.bench_function("decode/send_message_v2", |bencher| {
        bencher.iter(|| SendMessageRequestHeader::decode_v2(black_box(&fields)));
    });
    group.bench_function("encode/send_message_v2", |bencher| bencher.iter(|| black_box(&header).encode_v2()));
    group.finish();
}

/// A broker in `directory` on a port that was free a moment ago.
async fn start(directory: &std::path::Path) -> Broker {
    let mut loaded: Loaded = BrokerConfig::load(None, &ProcessSource).expect("the defaults");
    loaded.store.store_path_root_dir = directory.to_owned();
    loaded.store.commit_log.mapped_file_size_commit_log = 256 << 20;
    loaded.broker.namesrv_addr = None;
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    loaded.broker.listen_port = probe.local_addr().expect("its address").port();
    drop(probe);
    Broker::start(Env::os(), loaded, 0).await.expect("a broker")
}

fn sends(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let broker = runtime.block_on(start(directory.path()));
    let table = ProcessorTable::new(broker.context(), false);
    let channel = Arc::new(Channel::detached("127.0.0.1:40000".parse().expect("an address")));
    let request = send(SerializeType::Json);
    let mut group = criterion.benchmark_group("processor_table");
    group.throughput(Throughput::Elements(1));
    group.bench_function("send_message_v2", |bencher| {
        bencher.iter_batched(
            || request.clone(),
            |request| match table.handle(&channel, request) {
                Reply::Now(answer) => assert_eq!(answer.code, 0, "{:?}", answer.remark),
                other => panic!("an answer at once was expected, found {other:?}"),
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
    drop(table);
    runtime.block_on(broker.shutdown()).expect("a clean stop");
}

criterion_group!(benches, frames, headers, sends);
criterion_main!(benches);
