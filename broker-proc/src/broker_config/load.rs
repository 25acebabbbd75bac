use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use store_core::config::{BrokerRole, MessageStoreConfig};

use super::error::{ConfigError, ConfigWarning, WarningKind};
use super::properties::{Properties, Property};
use super::setting::{self, Settings};
use super::{BrokerConfig, is_loopback, known_keys, parse_ip};

/// Where the configuration and the defaults that depend on the machine come from.
pub trait ConfigSource {
    /// The whole file.
    ///
    /// # Errors
    /// Whatever the system says.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Name of this host, for the default of `brokerName`.
    fn host_name(&self) -> Option<String>;

    /// An environment variable: `NAMESRV_ADDR`, and `HOME` for `${user.home}`.
    fn variable(&self, name: &str) -> Option<String>;
}

/// A configuration that has been read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Settings of layer 5.
    pub broker: BrokerConfig,
    /// Settings of the store. Its root is an empty path unless `storePathRootDir` was given.
    pub store: MessageStoreConfig,
    /// `storePathRootDir`, when it was given; otherwise the caller decides and puts it into `store`.
    pub store_path_root_dir: Option<PathBuf>,
    /// What the operator should know, in file order.
    pub warnings: Vec<ConfigWarning>,
    /// Everything the file said.
    pub properties: Properties,
}

/// Settings that change what the broker promises; passing them over in silence would be worse than not starting.
const REFUSED: &[(&str, &str, &str)] = &[
    ("aclEnable", "true", "requests would not be checked, anybody who reaches the port could read and write"),
    ("authenticationEnabled", "true", "requests would not be authenticated"),
    ("authorizationEnabled", "true", "requests would not be authorized"),
    ("enableDLegerCommitLog", "true", "the log of a DLedger group has another format"),
    ("enableControllerMode", "true", "roles given by a controller would be ignored"),
    ("storeType", "defaultRocksDB", "queues kept in RocksDB cannot be read"),
];

impl BrokerConfig {
    /// Reads the file `path`, or takes the defaults when there is none.
    ///
    /// The bytes are read as UTF-8; a file that is not UTF-8 is read as ISO-8859-1, which is how Java reads it.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn load(path: Option<&Path>, source: &dyn ConfigSource) -> Result<Loaded, ConfigError> {
        let Some(path) = path else {
            return Self::parse("", "defaults", source);
        };
        let file = path.display().to_string();
        let bytes =
            source.read(path).map_err(|error| ConfigError::Read { file: file.clone(), cause: error })?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(not_utf8) => not_utf8.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
        };
        Self::parse(&text, &file, source)
    }

    /// Reads properties text; `file` is the name used in messages.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn parse(text: &str, file: &str, source: &dyn ConfigSource) -> Result<Loaded, ConfigError> {
        let properties =
            Properties::parse(text).map_err(|cause| ConfigError::Syntax { file: file.to_owned(), cause })?;
        let mut reader = Reader::new(file, source);
        for property in properties.entries() {
            reader.apply(property)?;
        }
        reader.finish(properties)
    }
}

