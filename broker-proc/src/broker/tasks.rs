//! What the broker does on its own: registration, saving of offsets, care for silent clients.

use crate::broker_context::BrokerContext;
use crate::name_server_registration::NameServerRegistration;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// Period of the look for silent clients; Java's.
const SCAN_PERIOD: Duration = Duration::from_secs(10);

pub(super) fn start(context: &Arc<BrokerContext>) -> Vec<JoinHandle<()>> {
    let offsets_period = Duration::from_millis(context.config.flush_consumer_offset_interval.max(1));
    vec![
        tokio::spawn(NameServerRegistration::run(Arc::clone(context))),
        tokio::spawn(repeat(Arc::clone(context), offsets_period, save_offsets)),
        tokio::spawn(repeat(Arc::clone(context), SCAN_PERIOD, drop_silent_clients)),
    ]
}

async fn repeat(context: Arc<BrokerContext>, period: Duration, work: fn(&BrokerContext)) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        work(&context);
    }
}

fn save_offsets(context: &BrokerContext) {
    if context.offsets.take_changed() {
        if let Err(error) = context.blocking(|| context.files.persist(&context.offsets)) {
            tracing::error!(%error, "consumer offsets could not be saved");
            context.offsets.mark_changed();
        }
    }
}

/// Clients that have not been heard of for `channelExpiredTimeout` are taken for gone.
fn drop_silent_clients(context: &BrokerContext) {
    let timeout = i64::try_from(context.config.channel_expired_timeout).unwrap_or(i64::MAX);
    let now = context.now();
    let expired = context.consumers.scan_not_active_channels(now, timeout);
    for channel in expired.expired.iter().chain(&context.producers.scan_not_active_channels(now, timeout)) {
        channel.close();
    }
    for change in &expired.changes {
        context.notify_consumer_ids_changed(change);
    }
    context.locks.scan(now);
}
