use std::fs;

use super::*;

/// Real files, without the durability of the real thing.
pub(crate) struct StdFiles;

impl ConfigFiles for StdFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if path.exists() {
            fs::copy(path, with_suffix(path, ".bak"))?;
        }
        let temporary = with_suffix(path, ".tmp");
        fs::write(&temporary, bytes)?;
        fs::rename(temporary, path)
    }

    fn set_aside(&self, path: &Path, aside: &Path) -> io::Result<()> {
        fs::rename(path, aside)
    }
}

/// A list of numbers in `numbers.json`.
#[derive(Default)]
struct Numbers(Mutex<Vec<i64>>);

impl Numbers {
    fn get(&self) -> Vec<i64> {
        self.0.lock().expect("lock").clone()
    }
}

impl ConfigManager for Numbers {
    fn config_file_name(&self) -> &'static str {
        "numbers.json"
    }

    fn encode(&self) -> Result<String, JavaJsonError> {
        store_core::java_json::to_string_pretty(&self.get())
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), JavaJsonError> {
        *self.0.lock().expect("lock") = store_core::java_json::from_slice(bytes)?;
        Ok(())
    }
}

struct Bench {
    root: tempfile::TempDir,
    store: ConfigStore,
    numbers: Numbers,
}

fn bench() -> Bench {
    let root = tempfile::tempdir().expect("directory");
    let store = ConfigStore::new(root.path().join("config"), Arc::new(StdFiles));
    Bench { root, store, numbers: Numbers::default() }
}

impl Bench {
    fn write(&self, name: &str, text: &str) {
        let directory = self.root.path().join("config");
        fs::create_dir_all(&directory).expect("directory");
        fs::write(directory.join(name), text).expect("write");
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.path().join("config")).expect("list");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("entry").file_name().into_string().expect("utf8")).collect();
        names.sort();
        names
    }

    fn load(&self) -> Result<LoadOutcome, ConfigStoreError> {
        self.store.load(&self.numbers, 1_700_000_000_000)
    }
}

#[test]
fn field_F15_nothing_there() {
    let bench = bench();
    assert_eq!(bench.load().expect("load"), LoadOutcome::Absent);
    bench.write("numbers.json", "");
    bench.write("numbers.json.bak", "");
    assert_eq!(bench.load().expect("load"), LoadOutcome::Absent);
}

#[test]
fn what_was_saved_is_loaded() {
    let bench = bench();
    bench.numbers.0.lock().expect("lock").extend([1, 2]);
    bench.store.persist(&bench.numbers).expect("persist");
    bench.numbers.0.lock().expect("lock").push(3);
    bench.store.persist(&bench.numbers).expect("persist");
    assert_eq!(bench.names(), ["numbers.json", "numbers.json.bak"]);

    let again = Numbers::default();
    assert_eq!(bench.store.load(&again, 0).expect("load"), LoadOutcome::Main);
    assert_eq!(again.get(), [1, 2, 3]);
}

#[test]
fn field_F15_a_missing_or_empty_file_falls_back_to_its_backup() {
    let bench = bench();
    bench.write("numbers.json.bak", "[7]");
    let outcome = bench.load().expect("load");
    assert!(matches!(outcome, LoadOutcome::Backup { .. }) && outcome.is_suspicious(), "{outcome}");
    assert_eq!(bench.numbers.get(), [7]);
    bench.write("numbers.json", "");
    assert!(matches!(bench.load().expect("load"), LoadOutcome::Backup { .. }));
}

#[test]
fn field_F15_a_damaged_file_is_moved_aside_not_deleted() {
    let bench = bench();
    bench.write("numbers.json", "[1,2");
    bench.write("numbers.json.bak", "[1]");
    let outcome = bench.load().expect("load");
    assert!(outcome.to_string().contains("numbers.json.broken-1700000000000"), "{outcome}");
    assert_eq!(bench.numbers.get(), [1]);
    assert_eq!(bench.names(), ["numbers.json.bak", "numbers.json.broken-1700000000000"]);
}

#[test]
fn field_F15_nothing_usable_is_an_error_and_nothing_is_touched() {
    let bench = bench();
    bench.write("numbers.json", "\0\0\0\0");
    for backup in [None, Some(""), Some("{")] {
        if let Some(text) = backup {
            bench.write("numbers.json.bak", text);
        }
        let before = bench.names();
        let error = bench.load().expect_err("unusable").to_string();
        assert!(error.contains("numbers.json.bak") && error.contains("move both away"), "{error}");
        assert_eq!(bench.names(), before);
    }
    assert!(bench.numbers.get().is_empty());
}

#[test]
fn a_failed_write_names_the_file() {
    let bench = bench();
    fs::write(bench.root.path().join("config"), "a file where the directory should be").expect("write");
    let error = bench.store.persist(&bench.numbers).expect_err("no directory").to_string();
    assert!(error.contains("numbers.json: cannot write"), "{error}");
}
