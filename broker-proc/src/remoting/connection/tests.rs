use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use super::ConnectionOptions;
use crate::remoting::test_handler::{
    ECHO, LONG, PANIC, PANIC_LATER, PUSH, RawClient, SILENCE, SIZED, TestHandler, WAIT, request, serve,
};
use crate::remoting::{RemotingCommand, SerializeType, ServerOptions, response_code};

fn options(change: impl FnOnce(&mut ConnectionOptions)) -> ServerOptions {
    let mut options = ServerOptions::default();
    change(&mut options.connection);
    options
}

fn body(command: &RemotingCommand) -> String {
    String::from_utf8(command.body.to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn many_requests_in_one_write_are_all_answered() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    let requests = (0..500).map(|number| request(ECHO, &format!("body {number}"))).collect();
    client.send(100, requests).await;
    for number in 0..500 {
        let answer = client.receive().await.unwrap();
        assert!(answer.is_response());
        assert_eq!((answer.opaque, body(&answer)), (100 + number, format!("body {number}")));
    }
}

#[tokio::test]
async fn a_request_that_waits_holds_up_no_other() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(0, vec![request(WAIT, "first"), request(ECHO, "second")]).await;
    assert_eq!(body(&client.receive().await.unwrap()), "second");
    handler.gate.add_permits(1);
    let late = client.receive().await.unwrap();
    assert_eq!((late.opaque, body(&late)), (0, "first".to_owned()));
}

#[tokio::test]
async fn answers_in_waiting_are_dropped_with_the_connection() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(0, vec![request(WAIT, ""), request(ECHO, "")]).await;
    client.receive().await.unwrap();
    drop(client);
    tokio::time::timeout(LONG, handler.dropped.notified()).await.unwrap();
}

#[tokio::test]
async fn a_panic_is_an_answer_and_ends_nothing() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    for (opaque, code) in [(1, PANIC), (2, PANIC_LATER)] {
        client.send(opaque, vec![request(code, "")]).await;
        let answer = client.receive().await.unwrap();
        assert_eq!((answer.opaque, answer.code), (opaque, response_code::SYSTEM_ERROR));
        let expected = format!("internal error while serving request type {code}");
        assert_eq!(answer.remark, Some(expected));
    }
    client.send(3, vec![request(ECHO, "alive")]).await;
    assert_eq!(body(&client.receive().await.unwrap()), "alive");
}

#[tokio::test]
async fn requests_that_want_no_answer_get_none() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    handler.gate.add_permits(1);
    let quiet: Vec<_> = [ECHO, WAIT, PANIC, PANIC_LATER, 4711].map(|code| request(code, "").oneway()).into();
    client.send(0, quiet).await;
    client.send(10, vec![request(SILENCE, ""), request(ECHO, "")]).await;
    assert_eq!(client.receive().await.unwrap().opaque, 11);
    assert_eq!(handler.handled.load(Ordering::SeqCst), 7);
}

#[tokio::test]
async fn pushes_go_out_before_the_answer_in_the_encoding_of_the_request() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    for serialize in [SerializeType::Json, SerializeType::RocketMq] {
        let mut asking = request(PUSH, "x");
        asking.serialize = serialize;
        client.send(50, vec![asking]).await;
        for expected_flag in [2, 2, 1] {
            let command = client.receive().await.unwrap();
            assert_eq!((command.flag, command.serialize), (expected_flag, serialize));
        }
    }
}

#[tokio::test]
async fn what_is_no_frame_closes_that_connection_only() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut well_behaved = RawClient::connect(&server).await;
    let bad: [&[u8]; 7] = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x01\0\x01\0\0F",
        b"\xff\xff\xff\xff\0\0\0\0",
        b"\0\0\0\x02\0\0",
        b"\0\0\0\x0f\0\0\0\x0b{\"code\":34,",
        b"\0\0\0\x0f\x07\0\0\x0b{\"code\":34}",
        b"\0\0\0\x0f\0\0\x13\x88{\"code\":28}",
    ];
    for bytes in bad {
        let mut client = RawClient::connect(&server).await;
        client.stream.write_all(bytes).await.unwrap();
        assert_eq!(client.receive().await, None, "{}", bytes.escape_ascii());
    }
    well_behaved.send(0, vec![request(ECHO, "still here")]).await;
    assert_eq!(body(&well_behaved.receive().await.unwrap()), "still here");
}

#[tokio::test]
async fn idle_connections_are_closed() {
    let handler = TestHandler::new();
    let server = serve(options(|options| options.idle_timeout = Duration::from_millis(50)), &handler).await;
    let mut client = RawClient::connect(&server).await;
    assert_eq!(client.receive().await, None);
}

#[tokio::test]
async fn a_frame_that_does_not_end_closes_the_connection() {
    let handler = TestHandler::new();
    let server = serve(options(|options| options.frame_timeout = Duration::from_millis(50)), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(0, vec![request(ECHO, "whole")]).await;
    assert_eq!(body(&client.receive().await.unwrap()), "whole");
    client.stream.write_all(b"\0\0\0\x40\0").await.unwrap();
    assert_eq!(client.receive().await, None);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_served_ahead() {
    let handler = TestHandler::new();
    let server = serve(options(|options| options.max_unsent = 64 * 1024), &handler).await;
    let mut client = RawClient::connect(&server).await;
    let sized = || RemotingCommand::request(SIZED).with_field("size", "1048576");
    client.send(0, (0..100).map(|_| sized()).collect()).await;
    assert_eq!(client.receive().await.unwrap().opaque, 0);
    // The rest lies in the buffers of the two sockets.
    let handled = handler.handled.load(Ordering::SeqCst);
    assert!(handled < 60, "{handled} requests were served ahead of the reader");
    for opaque in 1..100 {
        let answer = client.receive().await.unwrap();
        assert_eq!((answer.opaque, answer.body.len()), (opaque, 1_048_576));
    }
}

#[tokio::test]
async fn more_waiting_requests_than_allowed_are_turned_away() {
    let handler = TestHandler::new();
    let server = serve(options(|options| options.max_in_flight = 2), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(0, (0..3).map(|_| request(WAIT, "")).collect()).await;
    let refused = client.receive().await.unwrap();
    assert_eq!((refused.opaque, refused.code), (2, response_code::SYSTEM_BUSY));
    assert_eq!(refused.remark.as_deref(), Some("[OVERLOAD]system busy, start flow control for a while"));
    handler.gate.add_permits(2);
    for _ in 0..2 {
        assert_eq!(client.receive().await.unwrap().code, response_code::SUCCESS);
    }
    client.send(3, vec![request(ECHO, "")]).await;
    assert_eq!(client.receive().await.unwrap().code, response_code::SUCCESS);
}

#[tokio::test]
async fn an_answer_too_large_for_a_frame_becomes_an_error() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(5, vec![RemotingCommand::request(SIZED).with_field("size", "16777216")]).await;
    let answer = client.receive().await.unwrap();
    assert_eq!((answer.opaque, answer.code), (5, response_code::SYSTEM_ERROR));
    let remark = answer.remark.unwrap();
    assert!(remark.starts_with("the answer does not fit into a frame: frame of 16777"), "{remark}");
}
