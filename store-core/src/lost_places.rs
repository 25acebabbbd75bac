//! Queue offsets of messages that were lost with a damaged stretch of the log at the end of their queues
//! (`stratamq.lost`): the next messages must not get them, or a group that has read so far would pass over those.
//! Places inside a queue need no note: they hold blank units.

use crate::store_paths::StorePaths;
use std::collections::BTreeMap;
use store_logic::snapshot_file::{self, SnapshotError};
use store_logic::{Env, Result, atomic_file};

/// Kind and version of the snapshot's state.
const KIND: u32 = 0x0002_0001;

/// Queue → queue offset its next message gets, at least.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LostPlaces(BTreeMap<(String, i32), u64>);

impl LostPlaces {
    /// Reads the notes; damaged ones are reported and taken for none.
    pub(crate) fn read(env: &Env, paths: &StorePaths) -> Result<Self> {
        match snapshot_file::read(env, &paths.lost_places(), KIND) {
            Ok(places) => Ok(Self(places.unwrap_or_default())),
            Err(SnapshotError::Disk(error)) => Err(error.into()),
            Err(damaged) => {
                tracing::warn!(%damaged, "the notes of lost places cannot be used; going on without them");
                Ok(Self::default())
            }
        }
    }

    /// Writes the notes durably; without any the file goes.
    pub(crate) fn write(&self, env: &Env, paths: &StorePaths) -> Result<()> {
        if self.0.is_empty() {
            return Ok(atomic_file::remove(env.disk(), &paths.lost_places())?);
        }
        Ok(snapshot_file::write(env, &paths.lost_places(), KIND, &self.0)?)
    }

    /// The next message of a queue gets `next` or more.
    pub(crate) fn add(&mut self, topic: &str, queue_id: i32, next: u64) {
        let place = self.0.entry((topic.to_owned(), queue_id)).or_default();
        *place = next.max(*place);
    }

    /// Forgets what `keep` does not want; true when something was forgotten.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, i32, u64) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(|(topic, queue_id), next| keep(topic, *queue_id, *next));
        self.0.len() < before
    }

    /// All of them: topic, queue, offset.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, i32, u64)> {
        self.0.iter().map(|((topic, queue_id), next)| (topic.as_str(), *queue_id, *next))
    }
}