/// One pass over the entries of a file.
struct Reader<'a> {
    file: &'a str,
    source: &'a dyn ConfigSource,
    settings: Settings,
    lines: BTreeMap<String, usize>,
    warnings: Vec<ConfigWarning>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a str, source: &'a dyn ConfigSource) -> Self {
        let mut broker = BrokerConfig::default();
        if let Some(name) = source.host_name().filter(|name| !name.trim().is_empty()) {
            broker.broker_name = name.trim().to_owned();
        }
        let store = MessageStoreConfig::new(PathBuf::new());
        let settings = Settings { broker, store };
        Self { file, source, settings, lines: BTreeMap::new(), warnings: Vec::new() }
    }

    fn apply(&mut self, property: &Property) -> Result<(), ConfigError> {
        self.refuse_dangerous(property)?;
        if let Some(first_line) = self.lines.insert(property.key.clone(), property.line) {
            self.warn(Some(property.line), &property.key, WarningKind::SetAgain { first_line });
        }
        let value = self.expand_home(property)?;
        if let Some(known) = setting::find(&property.key) {
            let remark = (known.set)(&mut self.settings, &value)
                .map_err(|expected| self.value_error(property, expected))?;
            if let Some(text) = remark {
                self.warn(Some(property.line), &property.key, WarningKind::Adjusted(text));
            }
            return Ok(());
        }
        match known_keys::find(&property.key) {
            Some(known) if known.default == Some(value.trim()) => {}
            Some(_) => self.warn(Some(property.line), &property.key, WarningKind::NoEffect),
            None => {
                let hint = known_keys::nearest(&property.key);
                self.warn(Some(property.line), &property.key, WarningKind::UnknownKey { hint });
            }
        }
        Ok(())
    }

    fn refuse_dangerous(&self, property: &Property) -> Result<(), ConfigError> {
        let value = property.value.trim();
        let refused =
            REFUSED.iter().find(|(key, bad, _)| *key == property.key && value.eq_ignore_ascii_case(bad));
        match refused {
            None => Ok(()),
            Some((_, _, reason)) => Err(ConfigError::Refused {
                file: self.file.to_owned(),
                line: property.line,
                key: property.key.clone(),
                value: value.to_owned(),
                reason,
            }),
        }
    }

    /// Apache's sample files name the home directory as `${user.home}`.
    fn expand_home(&self, property: &Property) -> Result<String, ConfigError> {
        const USER_HOME: &str = "${user.home}";
        if !property.value.contains(USER_HOME) {
            return Ok(property.value.clone());
        }
        match self.source.variable("HOME").filter(|home| !home.is_empty()) {
            Some(home) => Ok(property.value.replace(USER_HOME, &home)),
            None => {
                Err(self
                    .value_error(property, format!("the variable HOME to be set, {USER_HOME} stands for it")))
            }
        }
    }

    fn value_error(&self, property: &Property, expected: String) -> ConfigError {
        ConfigError::Value {
            file: self.file.to_owned(),
            line: property.line,
            key: property.key.clone(),
            value: property.value.clone(),
            expected,
        }
    }

    fn warn(&mut self, line: Option<usize>, key: &str, kind: WarningKind) {
        self.warnings.push(ConfigWarning { file: self.file.to_owned(), line, key: key.to_owned(), kind });
    }

    fn warn_given(&mut self, key: &str, kind: WarningKind) {
        self.warn(self.lines.get(key).copied(), key, kind);
    }

    fn conflict(&self, problem: String) -> ConfigError {
        ConfigError::Conflict { file: self.file.to_owned(), problem }
    }

    fn is_given(&self, key: &str) -> bool {
        self.lines.contains_key(key)
    }

    fn finish(mut self, properties: Properties) -> Result<Loaded, ConfigError> {
        self.settle_role()?;
        self.settle_ports()?;
        self.settle_light_queues();
        self.settle_addresses();
        self.settle_name_servers()?;
        let store_path_root_dir =
            self.is_given("storePathRootDir").then(|| self.settings.store.store_path_root_dir.clone());
        let Settings { broker, store } = self.settings;
        Ok(Loaded { broker, store, store_path_root_dir, warnings: self.warnings, properties })
    }

    /// A master has id 0, a slave another one. Apache overwrites the id of a master and exits on a slave with id 0.
    fn settle_role(&mut self) -> Result<(), ConfigError> {
        let id = self.settings.broker.broker_id;
        match self.settings.store.broker_role {
            BrokerRole::Slave if id == 0 => {
                Err(self
                    .conflict("brokerRole=SLAVE needs brokerId greater than 0, 0 is the master".to_owned()))
            }
            BrokerRole::Slave => Ok(()),
            BrokerRole::AsyncMaster | BrokerRole::SyncMaster if id != 0 => {
                self.settings.broker.broker_id = 0;
                let text =
                    format!("{id} is the id of a slave, but brokerRole makes this a master: 0 is used");
                self.warn_given("brokerId", WarningKind::Adjusted(text));
                Ok(())
            }
            BrokerRole::AsyncMaster | BrokerRole::SyncMaster => Ok(()),
        }
    }

    /// Light queues need both keys.
    fn settle_light_queues(&mut self) {
        let light = &self.settings.store.multi_dispatch;
        let alone = match (light.enable_lmq, light.enable_multi_dispatch) {
            (true, false) => ("enableLmq", "enableMultiDispatch"),
            (false, true) => ("enableMultiDispatch", "enableLmq"),
            _ => return,
        };
        let text = format!("light queues are not served without {}=true", alone.1);
        self.warn_given(alone.0, WarningKind::Adjusted(text));
    }

    fn settle_ports(&self) -> Result<(), ConfigError> {
        let broker = &self.settings.broker;
        let ha = broker.ha_port();
        if ha == broker.listen_port || ha == broker.fast_listen_port() {
            return Err(self.conflict(format!(
                "haListenPort={ha} is taken: listenPort={} also serves port {}",
                broker.listen_port,
                broker.fast_listen_port()
            )));
        }
        Ok(())
    }

    /// Announces the bind address when it is one address, and says loudly what can be reached from outside.
    fn settle_addresses(&mut self) {
        let bind = self.settings.broker.bind_address.clone();
        let wildcard = parse_ip(&bind).is_some_and(|ip| ip.is_unspecified());
        if !self.is_given("brokerIP1") && !wildcard {
            self.settings.broker.broker_ip1.clone_from(&bind);
        }
        if !self.is_given("brokerIP2") {
            self.settings.broker.broker_ip2.clone_from(&self.settings.broker.broker_ip1);
        }
        if !is_loopback(&bind) {
            let text = format!(
                "the broker listens on {bind}: without access control everybody who reaches it can read and write"
            );
            self.warn_given("bindAddress", WarningKind::Exposed(text));
            if is_loopback(&self.settings.broker.broker_ip1) {
                let text = format!(
                    "clients are told {}, which only works on this machine; set brokerIP1 to the address they reach",
                    self.settings.broker.broker_ip1
                );
                self.warn_given("brokerIP1", WarningKind::Exposed(text));
            }
        }
    }

    /// `NAMESRV_ADDR` stands in for a missing `namesrvAddr`, as with Apache.
    fn settle_name_servers(&mut self) -> Result<(), ConfigError> {
        if self.is_given("namesrvAddr") {
            return Ok(());
        }
        let Some(list) = self.source.variable("NAMESRV_ADDR") else {
            return Ok(());
        };
        let addresses = super::value::addresses(&list).map_err(|expected| {
            self.conflict(format!("variable NAMESRV_ADDR={list}: expected {expected}"))
        })?;
        self.settings.broker.namesrv_addr = (!addresses.is_empty()).then_some(addresses);
        Ok(())
    }
}

