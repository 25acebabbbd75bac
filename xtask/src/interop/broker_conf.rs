//! Broker settings of the checks, in the property file format of Apache's brokers.

use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv4Addr};

/// Name of the broker in routes.
pub const BROKER_NAME: &str = "interop-broker";

/// A set of properties, in the order they were given.
#[derive(Clone)]
pub struct BrokerConf {
    ip: IpAddr,
    properties: Vec<(&'static str, String)>,
}

/// The sizes that decide how a store is laid out in files; a reader must use the same.
const SMALL_FILES: [(&str, u32); 4] = [
    ("mappedFileSizeCommitLog", 1_048_576),
    ("mappedFileSizeConsumeQueue", 2_000),
    ("maxHashSlotNum", 100),
    ("maxIndexNum", 400),
];

impl BrokerConf {
    /// What every check uses. Retries come after one second, and a loaded machine is given time.
    pub fn new() -> Self {
        let mut conf = BrokerConf { ip: Ipv4Addr::LOCALHOST.into(), properties: Vec::new() };
        conf.set("brokerClusterName", "interop");
        conf.set("brokerName", BROKER_NAME);
        conf.set("brokerId", "0");
        conf.listen_on(Ipv4Addr::LOCALHOST.into());
        conf.set("autoCreateTopicEnable", "true");
        conf.set("messageDelayLevel", "1s 1s 1s 1s 2s 2s 2s 2s 3s 3s 3s 3s 4s 4s 4s 4s 5s 5s");
        conf.set("timerWheelEnable", "false");
        conf.set("waitTimeMillsInSendQueue", "10000");
        conf.set("waitTimeMillsInPullQueue", "10000");
        conf.set("osPageCacheBusyTimeOutMills", "10000");
        conf
    }

    /// With small files, so that a few megabytes fill several of each kind.
    pub fn small_files() -> Self {
        let mut conf = BrokerConf::new();
        for (name, size) in SMALL_FILES {
            conf.set(name, size);
        }
        conf
    }

    /// The address that the broker and its name server listen on and tell their clients.
    pub fn listen_on(&mut self, ip: IpAddr) {
        self.ip = ip;
        self.set("bindAddress", ip);
        self.set("brokerIP1", ip);
    }

    /// See [`BrokerConf::listen_on`]; 127.0.0.1 unless it was called.
    pub fn ip(&self) -> IpAddr {
        self.ip
    }

    /// The value of a property; none unless it was set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(existing, _)| *existing == name).map(|(_, value)| value.as_str())
    }

    /// Adds a property or changes it.
    pub fn set(&mut self, name: &'static str, value: impl Display) {
        self.properties.retain(|(existing, _)| *existing != name);
        self.properties.push((name, value.to_string()));
    }
}

impl Display for BrokerConf {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.properties.iter().try_for_each(|(name, value)| writeln!(formatter, "{name}={value}"))
    }
}
