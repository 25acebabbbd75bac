use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::remoting::test_handler::{ECHO, LONG, RawClient, TestHandler, WAIT, request, serve};
use crate::remoting::{RemotingServer, ServerOptions};

#[tokio::test]
async fn an_address_in_use_is_named() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let addr = server.local_addr();
    let error = RemotingServer::bind(addr, ServerOptions::default(), handler).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("listening on {addr}: ")), "{error}");
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_at_once() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions { max_connections: 1, ..Default::default() }, &handler).await;
    let mut first = RawClient::connect(&server).await;
    first.send(0, vec![request(ECHO, "")]).await;
    assert!(first.receive().await.is_some());
    let mut second = RawClient::connect(&server).await;
    assert_eq!(second.receive().await, None);
    assert_eq!(server.connection_count(), 1);
    first.send(1, vec![request(ECHO, "")]).await;
    assert!(first.receive().await.is_some());
}

#[tokio::test]
async fn shutdown_answers_what_is_being_served() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let addr = server.local_addr();
    let mut busy = RawClient::connect(&server).await;
    busy.send(0, vec![request(WAIT, ""), request(ECHO, "")]).await;
    assert_eq!(busy.receive().await.unwrap().opaque, 1);
    let mut quiet = RawClient::connect(&server).await;
    quiet.send(0, vec![request(ECHO, "")]).await;
    quiet.receive().await.unwrap();
    let stopping = tokio::spawn(server.shutdown(LONG));
    assert_eq!(quiet.receive().await, None, "a connection without work ends at once");
    handler.gate.add_permits(1);
    assert_eq!(busy.receive().await.unwrap().opaque, 0);
    assert_eq!(busy.receive().await, None);
    stopping.await.unwrap();
    assert_eq!(handler.closed.load(Ordering::SeqCst), 2);
    assert!(TcpStream::connect(addr).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn shutdown_does_not_wait_for_ever() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(0, vec![request(WAIT, ""), request(ECHO, "")]).await;
    client.receive().await.unwrap();
    server.shutdown(Duration::from_millis(1)).await;
    assert_eq!(client.receive().await, None);
    assert_eq!(handler.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn open_connections_can_be_reached_and_closed() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let mut client = RawClient::connect(&server).await;
    client.send(0, vec![request(ECHO, "")]).await;
    client.receive().await.unwrap();
    let [channel]: [_; 1] = server.channels().try_into().unwrap();
    assert_eq!(channel.peer(), client.stream.local_addr().unwrap());
    assert_eq!(channel.local(), server.local_addr());
    channel.push(request(77, "hello")).unwrap();
    assert_eq!(client.receive().await.unwrap().code, 77);
    channel.close();
    assert_eq!(client.receive().await, None);
    drop(Arc::clone(&channel));
    assert!(channel.push(request(78, "")).is_err());
}
