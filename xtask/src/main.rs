//! `cargo xtask`: builds, checks and exercises the workspace from outside.
//!
//! This program depends on no crate of the workspace: it knows the broker only as a user does, as a program
//! with arguments, ports and files. Each command is one variant of [`Command`] and one module.

#![forbid(unsafe_code)]

mod bench_java;
mod fuzz;
mod harness;
#[cfg(target_os = "linux")]
mod integ;
mod interop;
mod models;
mod mutants;
mod sim;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The command line.
#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds, checks and exercises the workspace from outside")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// What `cargo xtask` can do.
#[derive(Subcommand)]
enum Command {
    /// Measures the store and Apache's in turn, and holds the figures against bars.
    BenchJava(bench_java::Options),
    /// Feeds decoders with bytes of all kinds (cargo-fuzz, nightly).
    Fuzz(fuzz::Options),
    /// Exercises a broker under faults of a real kernel: kills, full disks, power cuts, I/O errors.
    #[cfg(target_os = "linux")]
    Integ(integ::Options),
    /// Exercises a broker with stock Java, Node and Go clients.
    Interop(interop::Options),
    /// Runs the code of the store that threads share in every order (loom).
    Models(models::Options),
    /// Makes deliberate faults and sees whether the tests notice them.
    Mutants(mutants::Options),
    /// Runs the crash simulation of the store with many seeds.
    Sim(sim::Options),
    /// Checks that the structure is what the documents promise.
    Tidy,
}

impl Command {
    /// Runs the command; true when everything it checked was right.
    fn run(&self) -> anyhow::Result<bool> {
        match self {
            Command::BenchJava(options) => bench_java::run(options),
            Command::Fuzz(options) => fuzz::run(options),
            #[cfg(target_os = "linux")]
            Command::Integ(options) => integ::run(options),
            Command::Interop(options) => interop::run(options),
            Command::Models(options) => models::run(options),
            Command::Mutants(options) => mutants::run(options),
            Command::Sim(options) => sim::run(options),
            Command::Tidy => tidy::run(),
        }
    }
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
