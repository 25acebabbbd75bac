//! Writes the seeds of every target to `corpus/TARGET/` below the given directory and prints the targets' names.

use std::path::PathBuf;

fn main() {
    let directory = PathBuf::from(std::env::args_os().nth(1).expect("usage: write_seeds DIRECTORY"));
    for name in stratamq_fuzz::names() {
        let corpus = directory.join(name);
        std::fs::create_dir_all(&corpus).unwrap();
        for (number, seed) in stratamq_fuzz::seeds(name).iter().enumerate() {
            std::fs::write(corpus.join(format!("seed-{number:04}")), seed).unwrap();
        }
        println!("{name}");
    }
}
