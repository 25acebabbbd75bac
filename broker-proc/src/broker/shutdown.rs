//! The reverse of the start: registration, ports, tasks, tables, store.

use super::Broker;
use anyhow::{Context, Result};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Time that requests under way get.
const GRACE: Duration = Duration::from_secs(3);

impl Broker {
    /// Leaves the name servers, answers what is under way, saves the tables and stops the store cleanly.
    ///
    /// # Errors
    ///
    /// What could not be made durable; everything else is stopped all the same.
    pub async fn shutdown(mut self) -> Result<()> {
        self.context.stopping.store(true, Ordering::Release);
        for task in self.tasks.drain(..) {
            task.abort();
        }
        self.context.registration.unregister(&self.context).await;
        self.context.hold.wake_all();
        self.server.shutdown(GRACE).await;
        self.fast_server.shutdown(GRACE).await;
        let services = std::mem::take(&mut *self.services.lock().unwrap_or_else(PoisonError::into_inner));
        let context = self.context;
        let store = self.store;
        let delay_offsets = self.delay_offsets;
        let stopped = tokio::task::spawn_blocking(move || {
            drop(services);
            context.persist(&context.topics);
            context.persist(&context.groups);
            context.persist(&context.offsets);
            // The deliveries of the last moments become durable by the stop alone.
            store.shutdown_with(|positions| {
                delay_offsets.settle(positions);
                delay_offsets.save(&context.files, context.now());
            })
        });
        let stopped = stopped.await.context("stopping the store");
        if let Some(name_server) = self.name_server {
            name_server.shutdown(GRACE).await;
        }
        Ok(stopped??)
    }
}
