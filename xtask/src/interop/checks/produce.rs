//! Sends a plan with the client of a language.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::interop::Context;
use crate::interop::broker::Broker;
use crate::interop::client::{Call, Language};
use crate::interop::compare::{Sent, join};
use crate::interop::messages::{Bodies, plan, read_lines, write_lines};

/// What to send where.
pub struct Production<'a> {
    /// Names the plan and the files of the call; begins every message id.
    pub name: &'a str,
    pub language: Language,
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
        broker.require_alive()?;
        let plan = plan(context.seed, self.name, self.count, self.bodies);
        let plan_file = directory.join(format!("{}.plan.jsonl", self.name));
        write_lines(&plan_file, &plan)?;
        let call = Call::new(context, directory, format!("{}-produce", self.name), self.language, "produce");
        let out = call.file("jsonl");
        call.with("namesrv", broker.namesrv())
            .with("group", format!("{}_producer", self.language.name()))
            .with("topic", self.topic)
            .with("plan", plan_file.display())
            .with("out", out.display())
            .run()?;
        join(self.topic, &plan, read_lines(&out)?, broker.port(), &self.first_offsets)
            .with_context(|| format!("acknowledgements in {}", out.display()))
    }
}