impl Loaded {
    /// Applies properties text sent by an admin (UPDATE_BROKER_CONFIG 25) on top of this configuration and returns what
    /// the operator should know. Values are checked as in a file; unknown keys are warned about and kept.
    ///
    /// Which changes take effect without a restart is the caller's business: it compares before and after.
    ///
    /// # Errors
    /// See [`ConfigError`]; nothing is changed then.
    pub fn apply_changes(
        &mut self,
        text: &str,
        origin: &str,
        source: &dyn ConfigSource,
    ) -> Result<Vec<ConfigWarning>, ConfigError> {
        let changes = Properties::parse(text)
            .map_err(|cause| ConfigError::Syntax { file: origin.to_owned(), cause })?;
        let mut reader = Reader::new(origin, source);
        reader.settings = Settings { broker: self.broker.clone(), store: self.store.clone() };
        for property in changes.entries() {
            reader.apply(property)?;
        }
        reader.settle_role()?;
        reader.settle_ports()?;
        let Settings { broker, store } = reader.settings;
        (self.broker, self.store) = (broker, store);
        self.properties.append(changes);
        Ok(reader.warnings)
    }

    /// All keys with the values in force, as sorted `key=value` lines: the answer to GET_BROKER_CONFIG (26).
    ///
    /// Keys without effect show what the file says, else Apache's default; those whose default depends on the machine
    /// are left out until the file names them, `storePathRootDir` until it is set.
    pub fn effective_properties(&self) -> String {
        let mut values: BTreeMap<&str, String> = BTreeMap::new();
        for known in known_keys::all() {
            if let Some(default) = known.default {
                values.insert(known.key, default.to_owned());
            }
        }
        for property in self.properties.entries() {
            values.insert(&property.key, property.value.clone());
        }
        let settings = Settings { broker: self.broker.clone(), store: self.store.clone() };
        for setting in setting::all() {
            values.insert(setting.key, (setting.show)(&settings));
        }
        if self.store.store_path_root_dir.as_os_str().is_empty() {
            values.remove("storePathRootDir");
        }
        values.iter().map(|(key, value)| format!("{key}={value}\n")).collect()
    }
}
