//! A store whose services are stepped by the test.

use crate::config::MessageStoreConfig;
use crate::default_message_store::open::{open_recovered, services};
use crate::default_message_store::{DefaultMessageStore, RecoveryReport, Shared};
use crate::error::StoreError;
use crate::service::{Service, Step};
use crate::sync::{Arc, Mutex};
use store_logic::sim::SimWorld;

/// Places of the services in the store's inventory.
pub(super) mod service {
    pub(crate) const ALLOCATE: usize = 0;
    pub(crate) const INDEX: usize = 1;
    pub(crate) const FLUSH: usize = 2;
    pub(crate) const REPUT: usize = 3;
    pub(crate) const FLUSH_QUEUES: usize = 4;
    pub(crate) const CLEAN_LOG: usize = 6;
    pub(crate) const CLEAN_QUEUES: usize = 7;
    /// With ASYNC_FLUSH and write buffers only.
    pub(crate) const COMMIT: usize = 9;
}

pub(super) struct SteppedStore {
    store: DefaultMessageStore,
    services: Vec<Box<dyn Service>>,
}

impl SteppedStore {
    pub(super) fn open(world: &SimWorld, config: MessageStoreConfig) -> Result<Self, StoreError> {
        let recovered = open_recovered(&world.env(), config)?;
        let shared = Arc::clone(&recovered.shared);
        let services = services(&shared, recovered.early).into_iter().map(|(service, _)| service).collect();
        let lock = Mutex::new(Some(recovered.lock));
        let store = DefaultMessageStore { shared, threads: Mutex::default(), report: recovered.report, lock };
        Ok(Self { store, services })
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.store.shared
    }

    pub(super) fn report(&self) -> &RecoveryReport {
        &self.store.report
    }

    /// One step of one service. How long it would rest does not matter: the test steps it when it likes.
    pub(super) fn step(&mut self, service: usize) -> Step {
        self.services[service].step()
    }

    /// Lets the maker of files work until it rests: nobody does while a put waits for it.
    pub(super) fn make_files_ahead(&mut self) {
        while self.step(service::ALLOCATE) == Step::Again {}
    }

    /// Steps what makes messages durable and readable until all are.
    pub(super) fn settle(&mut self) {
        for _ in 0..3 {
            // As the committer would once its time has come. A failure is in the running flags.
            let _ = self.store.shared.commit_log(0);
            for service in [service::FLUSH, service::REPUT, service::FLUSH_QUEUES, service::INDEX] {
                for _ in 0..1000 {
                    if self.step(service) != Step::Again {
                        break;
                    }
                }
            }
        }
    }

    /// An orderly stop. Dropping the store without it is what a killed process leaves.
    pub(super) fn stop(mut self) -> Result<(), StoreError> {
        self.store.shared.flags.set_stopped();
        for service in self.services.iter_mut().rev() {
            service.finish();
        }
        self.store.shutdown()
    }
}
