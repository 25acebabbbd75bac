use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use store_core::config::{BrokerRole, DamagedCommitLogPolicy, FlushDiskType};

use super::*;

/// A machine called `box` with the given files and variables.
#[derive(Default)]
struct Machine {
    files: HashMap<PathBuf, Vec<u8>>,
    variables: HashMap<String, String>,
    nameless: bool,
}

impl ConfigSource for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn host_name(&self) -> Option<String> {
        (!self.nameless).then(|| "box".to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
}

fn with_variable(name: &str, value: &str) -> Machine {
    Machine { variables: HashMap::from([(name.to_owned(), value.to_owned())]), ..Machine::default() }
}

fn parse(text: &str) -> Result<Loaded, ConfigError> {
    BrokerConfig::parse(text, "broker.conf", &Machine::default())
}

fn loaded(text: &str) -> Loaded {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

fn warnings(text: &str) -> Vec<String> {
    loaded(text).warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_are_apaches_on_loopback() {
    let loaded = BrokerConfig::load(None, &Machine::default()).expect("defaults");
    assert_eq!(loaded.broker, BrokerConfig { broker_name: "box".to_owned(), ..BrokerConfig::default() });
    assert_eq!(loaded.broker.broker_addr(), "127.0.0.1:10911");
    assert_eq!(loaded.broker.ha_server_addr(), "127.0.0.1:10912");
    assert_eq!(loaded.broker.fast_listen_port(), 10_909);
    assert_eq!(loaded.store_path_root_dir, None);
    assert_eq!(loaded.warnings, []);
}

#[test]
fn name_without_a_host_name() {
    let machine = Machine { nameless: true, ..Machine::default() };
    let loaded = BrokerConfig::load(None, &machine).expect("defaults");
    assert_eq!(loaded.broker.broker_name, "DEFAULT_BROKER");
}

#[test]
fn typed_defaults_agree_with_the_table_of_known_keys() {
    let loaded = loaded("storePathRootDir=/s");
    let settings = setting::Settings { broker: loaded.broker.clone(), store: loaded.store.clone() };
    let ours = ["bindAddress"];
    let unknown_to_apache = ["damagedCommitLogPolicy"];
    for setting in setting::all().filter(|setting| !unknown_to_apache.contains(&setting.key)) {
        let known = known_keys::find(setting.key).unwrap_or_else(|| panic!("{} is not known", setting.key));
        let fixed =
            known.default.filter(|_| !ours.contains(&setting.key) && setting.key != "storePathCommitLog");
        if let Some(default) = fixed {
            assert_eq!((setting.show)(&settings), default, "{}", setting.key);
        }
    }
}

#[test]
fn a_start_stops_at_damage_unless_told_otherwise() {
    let policy = |text: &str| loaded(text).store.commit_log.damaged_commit_log_policy;
    assert_eq!(policy("brokerName=b"), DamagedCommitLogPolicy::Stop);
    assert_eq!(policy("damagedCommitLogPolicy= skip "), DamagedCommitLogPolicy::Skip);
    assert_eq!(policy("damagedCommitLogPolicy=truncate"), DamagedCommitLogPolicy::Truncate);
    assert_eq!(warnings("damagedCommitLogPolicy=stop"), [""; 0]);
}

#[test]
fn every_setting_reads_what_it_shows() {
    for file in ["", "storePathRootDir=/s\nbrokerName=b\nlistenPort=20911\ndeleteWhen=4;16"] {
        let shown = loaded(file);
        let text: String = shown
            .effective_properties()
            .lines()
            .filter(|line| setting::find(line.split('=').next().unwrap_or_default()).is_some())
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(text.contains("storePathRootDir"), !file.is_empty(), "left out until it is set");
        let again = loaded(&text);
        assert_eq!(again.effective_properties(), shown.effective_properties());
        assert_eq!(again.warnings, []);
    }
}

#[test]
fn a_usual_file() {
    let loaded = loaded(
        "# Apache's sample\nbrokerClusterName = DefaultCluster\nbrokerName = broker-a\nbrokerId = 0\ndeleteWhen = 04\n\
         fileReservedTime = 48\nbrokerRole = ASYNC_MASTER\nflushDiskType = SYNC_FLUSH\n\
         namesrvAddr=10.0.0.1:9876;10.0.0.2:9876\nstorePathRootDir=/data/store\nstorePathCommitLog=/log/commitlog\n\
         mappedFileSizeCommitLog=65536\nmessageDelayLevel=1s 2m\nautoCreateTopicEnable=FALSE\n",
    );
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.broker.broker_name, "broker-a");
    assert_eq!(
        loaded.broker.namesrv_addr,
        Some(vec!["10.0.0.1:9876".to_owned(), "10.0.0.2:9876".to_owned()])
    );
    assert!(!loaded.broker.auto_create_topic_enable);
    assert_eq!(loaded.store.clean.file_reserved_time, 48);
    assert_eq!(loaded.store.flush.flush_disk_type, FlushDiskType::SyncFlush);
    assert_eq!(loaded.store.commit_log.mapped_file_size_commit_log, 65_536);
    assert_eq!(loaded.store.delay_levels.delay_millis(2), Some(120_000));
    assert_eq!(loaded.store_path_root_dir, Some(PathBuf::from("/data/store")));
    assert_eq!(loaded.store.store_path_commit_log, [PathBuf::from("/log/commitlog")]);
}

#[test]
fn unknown_keys_are_named_with_a_hint() {
    assert_eq!(
        warnings("\nbrokername=x\nmyOwnKey=1"),
        [
            "broker.conf:2: brokername: unknown key, ignored; did you mean `brokerName`?",
            "broker.conf:3: myOwnKey: unknown key, ignored",
        ]
    );
}

#[test]
fn known_keys_without_effect_warn_unless_they_are_at_their_default() {
    assert_eq!(warnings("timerWheelSnapshotFlush=false\nsendThreadPoolQueueCapacity=10000 "), [""; 0]);
    assert_eq!(
        warnings("timerWheelSnapshotFlush=true"),
        ["broker.conf:1: timerWheelSnapshotFlush: accepted, has no effect in this release"]
    );
    assert_eq!(warnings("sendMessageThreadPoolNums=4").len(), 1, "a default that depends on the machine");
}

#[test]
fn a_key_set_twice() {
    let loaded = loaded("brokerName=a\nbrokerName=b");
    assert_eq!(loaded.broker.broker_name, "b");
    assert_eq!(
        loaded.warnings[0].to_string(),
        "broker.conf:2: brokerName: already set in line 1; this line counts"
    );
}

#[test]
fn bad_values_name_file_line_key_value_and_what_is_allowed() {
    assert_eq!(
        refusal("\nlistenPort=70000"),
        "broker.conf:2: listenPort=70000: expected a whole number from 3 to 65534"
    );
    for (text, allowed) in [
        ("mappedFileSizeCommitLog=100", "from 4096 to 2147483647"),
        ("mappedFileSizeCommitLog=1G", "a whole number"),
        ("flushDiskType=SYNC", "ASYNC_FLUSH or SYNC_FLUSH"),
        ("brokerRole=MASTER", "ASYNC_MASTER, SYNC_MASTER or SLAVE"),
        ("autoCreateTopicEnable=yes", "true or false"),
        ("brokerPermission=8", "from 0 to 7"),
        ("deleteWhen=25", "hours from 0 to 23"),
        ("messageDelayLevel=1x", "unit (s, m, h or d)"),
        ("namesrvAddr=localhost", "host:port"),
        ("namesrvAddr=;;;", "namesrvAddr=;;;: expected a list of host:port"),
        ("brokerName=", "not empty"),
        ("brokerIP1=10.0.0.1 10.0.0.2", "an IP address or a host name"),
        ("storePathRootDir= ", "a directory"),
        ("brokerId=-1", "from 0"),
        ("a=\\u00", "broker.conf:1: malformed"),
    ] {
        let message = refusal(text);
        assert!(message.contains(allowed), "{text}: {message}");
    }
}

#[test]
fn settings_that_must_not_be_ignored_stop_the_start() {
    for key in ["aclEnable", "authenticationEnabled", "authorizationEnabled", "enableDLegerCommitLog"] {
        let message = refusal(&format!("{key}=True "));
        assert!(message.contains("is not supported by this release"), "{message}");
        assert_eq!(warnings(&format!("{key}=false")), [""; 0]);
    }
    assert!(refusal("storeType=defaultRocksDB").contains("RocksDB"));
}

#[test]
fn field_F61_limits_of_the_disk_are_moved_into_range_and_hours_must_be_hours() {
    for (text, used, warnings) in [("75", 75, 0), ("7", 10, 1), ("99", 95, 1)] {
        let loaded = loaded(&format!("diskMaxUsedSpaceRatio={text}"));
        assert_eq!(loaded.store.clean.disk_max_used_space_ratio, used);
        assert_eq!(loaded.warnings.len(), warnings, "{text}");
    }
    assert_eq!(loaded("deleteWhen=04").store.clean.delete_when, [4]);
    assert_eq!(loaded("deleteWhen=04;16").store.clean.delete_when, [4, 16]);
    assert!(refusal("fileReservedTime=0.1").contains("fileReservedTime"));
}

#[test]
fn values_moved_into_range_are_reported() {
    let loaded =
        loaded("diskMaxUsedSpaceRatio=99\nmappedFileSizeConsumeQueue=1001\ndiskSpaceWarningLevelRatio=5");
    assert_eq!(loaded.store.clean.disk_max_used_space_ratio, 95);
    assert_eq!(loaded.store.clean.disk_space_warning_level_ratio, 35);
    assert_eq!(loaded.store.consume_queue.mapped_file_size_consume_queue, 1020);
    assert_eq!(loaded.warnings.len(), 3);
    assert!(loaded.warnings[0].to_string().contains("99 is outside 10..=95, 95 is used"));
}

#[test]
fn role_and_id() {
    assert!(refusal("brokerRole=SLAVE").contains("needs brokerId greater than 0"));
    let slave = loaded("brokerRole=SLAVE\nbrokerId=1");
    assert_eq!((slave.store.broker_role, slave.broker.broker_id), (BrokerRole::Slave, 1));
    let master = loaded("brokerRole=SYNC_MASTER\nbrokerId=3");
    assert_eq!((master.store.broker_role, master.broker.broker_id), (BrokerRole::SyncMaster, 0));
    assert_eq!(master.warnings.len(), 1);
}

#[test]
fn ports_follow_the_main_port() {
    let broker = loaded("listenPort=20000").broker;
    assert_eq!((broker.fast_listen_port(), broker.ha_port()), (19_998, 20_001));
    assert_eq!(loaded("listenPort=20000\nhaListenPort=30000").broker.ha_port(), 30_000);
    assert_eq!(loaded("haListenPort=0").broker.ha_port(), 10_912);
    assert!(refusal("haListenPort=10911").contains("is taken"));
    assert!(refusal("haListenPort=10909").contains("is taken"));
    let any_port = BrokerConfig { listen_port: 0, ..BrokerConfig::default() };
    assert_eq!((any_port.fast_listen_port(), any_port.ha_port()), (0, 0));
}

#[test]
fn listening_to_the_world_is_said_loudly() {
    let all = loaded("bindAddress=0.0.0.0");
    assert!(!all.broker.binds_loopback());
    assert_eq!(all.broker.broker_ip1, "127.0.0.1");
    assert_eq!(all.warnings.len(), 2, "reachable, and the announced address is useless there");
    let one = loaded("bindAddress=10.0.0.5");
    assert_eq!((one.broker.broker_ip1.as_str(), one.broker.broker_ip2.as_str()), ("10.0.0.5", "10.0.0.5"));
    assert_eq!(one.warnings.len(), 1);
    assert!(matches!(one.warnings[0].kind, WarningKind::Exposed(_)));
    let two = loaded("bindAddress=0.0.0.0\nbrokerIP1=10.0.0.5\nbrokerIP2=10.1.0.5");
    assert_eq!((two.broker.broker_ip1.as_str(), two.broker.broker_ip2.as_str()), ("10.0.0.5", "10.1.0.5"));
    for local in ["127.0.0.2", "localhost", "::1", "[::1]"] {
        assert_eq!(warnings(&format!("bindAddress={local}")), [""; 0], "{local}");
    }
}

#[test]
fn variables() {
    let home = with_variable("HOME", "/users/me");
    let loaded = BrokerConfig::parse("storePathRootDir=${user.home}/store", "f", &home).expect("expanded");
    assert_eq!(loaded.store_path_root_dir, Some(PathBuf::from("/users/me/store")));
    assert!(refusal("storePathRootDir=${user.home}/store").contains("HOME"));
    assert_eq!(warnings("storePathRootDir=$HOME/store").len(), 1);

    let namesrv = with_variable("NAMESRV_ADDR", "a:9876");
    let loaded = BrokerConfig::parse("", "f", &namesrv).expect("variable");
    assert_eq!(loaded.broker.namesrv_addr, Some(vec!["a:9876".to_owned()]));
    let loaded = BrokerConfig::parse("namesrvAddr=", "f", &namesrv).expect("the file wins");
    assert_eq!(loaded.broker.namesrv_addr, None);
    let bad = BrokerConfig::parse("", "f", &with_variable("NAMESRV_ADDR", "a")).expect_err("no port");
    assert!(bad.to_string().contains("NAMESRV_ADDR=a"), "{bad}");
}

#[test]
fn files_are_utf8_or_latin1() {
    let mut machine = Machine::default();
    machine.files.insert("utf8".into(), "storePathRootDir=/données".as_bytes().to_vec());
    machine.files.insert("latin1".into(), b"storePathRootDir=/donn\xe9es".to_vec());
    for file in ["utf8", "latin1"] {
        let loaded = BrokerConfig::load(Some(Path::new(file)), &machine).expect(file);
        assert_eq!(loaded.store_path_root_dir, Some(PathBuf::from("/données")), "{file}");
    }
    let missing = BrokerConfig::load(Some(Path::new("none")), &machine).expect_err("missing");
    assert!(missing.to_string().starts_with("none: cannot read the configuration"), "{missing}");
}

#[test]
fn effective_properties_list_everything_sorted() {
    let loaded = loaded("brokerName=b\nmyOwnKey=1\nsendMessageThreadPoolNums=9\nlistenPort=20911");
    let text = loaded.effective_properties();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines.windows(2).all(|pair| pair[0].split('=').next() < pair[1].split('=').next()));
    for line in [
        "brokerName=b",
        "haListenPort=20912",
        "sendMessageThreadPoolNums=9",
        "myOwnKey=1",
        "flushDiskType=ASYNC_FLUSH",
        "transientStorePoolEnable=false",
        "messageDelayLevel=1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
    ] {
        assert!(lines.contains(&line), "{line}");
    }
    assert!(!text.contains("rocketmqHome"), "defaults that depend on the machine are not invented");
}

#[test]
fn changes_at_run_time() {
    let mut loaded = loaded("brokerName=b\nbrokerPermission=6");
    let warnings = loaded
        .apply_changes("brokerPermission=4\nfileReservedTime=1\nnoSuchKey=1", "admin", &Machine::default())
        .expect("applied");
    assert_eq!((loaded.broker.broker_permission, loaded.store.clean.file_reserved_time), (4, 1));
    assert_eq!(loaded.broker.broker_name, "b", "what is not named stays");
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["admin:3: noSuchKey: unknown key, ignored"]
    );
    assert!(loaded.effective_properties().contains("brokerPermission=4\n"));

