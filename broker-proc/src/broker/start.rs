//! From settings to a serving broker: store, tables, name server, ports, registration, in this order.

use super::config_files::DiskConfigFiles;
use super::{Broker, tasks};
use crate::broker_config::{BrokerConfig, Loaded};
use crate::broker_context::BrokerContext;
use crate::config_store::{ConfigManager, ConfigStore};
use crate::consumer_manager::ConsumerManager;
use crate::consumer_offset_manager::ConsumerOffsetManager;
use crate::long_polling::PullRequestHoldService;
use crate::name_server_registration::NameServerRegistration;
use crate::namesrv::{NameServer, NameServerOptions};
use crate::processor::ProcessorTable;
use crate::producer_manager::ProducerManager;
use crate::rebalance_lock_manager::RebalanceLockManager;
use crate::remoting::{ConnectionOptions, RemotingServer, ServerOptions};
use crate::schedule::{DelayOffsets, ScheduleMessageService};
use crate::subscription_group_manager::SubscriptionGroupManager;
use crate::topic_config_manager::TopicConfigManager;
use crate::transaction::{TransactionalMessageCheckService, TransactionalMessages};
use anyhow::{Context, Result, bail};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store_core::config::{BrokerRole, DelayLevels};
use store_core::service::{ServiceThread, Sleeper, Wakeup, wakeup};
use store_core::{DefaultMessageStore, Env, MessageStore, StorePaths};

impl Broker {
    /// Opens the store and starts serving. `namesrv_port` is where the name server in this process listens; it starts
    /// only when the settings name none.
    ///
    /// # Errors
    ///
    /// The first step that fails, with what it was about. Nothing keeps running then.
    pub async fn start(env: Env, loaded: Loaded, namesrv_port: u16) -> Result<Self> {
        let effective_properties = loaded.effective_properties();
        let Loaded { broker: config, store: mut store_config, .. } = loaded;
        if store_config.broker_role == BrokerRole::Slave {
            bail!(
                "brokerRole=SLAVE: replication is not part of this release; use ASYNC_MASTER or SYNC_MASTER"
            );
        }
        // The store has to know which topics have batch queues before it looks at its log.
        let topics = TopicConfigManager::new(&config, env.now_millis())
            .with_light_queues(store_config.multi_dispatch.is_on());
        load_table(&config_store(&env, &StorePaths::new(&store_config).config()), &topics, env.now_millis())?;
        store_config.queue_types = topics.queue_types();
        let delay_levels = store_config.delay_levels.clone();
        let opening = env.clone();
        let store = tokio::task::spawn_blocking(move || DefaultMessageStore::open(&opening, store_config))
            .await
            .context("opening the store")??;
        let store = Arc::new(store);
        let serving = Serving { env, config, topics, delay_levels, effective_properties, namesrv_port };
        match Self::serve(serving, Arc::clone(&store)).await {
            Ok(broker) => Ok(broker),
            Err(error) => {
                // The store itself is sound: stopped in order, it is found so by the next start.
                let stopped = tokio::task::spawn_blocking(move || store.shutdown()).await;
                if let Ok(Err(stop_error)) = stopped {
                    tracing::error!(%stop_error, "the store could not be stopped cleanly");
                }
                Err(error)
            }
        }
    }

    async fn serve(serving: Serving, store: Arc<DefaultMessageStore>) -> Result<Self> {
        let Serving { env, config, topics, delay_levels, effective_properties, namesrv_port } = serving;
        let bind = parse_ip(&config.bind_address)?;
        let name_server = start_name_server(&config, bind, namesrv_port).await?;
        let namesrv = match &name_server {
            Some(server) => vec![server.local_addr().to_string()],
            None => config.namesrv_addr.clone().unwrap_or_default(),
        };
        let hold = Arc::new(PullRequestHoldService::default());
        store.set_arriving_listener(Arc::clone(&hold) as Arc<_>);
        let check_wakeup = wakeup();
        let now = env.now_millis();
        let context = Arc::new(BrokerContext {
            topics,
            groups: SubscriptionGroupManager::new(&config, now),
            offsets: ConsumerOffsetManager::new(config.consumer_offset_update_version_step, now)
                .with_light_queues(store.config().multi_dispatch.is_on()),
            consumers: ConsumerManager::new(),
            producers: ProducerManager::new(),
            locks: RebalanceLockManager::default(),
            transactions: TransactionalMessages::new(check_wakeup.0.clone()),
            files: config_store(&env, store.paths().config().as_path()),
            registration: NameServerRegistration::new(namesrv),
            store_host: SocketAddr::new(parse_ip(&config.broker_ip1)?, config.listen_port),
            store: Arc::clone(&store) as Arc<dyn MessageStore>,
            stopping: AtomicBool::new(false),
            effective_properties,
            delay_levels,
            hold,
            config,
            env,
        });
        let delay_offsets = Arc::new(DelayOffsets::default());
        load_tables(&context, &delay_offsets)?;
        let services = vec![
            start_schedule(&context, Arc::clone(&delay_offsets), store.paths().config().as_path())?,
            start_transaction_checks(&context, check_wakeup)?,
        ];
        let (server, fast_server) = bind_ports(&context, bind).await?;
        let tasks = tasks::start(&context);
        context.registration.register(&context).await;
        let services = Mutex::new(services);
        Ok(Self { context, store, name_server, server, fast_server, services, delay_offsets, tasks })
    }
}

