//! A broker inside another program: it starts, takes a message and gives it back, and stops.
//!
//! Run it with `cargo run -p broker-proc --example in_process_broker`.

use anyhow::{Context, Result, ensure};
use broker_proc::broker_config::{BrokerConfig, Loaded};
use broker_proc::remoting::headers::{
    PullMessageRequestHeader, SendMessageRequestHeader, SendMessageResponseHeader, pull_sys_flag,
};
use broker_proc::remoting::{ClientOptions, RemotingClient, RemotingCommand, request_code, response_code};
use broker_proc::{Broker, ProcessSource};
use std::time::Duration;
use store_core::Env;
use store_core::record_format::{Decoded, decode};

const TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut settings: Loaded = BrokerConfig::load(None, &ProcessSource)?;
    settings.store.store_path_root_dir = directory.path().to_owned();
    // 1 MiB instead of 1 GiB: enough to look at.
    settings.store.commit_log.mapped_file_size_commit_log = 1 << 20;
    let broker = Broker::start(Env::os(), settings, 9876).await?;
    let address = broker.address().to_string();
    println!("a broker at {address}, its name server at {:?}", broker.name_server_address());

    let client = RemotingClient::new(ClientOptions::default());
    let sent = send(&client, &address, "Hello StrataMQ").await?;
    println!("sent: queue {} offset {} id {}", sent.queue_id, sent.queue_offset, sent.msg_id);
    println!("received: {}", receive(&client, &address, &sent).await?);

    broker.shutdown().await?;
    println!("stopped cleanly");
    Ok(())
}

/// Sends to a topic that comes into being with it.
async fn send(client: &RemotingClient, address: &str, text: &str) -> Result<SendMessageResponseHeader> {
    let header = SendMessageRequestHeader {
        producer_group: "example_producer".to_owned(),
        topic: "TopicTest".to_owned(),
        default_topic: "TBW102".to_owned(),
        default_topic_queue_nums: 1,
        properties: Some("TAGS\u{1}TagA\u{2}".to_owned()),
        ..Default::default()
    };
    let request =
        RemotingCommand::request_with(request_code::SEND_MESSAGE, &header).with_body(text.to_owned());
    let answer = client.call(address, request, TIMEOUT).await?;
    ensure!(answer.code == response_code::SUCCESS, "not sent: {:?}", answer.remark);
    Ok(answer.decode_header()?)
}

/// Pulls what was sent; the request waits until the message can be read.
async fn receive(client: &RemotingClient, address: &str, sent: &SendMessageResponseHeader) -> Result<String> {
    let header = PullMessageRequestHeader {
        consumer_group: "example_consumer".to_owned(),
        topic: "TopicTest".to_owned(),
        queue_id: sent.queue_id,
        queue_offset: sent.queue_offset,
        max_msg_nums: 1,
        sys_flag: pull_sys_flag::SUSPEND | pull_sys_flag::SUBSCRIPTION,
        suspend_timeout_millis: 5000,
        subscription: Some("TagA".to_owned()),
        ..Default::default()
    };
    let request = RemotingCommand::request_with(request_code::PULL_MESSAGE, &header);
    let answer = client.call(address, request, TIMEOUT).await?;
    ensure!(answer.code == response_code::SUCCESS, "not received: {:?}", answer.remark);
    let body = answer.body.to_bytes();
    let Decoded::Record(record) = decode(&body, true).context("a broken record")? else {
        anyhow::bail!("expected a record, found the end of a log file");
    };
    Ok(String::from_utf8_lossy(record.body).into_owned())
}
