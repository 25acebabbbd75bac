//! The program as an operator sees it: what it prints, how it ends, what it leaves behind.

#[path = "in_process/in_process.rs"]
mod in_process;
#[path = "program/process.rs"]
mod process;

use broker_proc::remoting::headers::GetRouteInfoRequestHeader;
use broker_proc::remoting::protocol::TopicRouteData;
use broker_proc::remoting::{RemotingCommand, request_code};
use in_process::{TestClient, free_port, requests};
use process::{Process, Site};
use std::net::{TcpListener, TcpStream};

#[test]
fn the_banner_says_where_everything_is_and_what_to_try() {
    let site = Site::new("brokerName=banner\nbrokerClusterName=Shown\n");
    let (mut broker, port) = site.start();
    let banner = broker.banner();
    let row = |name: &str| {
        let found = banner.iter().find_map(|line| line.strip_prefix(name).map(str::trim));
        found.unwrap_or_else(|| panic!("no row {name:?} in {banner:#?}")).to_owned()
    };
    assert!(
        banner[0].starts_with("StrataMQ ") && banner[0].contains("banner") && banner[0].contains("Shown")
    );
    assert_eq!(row("remoting"), format!("127.0.0.1:{port}"));
    assert_eq!(row("fast"), format!("127.0.0.1:{}", port - 2));
    assert!(row("replication").starts_with(&format!("127.0.0.1:{}", port + 1)));
    assert!(row("store").contains(&site.store().display().to_string()));
    assert!(row("recovered").starts_with("after a clean stop"), "{}", row("recovered"));
    let name_server = row("name server");
    let name_server = name_server.strip_suffix(" (in this process)").unwrap();
    assert!(row("try").starts_with(&format!("stratamq send -n {name_server} --topic TopicTest ")));
    let addresses = [name_server.to_owned(), format!("127.0.0.1:{port}"), format!("127.0.0.1:{}", port - 2)];
    for address in addresses {
        TcpStream::connect(&address).unwrap_or_else(|error| panic!("{address}: {error}"));
    }
    assert!(broker.terminate("TERM").status.success());
}

#[test]
fn a_key_that_nobody_knows_is_named() {
    let site = Site::new("# comment\nbrokerNaem=typo\nno.such.key=1\nslaveReadEnable=true\n");
    let (mut broker, _) = site.start();
    broker.banner();
    let ended = broker.terminate("TERM");
    let file = site.config().display().to_string();
    let line = site.first_line();
    let expected = [
        format!("warning: {file}:{}: brokerNaem: unknown key, ignored; did you mean `brokerName`?", line + 1),
        format!("warning: {file}:{}: no.such.key: unknown key, ignored", line + 2),
    ];
    for warning in expected {
        assert!(ended.errors.lines().any(|line| line == warning), "{warning:?} in {}", ended.errors);
    }
}

#[test]
fn a_bad_value_stops_the_start() {
    let cases = [
        ("listenPort=many\n", "listenPort=many: expected a whole number from 3 to 65534"),
        ("flushDiskType=SOMETIMES\n", "flushDiskType=SOMETIMES: expected ASYNC_FLUSH or SYNC_FLUSH"),
        ("traceOn=maybe\n", "traceOn=maybe: expected true or false"),
        ("aclEnable=true\n", "aclEnable=true is not supported by this release"),
    ];
    for (line, expected) in cases {
        let site = Site::new(line);
        let ended = site.refused_start();
        let expected = format!("stratamq: {}:{}: {expected}", site.config().display(), site.first_line());
        assert_eq!(ended.status.code(), Some(1), "{}", ended.errors);
        assert!(ended.errors.starts_with(&expected), "{expected:?} in {}", ended.errors);
        assert!(!site.store().exists(), "the store was not touched");
    }
}

#[test]
fn a_file_that_is_not_there() {
    let site = Site::new("");
    std::fs::remove_file(site.config()).unwrap();
    let ended = site.refused_start();
    assert_eq!(ended.status.code(), Some(1));
    let expected = format!("stratamq: {}: cannot read the configuration", site.config().display());
    assert!(ended.errors.starts_with(&expected), "{}", ended.errors);
    assert_eq!(ended.errors.matches("not found").count(), 1, "said once: {}", ended.errors);
}

#[test]
fn a_port_that_is_taken_is_named_and_the_store_left_clean() {
    let site = Site::new("");
    let (listener, port) = loop {
        let port = free_port();
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            break (listener, port);
        }
    };
    let ended = site.refused_start_on(port);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.errors);
    assert!(ended.errors.contains(&format!("listening on 127.0.0.1:{port}: ")), "{}", ended.errors);
    assert!(!site.abort_file().exists(), "the next start has nothing to recover");
    drop(listener);
}

/// Whether whoever started these tests has SIGHUP ignored, which the program inherits.
fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[test]
fn asked_to_stop_it_stops_cleanly() {
    let site = Site::new("");
    for mut signal in ["TERM", "INT", "HUP"] {
        let (mut broker, _) = site.start();
        let recovered = broker.banner().into_iter().find(|line| line.starts_with("recovered")).unwrap();
        assert!(recovered.contains("after a clean stop"), "{recovered}");
        assert!(site.abort_file().exists(), "as long as it runs");
        if signal == "HUP" && is_hang_up_ignored() {
            // As under `nohup`: it stays, and the next signal is the first it hears of.
            broker.signal(signal);
            signal = "TERM";
        }
        let ended = broker.terminate(signal);
        assert_eq!(ended.status.code(), Some(0), "{signal}: {}", ended.errors);
        assert!(ended.errors.contains("stopped cleanly"), "{}", ended.errors);
        assert!(!site.abort_file().exists(), "{signal}");
    }
}

