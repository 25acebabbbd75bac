//! Key-value table of the name server.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use store_core::java_json;

/// Namespace of the queues of ordered topics: topic → `broker:n` separated by semicolons.
pub const ORDER_TOPIC_CONFIG: &str = "ORDER_TOPIC_CONFIG";

/// Keeps the text of the table across restarts.
pub trait KvConfigStore: Send + Sync {
    /// The text saved last; `None` when there is none yet.
    ///
    /// # Errors
    ///
    /// When there is a text that cannot be read.
    fn load(&self) -> io::Result<Option<String>>;

    /// Replaces the text.
    ///
    /// # Errors
    ///
    /// When the new text is not safely stored.
    fn save(&self, text: &str) -> io::Result<()>;
}

/// Namespace → key → value.
type Table = BTreeMap<String, BTreeMap<String, String>>;

/// The saved form, that of Java's `kvConfig.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SavedTable {
    config_table: Table,
}

/// The table, saved after every change.
pub struct KvConfigManager {
    table: Mutex<Table>,
    store: Option<Arc<dyn KvConfigStore>>,
}

impl KvConfigManager {
    /// Starts with what `store` holds.
    ///
    /// # Errors
    ///
    /// When the saved text cannot be read or is no table.
    pub fn load(store: Option<Arc<dyn KvConfigStore>>) -> io::Result<Self> {
        let text = store.as_ref().map(|store| store.load()).transpose()?.flatten();
        let saved = text.map(|text| java_json::from_slice::<SavedTable>(text.as_bytes())).transpose();
        let saved = saved.map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("key-value table of the name server: {error}"))
        })?;
        Ok(Self { table: Mutex::new(saved.unwrap_or_default().config_table), store })
    }

    /// Value of a key.
    #[must_use]
    pub fn get(&self, namespace: &str, key: &str) -> Option<String> {
        self.lock().get(namespace)?.get(key).cloned()
    }

    /// All keys and values of a namespace.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> Option<BTreeMap<String, String>> {
        self.lock().get(namespace).cloned()
    }

    /// Sets a key.
    ///
    /// # Errors
    ///
    /// When the change could not be saved; it holds until the next restart all the same.
    pub fn put(&self, namespace: &str, key: &str, value: &str) -> io::Result<()> {
        let mut table = self.lock();
        table.entry(namespace.to_owned()).or_default().insert(key.to_owned(), value.to_owned());
        self.save(&table)
    }

    /// Deletes a key; one that is not there is no error.
    ///
    /// # Errors
    ///
    /// As [`KvConfigManager::put`].
    pub fn delete(&self, namespace: &str, key: &str) -> io::Result<()> {
        let mut table = self.lock();
        match table.get_mut(namespace).and_then(|keys| keys.remove(key)) {
            Some(_) => self.save(&table),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called with the lock held, so that saved texts follow each other in the order of the changes.
    fn save(&self, table: &Table) -> io::Result<()> {
        let Some(store) = &self.store else {
            return Ok(());
        };
        let saved = SavedTable { config_table: table.clone() };
        store.save(&java_json::to_string_pretty(&saved).map_err(io::Error::other)?)
    }
}

impl std::fmt::Debug for KvConfigManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KvConfigManager").field("table", &*self.lock()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::{KvConfigManager, KvConfigStore};

    #[derive(Default)]
    struct MemoryStore(Mutex<Option<String>>);

    impl KvConfigStore for MemoryStore {
        fn load(&self) -> io::Result<Option<String>> {
            Ok(self.0.lock().unwrap().clone())
        }

        fn save(&self, text: &str) -> io::Result<()> {
            *self.0.lock().unwrap() = Some(text.to_owned());
            Ok(())
        }
    }

    #[test]
    fn changes_survive_a_restart() {
        let store = Arc::new(MemoryStore::default());
        let table = KvConfigManager::load(Some(store.clone())).unwrap();
        table.put("ns", "a", "1").unwrap();
        table.put("ns", "b", "2").unwrap();
        table.delete("ns", "a").unwrap();
        table.delete("other", "a").unwrap();
        let saved = store.0.lock().unwrap().clone().unwrap();
        assert_eq!(saved, "{\n\t\"configTable\":{\n\t\t\"ns\":{\n\t\t\t\"b\":\"2\"\n\t\t}\n\t}\n}");
        let again = KvConfigManager::load(Some(store)).unwrap();
        assert_eq!((again.get("ns", "a"), again.get("ns", "b").as_deref()), (None, Some("2")));
        assert_eq!(again.namespace("none"), None);
    }

    #[test]
    fn a_damaged_table_is_an_error_that_says_so() {
        let store = Arc::new(MemoryStore(Mutex::new(Some("{\"configTable\":3}".to_owned()))));
        let error = KvConfigManager::load(Some(store)).unwrap_err();
        assert!(error.to_string().starts_with("key-value table of the name server: "), "{error}");
    }
}
