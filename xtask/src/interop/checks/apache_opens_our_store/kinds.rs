//! The kinds of stores: one entry is one kind.

use std::net::{IpAddr, Ipv6Addr};

use super::traces::Trace;
use crate::interop::checks::produce::Sender;
use crate::interop::client::Language;
use crate::interop::messages::{INNER_MULTI_DISPATCH, Planned};

/// A kind of store that is written and given to Apache's code.
pub struct StoreKind {
    /// How it is called in the names of its checks, with a blank before it; empty for the ordinary store.
    pub name: &'static str,
    /// What its broker is told beside small files.
    pub settings: &'static [(&'static str, &'static str)],
    /// The address of its broker and clients.
    pub ip: IpAddr,
    /// What is sent, one after the other.
    pub loads: &'static [Load],
    /// Expired files are deleted, and more is sent, before the broker stops.
    pub is_cleaned: bool,
    /// What shows in its files that it is of this kind.
    pub trace: Trace,
    /// Whether it is also left by a kill.
    pub kill: Kill,
}

impl StoreKind {
    /// Whether Apache's broker can write it, too: it refuses topics over 127 bytes, and groups whose topic for retries would
    /// be longer. Records of version 2 come from brokers that did not.
    pub fn is_apaches(&self) -> bool {
        self.loads.iter().all(|load| load.topic.len() <= 127)
    }
}

/// Whether a store is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kill {
    Never,
    /// What was answered is in the files.
    AtOnce,
    /// What was answered may still be in the memory of the process: the kill waits until it must be in the files.
    WhenCommitted,
}

/// Messages to one topic.
pub struct Load {
    pub topic: &'static str,
    pub sender: Sender,
    /// How many before the stop.
    pub count: usize,
    /// How the plan is changed.
    pub change: fn(usize, &mut Planned),
}

const JAVA: Sender = Sender::Client(Language::Java);
const IPV4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// The Java client refuses names over 127 characters, so the harness sends by requests of its own.
const LONG_TOPIC: &str = "%DLQ%a_group_with_a_name_so_long_that_its_topic_for_dead_letters_takes_more_than_127_bytes_and_the_\
                          length_of_the_topic_needs_two_bytes_in_the_record_of_each_message";

const fn load(topic: &'static str, sender: Sender, count: usize) -> Load {
    Load { topic, sender, count, change: |_, _| () }
}

/// The ordinary store, which the others differ from.
const ORDINARY: StoreKind = StoreKind {
    name: "",
    settings: &[],
    ip: IPV4,
    loads: &[load("interchange", JAVA, 1_000)],
    is_cleaned: false,
    trace: Trace::None,
    kill: Kill::AtOnce,
};

pub const KINDS: [StoreKind; 10] = [
    ORDINARY,
    StoreKind {
        name: " (transient pool)",
        settings: &[("transientStorePoolEnable", "true"), ("transientStorePoolSize", "5")],
        kill: Kill::WhenCommitted,
        ..ORDINARY
    },
    StoreKind { name: " (SYNC_FLUSH)", settings: &[("flushDiskType", "SYNC_FLUSH")], ..ORDINARY },
    StoreKind {
        name: " (records V2)",
        loads: &[load(LONG_TOPIC, Sender::Requests, 700), load("interchange", JAVA, 300)],
        trace: Trace::RecordsV2,
        ..ORDINARY
    },
    StoreKind { name: " (IPv6)", ip: IpAddr::V6(Ipv6Addr::LOCALHOST), ..ORDINARY },
    StoreKind {
        name: " (client batches)",
        loads: &[load("interchange", Sender::Batches(16), 1_000), load("interchange_single", JAVA, 20)],
        kill: Kill::Never,
        ..ORDINARY
    },
    StoreKind {
        name: " (light queues)",
        settings: &[("enableLmq", "true"), ("enableMultiDispatch", "true")],
        loads: &[Load { change: to_light_queues, ..load("interchange", JAVA, 1_000) }],
        ..ORDINARY
    },
    StoreKind {
        name: " (queue extensions)",
        settings: &[("enableConsumeQueueExt", "true"), ("mappedFileSizeConsumeQueueExt", "4096")],
        trace: Trace::QueueExtensions,
        ..ORDINARY
    },
    StoreKind {
        name: " (record CRC)",
        settings: &[("enabledAppendPropCRC", "true"), ("forceVerifyPropCRC", "true")],
        loads: &[load("interchange", JAVA, 900), load("interchange_batch", Sender::Batches(16), 100)],
        trace: Trace::RecordCrc,
        ..ORDINARY
    },
    StoreKind {
        name: " (first files deleted)",
        // Files expire at once. They are deleted when the harness asks.
        settings: &[("fileReservedTime", "0"), ("cleanResourceInterval", "200")],
        loads: &[load("interchange_early", JAVA, 20), load("interchange", JAVA, 1_000)],
        is_cleaned: true,
        kill: Kill::Never,
        ..ORDINARY
    },
];

/// One of three messages goes to no light queue, one to one, one to two.
fn to_light_queues(index: usize, planned: &mut Planned) {
    let queues = match index % 3 {
        0 => return,
        1 => "%LMQ%first",
        _ => "%LMQ%second,%LMQ%first",
    };
    planned.properties.insert(INNER_MULTI_DISPATCH, queues.to_owned());
}
