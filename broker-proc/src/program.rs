//! The program `stratamq`: its verbs and what they print.

mod bench;
mod broker;
mod consume;
mod error_text;
mod legal_name;
mod message_line;
mod name_server_argument;
mod namesrv;
mod progress;
mod send;
mod standard_streams;
mod stop_signal;
mod store;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use error_text::error_text;
use standard_streams::tell;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// A RocketMQ-compatible message broker.
#[derive(Debug, Parser)]
#[command(name = "stratamq", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start a broker, with a name server in the same process unless namesrvAddr is set.
    Broker(broker::BrokerArguments),
    /// Start a name server alone.
    Namesrv(namesrv::NamesrvArguments),
    /// Send messages.
    Send(send::SendArguments),
    /// Consume messages.
    Consume(consume::ConsumeArguments),
    /// Look into the files of a store, check them, and build anew what the log can give.
    Store(store::StoreArguments),
    /// Measure the store beside what the machine allows, and check the results.
    Bench(bench::BenchArguments),
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_env("STRATAMQ_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // Standard error may be closed; saying so there would be a panic.
        .log_internal_errors(false)
        .init();
    match run(arguments.verb) {
        Ok(code) => code,
        Err(error) => {
            tell(format_args!("stratamq: {}", error_text(&error)));
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> Result<ExitCode> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let outcome = match verb {
        Verb::Broker(arguments) => runtime.block_on(broker::run(arguments)),
        Verb::Namesrv(arguments) => runtime.block_on(namesrv::run(arguments)),
        Verb::Send(arguments) => runtime.block_on(send::run(arguments)),
        Verb::Consume(arguments) => runtime.block_on(consume::run(arguments)),
        Verb::Store(arguments) => return Ok(store::run(&arguments)),
        Verb::Bench(arguments) => return bench::run(&arguments, &runtime),
    };
    // A blocking read of standard input may be under way; nobody waits for it.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}
