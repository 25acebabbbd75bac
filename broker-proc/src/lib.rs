//! Layer 5 of StrataMQ: request codes in, response codes out.
//!
//! A frame comes in through [`remoting`], is looked up in the [`processor`] table by its request code, and one of the
//! processors answers it from the [`BrokerContext`]: the store below, and the managers of topics, groups, offsets and
//! connected clients beside it. [`Broker`] wires all that together, readable from top to bottom; [`namesrv`] is the name
//! server, in the same process or alone; [`client`] is the other side of the protocol, small enough to read.
//!
//! The crate knows request codes, connections and their lifetimes. It does not know file names, offsets within files or
//! mappings.
//!
//! ```no_run
//! use broker_proc::broker_config::{BrokerConfig, Loaded};
//! use broker_proc::{Broker, ProcessSource};
//!
//! # async fn start() -> anyhow::Result<()> {
//! let mut loaded: Loaded = BrokerConfig::load(None, &ProcessSource)?;
//! loaded.store.store_path_root_dir = "stratamq-data".into();
//! let broker = Broker::start(store_core::Env::os(), loaded, 9876).await?;
//! println!("serving at {}", broker.address());
//! broker.shutdown().await?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(non_snake_case, reason = "tests carry the number of their case: field_F03_…"))]

pub mod attributes;
mod broker;
pub mod broker_config;
mod broker_context;
pub mod client;
pub mod client_channel_info;
pub mod config_store;
pub mod consumer_manager;
pub mod consumer_offset_manager;
mod log_backed_progress;
pub mod long_polling;
pub mod metadata_page;
mod name_server_registration;
pub mod namesrv;
pub mod processor;
pub mod processors;
pub mod producer_manager;
pub mod program;
pub mod rebalance_lock_manager;
pub mod remoting;
pub mod schedule;
pub mod subscription_group_manager;
pub mod topic_config_manager;
pub mod topic_validator;
pub mod transaction;

pub use broker::{Broker, ProcessSource};
pub use broker_context::BrokerContext;
pub use name_server_registration::NameServerRegistration;
