//! The broker that is measured, and the topic that is used there.

use super::super::options::{Against, Flush, OutputOptions, PlaceOptions};
use super::super::process_usage::{ProcessCpu, anonymous_memory};
use super::super::report::{Figure, Report};
use super::super::scratch_directory::ScratchDirectory;
use super::super::workload::TOPIC;
use super::admin;
use super::broker_process::BrokerProcess;
use super::link::Link;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::{Duration, Instant};
use store_core::Env;

/// Longest wait for messages to reach their queues.
const DISPATCH_DEADLINE: Duration = Duration::from_secs(60);
/// Time between two looks at the queues.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Which broker is measured, besides `--against`.
#[derive(Debug, Clone, Args)]
pub(in super::super) struct BrokerOptions {
    /// Process of the broker that `--against` names, when it runs here: its CPU time is told then.
    #[arg(long)]
    pid: Option<u32>,
}

/// A broker with a topic for one run.
#[derive(Debug)]
pub(in super::super) struct Target {
    pub(in super::super) address: SocketAddr,
    pub(in super::super) topic: String,
    pid: Option<u32>,
    own: Option<BrokerProcess>,
}

impl Target {
    /// Starts a broker in `scratch`, or takes the one that was named, and makes a topic there.
    ///
    /// # Errors
    ///
    /// The broker does not start, does not answer or refuses the topic.
    pub(in super::super) fn open(
        options: &BrokerOptions,
        output: &OutputOptions,
        (flush, place): (Flush, &PlaceOptions),
        scratch: &ScratchDirectory,
        queues: u32,
    ) -> Result<Self> {
        let target = match &output.against {
            Against::Limit => {
                let broker = BrokerProcess::start(scratch, flush, place)?;
                let pid = Some(broker.pid());
                Self { address: broker.address, topic: TOPIC.to_owned(), pid, own: Some(broker) }
            }
            Against::Java => bail!(
                "--against java: start Apache's broker and give its address, with --pid for its CPU time"
            ),
            Against::Address(text) => {
                let mut found = text.to_socket_addrs().with_context(|| format!("--against {text}"))?;
                let address = found.next().with_context(|| format!("--against {text}: no such host"))?;
                let topic = format!("{TOPIC}_{}", Env::os().now_millis());
                Self { address, topic, pid: options.pid, own: None }
            }
        };
        admin::create_topic(&mut Link::connect(target.address)?, &target.topic, queues)?;
        Ok(target)
    }

    /// The broker that was started for this run.
    pub(in super::super) fn own(&self) -> Option<&BrokerProcess> {
        self.own.as_ref()
    }

    /// CPU time of the broker from now on.
    pub(in super::super) fn cpu(&self) -> Option<ProcessCpu> {
        ProcessCpu::of(self.pid?)
    }

    /// Memory of the broker that belongs to no file, in bytes.
    pub(in super::super) fn memory(&self) -> Option<u64> {
        anonymous_memory(self.pid?)
    }

    /// The offset behind the last message of each queue, once the broker has put all of that many messages into their
    /// queues; what is there after a minute if it does not.
    ///
    /// # Errors
    ///
    /// The broker does not answer.
    pub(in super::super) fn ends(&self, queues: u32, messages: u64) -> Result<Vec<u64>> {
        let mut link = Link::connect(self.address)?;
        let began = Instant::now();
        loop {
            let ends: Vec<u64> = (0..queues)
                .map(|queue| admin::max_offset(&mut link, &self.topic, queue))
                .collect::<Result<_>>()?;
            if ends.iter().sum::<u64>() >= messages || began.elapsed() > DISPATCH_DEADLINE {
                return Ok(ends);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Takes away from a broker of others what this run has made there.
    ///
    /// # Errors
    ///
    /// The broker refuses.
    pub(in super::super) fn clean_up(&self) -> Result<()> {
        match self.own {
            Some(_) => Ok(()),
            None => admin::delete_topic(&mut Link::connect(self.address)?, &self.topic),
        }
    }
}

/// CPU microseconds per message: the broker's with the echo server's as limit, the client's with the echo client's.
pub(in super::super) fn cpu_figures(
    report: &mut Report,
    (broker, client): (Option<Duration>, Duration),
    (echo, echo_client): (Duration, Duration),
    (messages, echoed): (u64, u64),
) {
    let each = |time: Duration, messages: u64| time.as_secs_f64() * 1e6 / messages.max(1) as f64;
    if let Some(broker) = broker {
        let figure = Figure::new("broker CPU per message", each(broker, messages), "us");
        report.figure(figure.with_limit("loopback echo, server", each(echo, echoed)));
    }
    let figure = Figure::new("client CPU per message", each(client, messages), "us");
    report.figure(figure.with_limit("loopback echo, client", each(echo_client, echoed)));
}
