//! Forgetting topics whose records stay in the log.

use super::Shared;
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
        let units = units.map(|handle| handle.queue.max_offset()).sum();
        self.notes.add_deleted_topics(topics, self.log.wrote_offset(), units);
        self.notes.write()?;
        let mut deleted = 0;
        for topic in topics {
            deleted += self.queues.delete_topic(topic)?;
            self.delete_extensions(topic)?;
        }
        Ok(deleted)
    }

    /// Deletes what Apache has kept beside the queues of a topic (`enableConsumeQueueExt`).
    fn delete_extensions(&self, topic: &str) -> Result<()> {
        if !is_directory_name(topic) {
            return Ok(());
        }
        let disk = self.env.disk();
        let directory = self.paths.consume_queue_ext().join(topic);
        if disk.stat(&directory)?.is_none() {
            return Ok(());
        }
        for queue in disk.read_dir(&directory)? {
            let queue = directory.join(queue.name);
            for file in disk.read_dir(&queue)? {
                disk.remove_file(&queue.join(file.name))?;
            }
            disk.remove_dir(&queue)?;
        }
        disk.remove_dir(&directory)?;
        Ok(disk.sync_dir(&self.paths.consume_queue_ext())?)
    }

    /// True for a topic whose queues are batch queues, which Apache alone writes.
    pub(super) fn has_batch_queues(&self, topic: &str) -> bool {
        self.batch_topics.contains(topic)
    }
}

/// True for a name that stands for one directory below another.
fn is_directory_name(topic: &str) -> bool {
    !matches!(topic, "" | "." | "..") && !topic.contains(['/', '\\', '\0'])
}