#[test]
fn asked_to_stop_again_it_ends_at_once() {
    let mut name_server = Process::start(&["namesrv", "--port", "0"]);
    let line = name_server.until("name server at ");
    let (_, address) = line.rsplit_once(' ').unwrap();
    let site = Site::new(&format!("namesrvAddr={address}\n"));
    let (mut broker, _) = site.start();
    broker.banner();
    // The broker takes its leave of a name server that does not answer any more.
    name_server.signal("STOP");
    let ended = broker.insist("TERM");
    assert_eq!(ended.status.code(), Some(1), "{}", ended.errors);
    assert!(ended.errors.contains("asked to stop again"), "{}", ended.errors);
    assert!(site.abort_file().exists(), "the next start recovers");
}

#[test]
fn nobody_needs_to_read_what_it_says() {
    let site = Site::new("no.such.key=1\n");
    for both in [false, true] {
        let broker = site.start_unread(both);
        assert!(site.abort_file().exists(), "as long as it runs");
        let ended = broker.terminate("TERM");
        assert_eq!(ended.status.code(), Some(0), "both closed: {both}: {}", ended.errors);
        assert!(!site.abort_file().exists(), "both closed: {both}");
    }
}

#[tokio::test]
async fn what_nobody_reads_is_sent_all_the_same() {
    let site = Site::new("defaultTopicQueueNums=1\n");
    let (mut broker, port) = site.start();
    let banner = broker.banner();
    let row = banner.iter().find_map(|line| line.strip_prefix("name server")).unwrap();
    let (name_server, _) = row.trim().split_once(' ').unwrap();
    let arguments = ["send", "-n", name_server, "--topic", "Unread", "--count", "200"];
    let ended = Process::start_unread(&arguments, false).wait();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.errors);
    assert!(ended.errors.contains("sent 200 messages"), "{}", ended.errors);
    let client = TestClient::new(&format!("127.0.0.1:{port}"));
    client.until_dispatched("Unread", 0, 200).await;
    assert!(broker.terminate("TERM").status.success());
}

#[test]
fn an_error_of_the_disk_is_told_once() {
    let site = Site::new("");
    std::fs::write(site.store(), "a file in its place").unwrap();
    let ended = site.refused_start();
    assert_eq!(ended.status.code(), Some(1));
    let reason = "(os error ";
    assert_eq!(ended.errors.matches(reason).count(), 1, "{}", ended.errors);
}

#[tokio::test]
async fn killed_it_recovers_what_it_had_answered() {
    let site = Site::new("");
    let (mut broker, port) = site.start();
    broker.banner();
    let client = TestClient::new(&format!("127.0.0.1:{port}"));
    for body in ["a", "b", "c"] {
        client.send("Killed", 0, body, "").await;
    }
    broker.kill();
    assert!(site.abort_file().exists());

    let (mut broker, port) = site.start();
    let recovered = broker.banner().into_iter().find(|line| line.starts_with("recovered")).unwrap();
    assert!(recovered.contains("after a crash") && recovered.contains("checked 3 records"), "{recovered}");
    let client = TestClient::new(&format!("127.0.0.1:{port}"));
    assert_eq!(client.max_offset("Killed", 0).await, 3);
    let (_, messages) = client.pull(&requests::pull_header("readers", "Killed", 0, 0), 0).await;
    assert_eq!(messages.iter().map(|message| message.body.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(broker.terminate("TERM").status.success());
    assert!(!site.abort_file().exists());
}

#[test]
fn a_store_has_one_process() {
    let site = Site::new("");
    let (mut first, port) = site.start();
    first.banner();
    let ended = site.refused_start();
    assert_eq!(ended.status.code(), Some(1), "{}", ended.errors);
    assert!(
        ended
            .errors
            .contains("another process (a StrataMQ or RocketMQ broker) is using this store; stop it first")
    );
    assert!(ended.errors.contains(&site.store().display().to_string()), "{}", ended.errors);
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert!(site.abort_file().exists(), "it is the first one's");
    assert!(first.terminate("TERM").status.success());
}

#[tokio::test]
async fn a_name_server_of_its_own_serves_a_broker() {
    let mut name_server = Process::start(&["namesrv", "--port", "0"]);
    let line = name_server.until("name server at ");
    let (_, address) = line.rsplit_once(' ').unwrap();
    let site = Site::new(&format!("namesrvAddr={address}\nbrokerName=apart\n"));
    let (mut broker, port) = site.start();
    let banner = broker.banner();
    let row = banner.iter().find_map(|line| line.strip_prefix("name server")).unwrap();
    assert_eq!(row.trim(), address);

    let client = TestClient::new(address);
    let header = GetRouteInfoRequestHeader { topic: "apart".to_owned(), ..Default::default() };
    let ask = || RemotingCommand::request_with(request_code::GET_ROUTEINFO_BY_TOPIC, &header);
    let route: TopicRouteData = client.ok(ask()).await.decode_body().unwrap();
    assert_eq!(route.broker_datas[0].broker_addrs.get(&0), Some(&format!("127.0.0.1:{port}")));
    assert!(broker.terminate("TERM").status.success());
    let gone = client.call(ask()).await;
    assert_ne!(gone.code, 0, "the broker took its leave");
    let ended = name_server.terminate("TERM");
    assert_eq!(ended.status.code(), Some(0), "{}", ended.errors);
}
