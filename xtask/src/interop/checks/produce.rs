//! Sends a plan with the client of a language.

mod requests;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::client::{Call, Language};
use crate::interop::compare::{Sent, join};
use crate::interop::messages::{Acknowledged, Bodies, Planned, plan, read_lines, write_lines};

/// Who sends.
#[derive(Clone, Copy)]
pub enum Sender {
    /// The client of a language, one message a request.
    Client(Language),
    /// The Java client, so many messages a request.
    Batches(usize),
    /// Nobody's client: requests of the harness. They may name topics that the clients refuse.
    Requests,
}

/// What to send where.
pub struct Production<'a> {
    /// Names the plan and the files of the call; begins every message id.
    pub name: &'a str,
    pub sender: Sender,
    pub topic: &'a str,
    pub count: usize,
    pub bodies: Bodies,
    /// The next offset of each queue that already holds messages.
    pub first_offsets: BTreeMap<i64, i64>,
}

impl Production<'_> {
    /// Sends everything and checks the acknowledgements.
    ///
    /// # Errors
    /// When the broker is dead, the program fails or an acknowledgement is wrong.
    pub fn run(&self, context: &Context, directory: &Path, broker: &Broker<'_>) -> Result<Vec<Sent>> {
        self.run_changed(context, directory, broker, |_, _| ())
    }

    /// The same with a plan whose messages, counted from 0, were changed.
    ///
    /// # Errors
    /// As [`Production::run`].
    pub fn run_changed(
        &self,
        context: &Context,
        directory: &Path,
        broker: &Broker<'_>,
        change: fn(usize, &mut Planned),
    ) -> Result<Vec<Sent>> {
        broker.require_alive()?;
        let mut plan = plan(context.seed, self.name, self.count, self.bodies);
        plan.iter_mut().enumerate().for_each(|(index, planned)| change(index, planned));
        let (acknowledged, place) = match self.sender {
            Sender::Client(language) => self.call(context, directory, broker, language, &plan, 1)?,
            Sender::Batches(size) => self.call(context, directory, broker, Language::Java, &plan, size)?,
            Sender::Requests => {
                (requests::send(broker, self.topic, &plan)?, "answers to requests".to_owned())
            }
        };
        join(self.topic, &plan, acknowledged, broker.socket(), &self.first_offsets).context(place)
    }

    /// Runs a client program; also returns where its acknowledgements are.
    fn call(
        &self,
        context: &Context,
        directory: &Path,
        broker: &Broker<'_>,
        language: Language,
        plan: &[Planned],
        batch: usize,
    ) -> Result<(Vec<Acknowledged>, String)> {
        let plan_file = directory.join(format!("{}.plan.jsonl", self.name));
        write_lines(&plan_file, plan)?;
        let call = Call::new(context, directory, format!("{}-produce", self.name), language, "produce");
        let out = call.file("jsonl");
        let mut call = call
            .with("namesrv", broker.namesrv())
            .with("group", format!("{}_producer", language.name()))
            .with("topic", self.topic)
            .with("plan", plan_file.display())
            .with("out", out.display());
        if batch > 1 {
            call = call.with("batch", batch);
        }
        call.run()?;
        Ok((read_lines(&out)?, format!("acknowledgements in {}", out.display())))
    }
}
