use std::time::Duration;

use crate::remoting::test_handler::{ASK_BACK, ECHO, LONG, SILENCE, TestHandler, WAIT, request, serve};
use crate::remoting::{ChannelError, ClientOptions, RemotingClient, RemotingServer, ServerOptions};

#[tokio::test]
async fn calls_share_one_connection_and_get_their_own_answers() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let addr = server.local_addr().to_string();
    let client = RemotingClient::new(ClientOptions::default());
    let calls: Vec<_> = (0..100)
        .map(|number| {
            let (client, addr) = (client.clone(), addr.clone());
            tokio::spawn(async move {
                let text = format!("call {number}");
                let answer = client.call(&addr, request(ECHO, &text), LONG).await.unwrap();
                assert_eq!(answer.body.to_bytes(), text);
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(server.connection_count(), 1);
}

#[tokio::test]
async fn the_other_end_may_ask_too() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let addr = server.local_addr().to_string();
    let client = RemotingClient::with_handler(ClientOptions::default(), TestHandler::new());
    let answer = client.call(&addr, request(ASK_BACK, "there and back"), LONG).await.unwrap();
    assert_eq!(answer.body.to_bytes(), "there and back");
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let addr = server.local_addr();
    let client = RemotingClient::new(ClientOptions::default());
    client.call(&addr.to_string(), request(ECHO, ""), LONG).await.unwrap();
    let waiting = {
        let (client, addr) = (client.clone(), addr.to_string());
        tokio::spawn(async move { client.call(&addr, request(WAIT, ""), LONG).await })
    };
    client.call(&addr.to_string(), request(ECHO, ""), LONG).await.unwrap();
    server.shutdown(Duration::ZERO).await;
    let error = waiting.await.unwrap().unwrap_err();
    // The request may have been on its way or not yet sent; both are named.
    assert!(matches!(error, ChannelError::Closed { .. } | ChannelError::Connect { .. }), "{error}");
    assert!(error.to_string().contains(&addr.to_string()), "{error}");
    let again = RemotingServer::bind(addr, ServerOptions::default(), handler).await.unwrap();
    client.call(&addr.to_string(), request(ECHO, ""), LONG).await.unwrap();
    assert_eq!(again.connection_count(), 1);
}

#[tokio::test]
async fn errors_name_address_and_request() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let addr = server.local_addr().to_string();
    let client = RemotingClient::new(ClientOptions::default());
    let late = client.call(&addr, request(SILENCE, ""), Duration::from_millis(20)).await.unwrap_err();
    assert!(late.to_string().starts_with(&format!("no answer from {addr} to 5 within ")), "{late}");
    client.oneway(&addr, request(ECHO, "")).await.unwrap();
    assert!(client.connected(&addr).await.is_some());
    client.disconnect(&addr).await;
    assert!(client.connected(&addr).await.is_none());
    server.shutdown(Duration::ZERO).await;
    let refused = client.call(&addr, request(34, ""), LONG).await.unwrap_err();
    assert!(
        refused.to_string().starts_with(&format!("connecting to {addr} for HEART_BEAT (34): ")),
        "{refused}"
    );
    let unknown = client.call("no port here", request(34, ""), LONG).await.unwrap_err();
    assert!(unknown.to_string().starts_with("connecting to no port here for "), "{unknown}");
}

#[tokio::test]
async fn connections_end_with_the_last_clone() {
    let handler = TestHandler::new();
    let server = serve(ServerOptions::default(), &handler).await;
    let client = RemotingClient::new(ClientOptions::default());
    let addr = server.local_addr().to_string();
    client.call(&addr, request(ECHO, ""), LONG).await.unwrap();
    let [channel]: [_; 1] = server.channels().try_into().unwrap();
    drop(client);
    let question = channel.call(request(SILENCE, ""), LONG).await;
    assert!(matches!(question, Err(ChannelError::Closed { .. })), "{question:?}");
}
