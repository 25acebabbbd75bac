//! Forgetting topics whose records stay in the log.

use super::Shared;
use crate::lost_places::LostPlaces;
use crate::sync::PoisonError;
use store_logic::Result;

impl Shared {
    /// Deletes the queues of `topics`. Records that are in the log by now belong to no queue any more, also after a
    /// crash: that is noted first, or dispatching them again would bring the topics back.
    pub(crate) fn delete_topics(&self, topics: &[&str]) -> Result<usize> {
        // Neither a dispatch nor an append under way may bring a queue back.
        let _dispatching = self.dispatching.lock().unwrap_or_else(PoisonError::into_inner);
        let (_tail, _) = self.log.lock_tail(|| self.env.now_millis());
        let queues = self.queues.all();
        let units = queues.iter().filter(|handle| topics.contains(&handle.queue.topic()));
        let units = units.map(|handle| handle.queue.unit_count()).sum();
        self.notes.add_deleted_topics(topics, self.log.wrote_offset(), units);
        self.notes.write()?;
        let mut deleted = 0;
        for topic in topics {
            deleted += self.queues.delete_topic(topic)?;
        }
        self.forget_lost_places(topics)?;
        Ok(deleted)
    }

    /// A new topic of the name gives its offsets from 0 on.
    fn forget_lost_places(&self, topics: &[&str]) -> Result<()> {
        let mut lost = LostPlaces::read(&self.env, &self.paths)?;
        if lost.retain(|topic, _, _| !topics.contains(&topic)) {
            lost.write(&self.env, &self.paths)?;
        }
        Ok(())
    }
}
