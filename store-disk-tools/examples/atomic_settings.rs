//! Layer 1 alone: a small file that survives a crash at any moment, and a file with its blocks reserved.
//!
//! `cargo run -p store-disk-tools --example atomic_settings -- DIRECTORY`

use store_disk_tools::{Env, atomic_file, preallocate};

fn main() -> anyhow::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "disk-example".into());
    let directory = std::path::Path::new(&directory);
    let env = Env::os();
    env.disk().create_dir_all(directory)?;

    let settings = directory.join("settings.json");
    atomic_file::replace(env.disk(), &settings, br#"{"version":1}"#)?;
    atomic_file::replace(env.disk(), &settings, br#"{"version":2}"#)?;
    let before = atomic_file::read(env.disk(), &atomic_file::backup_path(&settings))?.unwrap_or_default();
    println!("settings replaced; the version before: {}", String::from_utf8_lossy(&before));

    let (file, how) = preallocate::create_sized(env.disk(), &directory.join("segment"), 1 << 20, 1 << 20)?;
    println!("{} holds {} B ({how:?})", file.path().display(), file.len()?);
    Ok(())
}