/// What a start needs besides the store.
struct Serving {
    env: Env,
    config: BrokerConfig,
    topics: TopicConfigManager,
    delay_levels: DelayLevels,
    effective_properties: String,
    namesrv_port: u16,
}

/// An IP address, or the first one a host name stands for (IPv4 before IPv6: several clients know no other).
fn parse_ip(host: &str) -> Result<IpAddr> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse() {
        return Ok(ip);
    }
    let looked_up =
        (bare, 0).to_socket_addrs().with_context(|| format!("cannot look up the host {host:?}"))?;
    let mut addresses: Vec<IpAddr> = looked_up.map(|address| address.ip()).collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.first().copied().with_context(|| format!("the host {host:?} has no address"))
}

fn config_store(env: &Env, directory: &Path) -> ConfigStore {
    ConfigStore::new(directory, Arc::new(DiskConfigFiles::new(env)))
}

async fn start_name_server(config: &BrokerConfig, bind: IpAddr, port: u16) -> Result<Option<NameServer>> {
    if config.namesrv_addr.as_ref().is_some_and(|addresses| !addresses.is_empty()) {
        return Ok(None);
    }
    let server = NameServer::start(SocketAddr::new(bind, port), NameServerOptions::default()).await;
    server
        .map(Some)
        .context("cannot start the name server (is another one running? set namesrvAddr to use it)")
}

/// Reads one JSON file.
fn load_table(files: &ConfigStore, manager: &dyn ConfigManager, now: i64) -> Result<()> {
    let outcome = files.load(manager, now)?;
    if outcome.is_suspicious() {
        tracing::warn!(file = manager.config_file_name(), "{outcome}");
    }
    Ok(())
}

/// Reads the JSON files other than that of topics; a new broker writes its own.
fn load_tables(context: &BrokerContext, delay_offsets: &DelayOffsets) -> Result<()> {
    // Progress from before light queues were served counts until there is some from since then.
    let former_offsets = context.offsets.without_light_queues();
    let managers: [&dyn ConfigManager; 4] =
        [&context.groups, &former_offsets, &context.offsets, delay_offsets];
    for manager in managers {
        load_table(&context.files, manager, context.now())?;
    }
    context.files.persist(&context.topics)?;
    context.files.persist(&context.groups)?;
    Ok(())
}

fn start_schedule(
    context: &Arc<BrokerContext>,
    offsets: Arc<DelayOffsets>,
    directory: &Path,
) -> Result<ServiceThread> {
    let service = ScheduleMessageService::new(
        &context.env,
        Arc::clone(&context.store),
        context.delay_levels.clone(),
        offsets,
        config_store(&context.env, directory),
        Duration::from_millis(context.config.flush_delay_offset_interval),
    );
    let on_panic =
        |name| tracing::error!(service = name, "delayed messages are not delivered any more: it panicked");
    ServiceThread::spawn(Box::new(service), wakeup(), on_panic)
        .context("cannot start the delivery of delayed messages")
}

fn start_transaction_checks(
    context: &Arc<BrokerContext>,
    wakeup: (Wakeup, Sleeper),
) -> Result<ServiceThread> {
    let service = TransactionalMessageCheckService::new(context);
    let on_panic =
        |name| tracing::error!(service = name, "half messages are not checked any more: it panicked");
    ServiceThread::spawn(Box::new(service), wakeup, on_panic)
        .context("cannot start the checks of half messages")
}

async fn bind_ports(context: &Arc<BrokerContext>, bind: IpAddr) -> Result<(RemotingServer, RemotingServer)> {
    let config = &context.config;
    let idle_timeout = Duration::from_secs(config.server_channel_max_idle_time_seconds);
    let options = ServerOptions {
        connection: ConnectionOptions { idle_timeout, ..ConnectionOptions::SERVER },
        ..ServerOptions::default()
    };
    let table = Arc::new(ProcessorTable::new(context, false));
    let fast_table = Arc::new(ProcessorTable::new(context, true));
    let server = RemotingServer::bind(SocketAddr::new(bind, config.listen_port), options, table).await?;
    let fast_server =
        RemotingServer::bind(SocketAddr::new(bind, config.fast_listen_port()), options, fast_table).await?;
    Ok((server, fast_server))
}
