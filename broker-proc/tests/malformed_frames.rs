//! Ten thousand malformed inputs against a whole broker, while a well-behaved client checks every answer it gets.
//!
//! Inputs follow from a seed, which is printed; set `STRATAMQ_TEST_SEED` to another one to try other inputs. The same
//! inputs are sent twice: what they may leave behind (topics, groups) is there after the first round, so that memory that
//! grows in the second round is lost.
#![allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…")]

#[path = "malformed_frames/bodies.rs"]
mod bodies;
#[path = "malformed_frames/broken_frames.rs"]
mod broken_frames;
#[path = "malformed_frames/flawed_requests.rs"]
mod flawed_requests;
#[path = "malformed_frames/flawed_sends.rs"]
mod flawed_sends;
#[path = "in_process/in_process.rs"]
mod in_process;
#[path = "malformed_frames/malicious_client.rs"]
mod malicious_client;
#[path = "malformed_frames/templates.rs"]
mod templates;
#[path = "malformed_frames/well_behaved_client.rs"]
mod well_behaved_client;

use broker_proc::remoting::protocol::KvTable;
use broker_proc::remoting::{RemotingCommand, request_code};
use in_process::{Noise, TestBroker, eventually, requests};
use malicious_client::MaliciousClient;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use well_behaved_client::WellBehavedClient;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const INPUTS: usize = 10_000;
const CONNECTIONS: usize = 8;
const SEED: u64 = 20_260_301;
/// Bytes by which the heap may grow in the second round: the tables of more good messages, pieces still in use.
const HEAP_GROWTH: usize = 128 * 1024;
/// The same for the memory of the process, in KiB; the allocator keeps much of what was given back to it.
const MEMORY_GROWTH_KIB: u64 = 32 * 1024;

fn seed() -> u64 {
    std::env::var("STRATAMQ_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED)
}

/// Counts panics of all threads from now on; handlers catch theirs, so that they would not be seen otherwise.
fn count_panics() -> Arc<AtomicUsize> {
    let panics = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&panics);
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        counter.fetch_add(1, Ordering::SeqCst);
        report(info);
    }));
    panics
}

/// Memory of this process that no file is behind, in KiB; 0 where the system does not tell.
fn anonymous_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// Bytes that this process has allocated and not given back.
fn heap_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// One round: all inputs over several connections, and good traffic as long as that takes.
async fn round(broker: &TestBroker, good: WellBehavedClient) -> WellBehavedClient {
    let over = Arc::new(AtomicBool::new(false));
    let working = tokio::spawn(good.work_until(Arc::clone(&over)));
    let attacks: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let noise = Noise::new(seed().wrapping_add(number as u64));
            let client = MaliciousClient::new(broker.address(), noise);
            tokio::spawn(client.attack(INPUTS / CONNECTIONS))
        })
        .collect();
    let mut tally = malicious_client::Tally::default();
    for attack in attacks {
        tally += attack.await.unwrap();
    }
    over.store(true, Ordering::SeqCst);
    println!("{tally}");
    tally.check();
    working.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn field_F118_nobody_but_the_sender_is_harmed() {
    println!("seed {}", seed());
    let panics = count_panics();
    let broker = TestBroker::start().await;
    let client = broker.client();
    client.ok(requests::create_topic(templates::TOPIC, 1)).await;
    let mut good = WellBehavedClient::new(broker.client()).await;
    let (mut memory, mut heap) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        good = round(&broker, good).await;
        let context = broker.context();
        eventually("nothing of the closed connections is left", || {
            context.hold.waiting() == 0 && context.consumers.groups().is_empty()
        })
        .await;
        memory.push(anonymous_memory_kib());
        heap.push(heap_bytes());
    }
    println!(
        "after the rounds: heap {heap:?} bytes, anonymous memory {memory:?} KiB; {} good messages",
        good.sent()
    );
    assert!(heap[1] < heap[0] + HEAP_GROWTH, "the heap grew from round to round: {heap:?} bytes");
    assert!(memory[1] < memory[0] + MEMORY_GROWTH_KIB, "memory grew from round to round: {memory:?} KiB");
    assert_eq!(panics.load(Ordering::SeqCst), 0, "a panic was caught");

    // None of the inputs was a message: what is stored was sent by the well-behaved client.
    let answer = client.ok(RemotingCommand::request(request_code::GET_BROKER_RUNTIME_INFO)).await;
    let KvTable { table } = answer.decode_body().unwrap();
    assert_eq!(table["putMessageTimesTotal"], good.sent().to_string());
    good.check_all().await;
    let broker = broker.restart().await;
    WellBehavedClient::resume(broker.client(), good).check_all().await;
    broker.stop().await;
}
