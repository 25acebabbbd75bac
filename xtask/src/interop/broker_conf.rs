//! Broker settings of the checks, in the property file format of Apache's brokers.

use std::fmt::{self, Display, Formatter};

/// Name of the broker in routes.
pub const BROKER_NAME: &str = "interop-broker";

/// A set of properties, in the order they were given.
#[derive(Clone)]
pub struct BrokerConf {
    properties: Vec<(&'static str, String)>,
}

/// The sizes that decide how a store is laid out in files; a reader must use the same.
pub const SMALL_FILES: [(&str, u32); 4] = [
    ("mappedFileSizeCommitLog", 1_048_576),
    ("mappedFileSizeConsumeQueue", 2_000),
    ("maxHashSlotNum", 100),
    ("maxIndexNum", 400),
];

impl BrokerConf {
    /// What every check uses. Retries come after one second, and a loaded machine is given time.
    pub fn new() -> Self {
        let mut conf = BrokerConf { properties: Vec::new() };
        conf.set("brokerClusterName", "interop");
        conf.set("brokerName", BROKER_NAME);
        conf.set("brokerId", "0");
        conf.set("brokerIP1", "127.0.0.1");
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
