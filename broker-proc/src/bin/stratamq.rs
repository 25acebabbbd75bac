//! `stratamq`: one program for the broker, the name server and the client tools.

use std::process::ExitCode;

fn main() -> ExitCode {
    broker_proc::program::main()
}
