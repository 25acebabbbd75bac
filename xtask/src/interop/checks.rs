//! The scenarios: each starts its own broker, announces its checks and decides them.

mod apache_name_server;
mod apache_opens_our_store;
mod apaches_store;
mod clients;
mod kill_nine;
mod produce;
mod read_back;
mod transactions;
mod we_open_apaches_store;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;

use super::Context;
use crate::harness::report::{Report, Section};

/// A broker and the checks that share it.
struct Scenario {
    /// Its directory below the run directory.
    name: &'static str,
    /// The names of its checks.
    checks: fn() -> Vec<String>,
    run: fn(&Context, &Path, &Section<'_>) -> Result<()>,
}

/// The longest comes first, the others run beside it.
const SCENARIOS: [Scenario; 6] = [
    Scenario { name: "clients", checks: clients::names, run: clients::run },
    Scenario { name: "kill-nine", checks: kill_nine::names, run: kill_nine::run },
    Scenario {
        name: "apache-opens-our-store",
        checks: apache_opens_our_store::names,
        run: apache_opens_our_store::run,
    },
    Scenario {
        name: "we-open-apaches-store",
        checks: we_open_apaches_store::names,
        run: we_open_apaches_store::run,
    },
    Scenario { name: "apache-name-server", checks: apache_name_server::names, run: apache_name_server::run },
    Scenario { name: "transactions", checks: transactions::names, run: transactions::run },
];

/// How many scenarios run at once. More than the cores of a small machine: much of the time is spent waiting.
const LANES: usize = 3;

/// Runs every scenario that has a wanted check.
pub fn run_all(context: &Context, report: &Report) {
    let queue = Mutex::new(SCENARIOS.iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(scenario) = next() {
                    run_one(scenario, context, report);
                }
            });
        }
    });
}

fn run_one(scenario: &Scenario, context: &Context, report: &Report) {
    let section = Section::new(report, (scenario.checks)());
    if section.is_wanted() {
        let directory = context.run.scenario(scenario.name);
        let outcome = directory.and_then(|directory| (scenario.run)(context, &directory, &section));
        if section.close(outcome) && !context.keep {
            // A store of default sizes takes gigabytes: it must not lie there until the last scenario ends.
            context.run.remove_scenario(scenario.name);
        }
    }
}
