//! A store whose services are stepped by the test.

use crate::config::MessageStoreConfig;
use crate::default_message_store::Shared;
use crate::default_message_store::open::{open_recovered, services};
use crate::error::StoreError;
use crate::service::Service;
use std::sync::Arc;
use store_logic::LockFile;
use store_logic::sim::SimWorld;

pub(super) struct SteppedStore {
    pub(super) shared: Arc<Shared>,
    services: Vec<Box<dyn Service>>,
    _lock: LockFile,
}

impl SteppedStore {
    pub(super) fn open(world: &SimWorld, config: MessageStoreConfig) -> Result<Self, StoreError> {
        let recovered = open_recovered(&world.env(), config)?;
        let shared = Arc::clone(&recovered.shared);
        let services = services(&shared, recovered.early).into_iter().map(|(service, _)| service).collect();
        Ok(Self { shared, services, _lock: recovered.lock })
    }

    /// Name of the service with this number.
    pub(super) fn name_of(&self, number: u64) -> &'static str {
        self.services[number as usize].name()
    }

    /// One step of one service, chosen by `number`.
    pub(super) fn step(&mut self, number: u64) {
        let index = (number % self.services.len() as u64) as usize;
        // How long it would rest does not matter: the test steps it when it likes.
        let _ = self.services[index].step();
    }

    /// Steps every service until messages that can be read are dispatched.
    pub(super) fn settle(&mut self) {
        for round in 0..4 * self.services.len() as u64 {
            self.step(round);
        }
    }
}
