use super::{SkippingClock, TestClient, free_port};
use broker_proc::broker_config::{BrokerConfig, ConfigSource, Loaded};
use broker_proc::{Broker, BrokerContext};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store_core::Env;
use tempfile::TempDir;

/// Small files, so that a start is cheap and files roll.
const SETTINGS: &str = "\
brokerClusterName=TestCluster
brokerName=test-broker
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=20000
maxHashSlotNum=1000
maxIndexNum=4000
maxMessageSize=65536
";

/// No file, no host, no variables: tests do not depend on the machine.
struct NoSource;

impl ConfigSource for NoSource {
    fn read(&self, _path: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn host_name(&self) -> Option<String> {
        None
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
}

/// A broker with its name server, in a directory of its own.
pub struct TestBroker {
    broker: Broker,
    clock: Arc<SkippingClock>,
    settings: String,
    port: u16,
    directory: TempDir,
}

impl TestBroker {
    /// A broker with the settings of all tests.
    pub async fn start() -> Self {
        Self::with("").await
    }

    /// A broker with further lines of `broker.conf`; a key that is set again counts.
    pub async fn with(more_settings: &str) -> Self {
        let settings = format!("{SETTINGS}{more_settings}");
        let clock = Arc::new(SkippingClock::new());
        loop {
            let directory = tempfile::tempdir().unwrap();
            let port = free_port();
            match open(&settings, directory.path(), port, &clock).await {
                Ok(broker) => return Self { broker, clock, settings, port, directory },
                // Somebody else was faster.
                Err(error) if is_address_in_use(&error) => {}
                Err(error) => panic!("{error:#}"),
            }
        }
    }

    /// Stops the broker and starts it again on the same store and port.
    pub async fn restart(self) -> Self {
        let Self { broker, clock, settings, port, directory } = self;
        broker.shutdown().await.unwrap();
        let broker = open(&settings, directory.path(), port, &clock).await.unwrap();
        Self { broker, clock, settings, port, directory }
    }

    /// Stops the broker; a stop that is not clean fails the test.
    pub async fn stop(self) {
        self.broker.shutdown().await.unwrap();
    }

    /// `ip:port` of the main port.
    pub fn address(&self) -> String {
        self.broker.address().to_string()
    }

    /// A new client of the main port.
    pub fn client(&self) -> TestClient {
        TestClient::new(&self.address())
    }

    /// A new client of the fast port.
    pub fn fast_client(&self) -> TestClient {
        TestClient::new(&format!("127.0.0.1:{}", self.port - 2))
    }

    /// A new client of the name server.
    pub fn name_server_client(&self) -> TestClient {
        TestClient::new(&self.broker.name_server_address().unwrap().to_string())
    }

    /// The broker's parts.
    pub fn context(&self) -> &Arc<BrokerContext> {
        self.broker.context()
    }

    /// The running broker.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    /// The store's directory.
    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// The settings it runs with, as text of `broker.conf`.
    pub fn settings(&self) -> &str {
        &self.settings
    }

    /// Puts the broker's clock forward.
    pub fn skip(&self, time: Duration) {
        self.clock.skip(time);
    }
}

async fn open(settings: &str, root: &Path, port: u16, clock: &Arc<SkippingClock>) -> anyhow::Result<Broker> {
    let mut loaded: Loaded = BrokerConfig::parse(settings, "test.conf", &NoSource)?;
    loaded.store.store_path_root_dir = root.to_owned();
    loaded.broker.listen_port = port;
    Broker::start(Env::os().with_clock(Arc::clone(clock) as Arc<_>), loaded, 0).await
}

fn is_address_in_use(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::AddrInUse)
}
