//! Every record has its unit, and every unit has its record.

use super::Context;
use super::against_batch_queues::BatchQueueCheck;
use super::queue_state::{QueueState, record_of};
use super::unit_walk::{Queue, subject};
use foldhash::HashMap;
use store_logic::dispatch::DispatchRequest;
use store_logic::inspect::{Finding, InspectError};
use store_logic::inspectors::LogReader;

/// The queues while the log is read.
pub(super) struct QueueCheck<'a> {
    context: &'a Context<'a>,
    states: Vec<QueueState>,
    /// Topic → queue → number of its state.
    queues: HashMap<String, HashMap<i32, usize>>,
    /// Topics that were deleted, as the notes say.
    has_deleted_topics: bool,
    batch: BatchQueueCheck<'a>,
    /// For looking at records out of order.
    log: LogReader,
}

impl<'a> QueueCheck<'a> {
    /// Lists the queues and checks their files as such.
    pub(super) fn new(
        context: &'a Context<'a>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<Self, InspectError> {
        let log = context.store.log()?.without_crc();
        let batch = BatchQueueCheck::new(context, found)?;
        let mut check = Self {
            context,
            states: Vec::new(),
            queues: HashMap::default(),
            batch,
            log,
            has_deleted_topics: context.store.has_deleted_topics(),
        };
        for queue in context.store.queues()? {
            let state = QueueState::open(context.store, queue.path)?;
            if let Some(reader) = &state.reader {
                reader.files().verify(found);
            }
            check.queues.entry(queue.topic).or_default().insert(queue.queue_id, check.states.len());
            check.states.push(state);
        }
        Ok(check)
    }

    /// Looks the record's unit up.
    pub(super) fn check(
        &mut self,
        request: &DispatchRequest<'_>,
        queue_offset: i64,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        self.check_light_queues(request, found)?;
        if !request.is_visible() {
            return Ok(());
        }
        let Ok(queue_offset) = u64::try_from(queue_offset) else {
            let path = self.context.store.paths().commit_log();
            let subject = subject(request.topic, request.queue_id, request.consume_queue_offset);
            let finding =
                Finding::error("queue-offset", path, "a queue offset from 0 on", queue_offset.to_string());
            found(finding.about(subject.with("offset", request.phy_offset)));
            return Ok(());
        };
        let store = self.context.store;
        if self.has_deleted_topics && store.is_of_deleted_topic(request.topic, request.phy_offset) {
            return Ok(());
        }
        if store.has_batch_queues(request.topic) {
            return self.batch.check(request, found);
        }
        let number = self.state_of(request.topic, request.queue_id)?;
        let state = &mut self.states[number];
        let unit = state.check(request, request.topic, request.queue_id, queue_offset, found)?;
        let Some(unit) = unit else { return Ok(()) };
        let queue = Queue { topic: request.topic, queue_id: request.queue_id, log_min: 0, log_end: u64::MAX };
        // A topic that was deleted and made anew begins at 0 again.
        let is_later = unit.phy_offset > request.phy_offset;
        let replaced = is_later && record_of(&mut self.log, &unit, &queue, queue_offset)?.is_none();
        let state = &mut self.states[number];
        if replaced {
            state.replaced += 1;
        } else {
            state.tell_foreign(&unit, request, &queue, queue_offset, found);
        }
        Ok(())
    }

    /// A record of several light queues has a unit in each, provided that they are kept at all.
    fn check_light_queues(
        &mut self,
        request: &DispatchRequest<'_>,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(), InspectError> {
        for place in request.light_places() {
            let number = self.queues.get(place.topic).and_then(|queues| queues.get(&place.queue_id));
            if let Some(number) = number {
                let state = &mut self.states[*number];
                let (name, queue_id, offset) = (place.topic, place.queue_id, place.queue_offset);
                if let Some(unit) = state.check(request, name, queue_id, offset, found)? {
                    let queue = Queue { topic: name, queue_id, log_min: 0, log_end: u64::MAX };
                    state.tell_foreign(&unit, request, &queue, offset, found);
                }
            }
        }
        Ok(())
    }

    /// Number of the queue's state; made when the first record of a queue comes that has no files.
    fn state_of(&mut self, topic: &str, queue_id: i32) -> Result<usize, InspectError> {
        if let Some(number) = self.queues.get(topic).and_then(|queues| queues.get(&queue_id)) {
            return Ok(*number);
        }
        let queues = self.queues.entry(topic.to_owned()).or_default();
        let has_siblings = queues.values().any(|number| self.states[*number].reader.is_some());
        let path = self.context.store.paths().consume_queue().join(topic).join(queue_id.to_string());
        let mut state = QueueState::open(self.context.store, path)?;
        state.excused = excuse(self.context, topic, has_siblings);
        queues.insert(queue_id, self.states.len());
        self.states.push(state);
        Ok(self.states.len() - 1)
    }

    /// Walks every queue. Returns how many there are and their units.
    pub(super) fn finish(
        mut self,
        log_min: u64,
        log_end: u64,
        found: &mut dyn FnMut(Finding),
    ) -> Result<(u64, u64), InspectError> {
        let mut log = self.context.store.log()?.without_crc();
        let (mut count, mut units) = self.batch.finish(log_end, found)?;
        let mut topics: Vec<_> = std::mem::take(&mut self.queues).into_iter().collect();
        topics.sort_by(|left, right| left.0.cmp(&right.0));
        for (topic, queues) in topics {
            let mut queues: Vec<_> = queues.into_iter().collect();
            queues.sort_by_key(|queue| queue.0);
            for (queue_id, number) in queues {
                let state = &mut self.states[number];
                let queue = Queue { topic: &topic, queue_id, log_min, log_end };
                state.tell_missing(&queue, self.context.lag_severity(), found);
                state.tell_excused(&queue, found);
                state.tell_replaced(&queue, found);
                count += u64::from(state.reader.is_some());
                units += state.walk(self.context, &queue, &mut log, found)?;
            }
        }
        Ok((count, units))
    }
}

/// Why the records of a topic that has no queue need none.
fn excuse(context: &Context<'_>, topic: &str, has_siblings: bool) -> Option<&'static str> {
    let unknown = context.topics.as_ref().is_some_and(|topics| !topics.contains(topic));
    if unknown && !has_siblings { Some("no queue, as of a deleted topic") } else { None }
}