    let before = loaded.clone();
    let bad = "brokerPermission=2\nfileReservedTime=x";
    assert!(loaded.apply_changes(bad, "admin", &Machine::default()).is_err());
    assert!(loaded.apply_changes("aclEnable=true", "admin", &Machine::default()).is_err());
    assert_eq!(loaded, before, "all or nothing");
}

#[test]
fn light_queues_need_both_keys() {
    let both = loaded("enableLmq=true\nenableMultiDispatch=true\nmaxLmqConsumeQueueNum=7\n");
    assert!(both.store.multi_dispatch.is_on() && both.warnings.is_empty());
    assert_eq!(both.store.multi_dispatch.max_lmq_consume_queue_num, 7);
    for (key, other) in [("enableLmq", "enableMultiDispatch"), ("enableMultiDispatch", "enableLmq")] {
        let text = format!("{key}=true\n");
        assert!(!loaded(&text).store.multi_dispatch.is_on());
        let warnings = warnings(&text);
        assert!(
            warnings.len() == 1 && warnings[0].contains(&format!("without {other}=true")),
            "{warnings:?}"
        );
    }
}

#[test]
fn keys_of_records_and_recovery_reach_the_store() {
    let store = loaded(
        "enabledAppendPropCRC=true\nforceVerifyPropCRC=true\nautoMessageVersionOnTopicLen=false\nreadUnCommitted=true\n",
    )
    .store;
    assert!(store.commit_log.enabled_append_prop_crc && store.commit_log.force_verify_prop_crc);
    assert!(!store.commit_log.auto_message_version_on_topic_len && store.flush.read_un_committed);
}
