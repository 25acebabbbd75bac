//! The argument by which a command finds its servers.

use clap::Args;

/// Where the name servers are.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct NameServerArgument {
    /// Name server; several are separated by `;`
    #[arg(short = 'n', long = "namesrv", value_name = "HOST:PORT", default_value = "127.0.0.1:9876")]
    pub name_servers: String,
}
