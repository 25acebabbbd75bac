//! Which kind of queue a topic has, and who knows it.

use crate::sync::Arc;
use std::fmt;

/// Kind of a topic's queues (`CQType`, topic attribute `queue.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueueType {
    /// One unit for each message: [`ConsumeQueue`](crate::consume_queue::ConsumeQueue). The default.
    #[default]
    SimpleCq,
    /// One unit for each record, which may hold several messages:
    /// [`BatchConsumeQueue`](crate::batch_consume_queue::BatchConsumeQueue).
    BatchCq,
}

impl QueueType {
    /// Name of the topic attribute.
    pub const ATTRIBUTE: &'static str = "queue.type";

    /// The kind that a value of the attribute names; anything but `BatchCQ` is the default.
    pub fn of_attribute(value: &str) -> Self {
        if value == Self::BatchCq.as_str() { Self::BatchCq } else { Self::SimpleCq }
    }

    /// Value of the attribute.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SimpleCq => "SimpleCQ",
            Self::BatchCq => "BatchCQ",
        }
    }
}

/// Asks for the kind of a topic.
type Source = dyn Fn(&str) -> QueueType + Send + Sync;

/// Tells the kind of a topic's queues. It is asked for topics that have no queue yet: where there are queues, they
/// decide.
///
/// A broker answers from its table of topics. Without anyone to ask, new queues are of the default kind.
#[derive(Clone, Default)]
pub struct QueueTypes(Option<Arc<Source>>);

impl QueueTypes {
    /// Kinds that `source` knows. It is called from any thread, with locks of the table of queues held: it must not call
    /// the store.
    pub fn new(source: impl Fn(&str) -> QueueType + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(source)))
    }

    /// Kind of the topic's queues.
    pub fn of(&self, topic: &str) -> QueueType {
        self.0.as_ref().map_or_else(QueueType::default, |source| source(topic))
    }
}

/// Equal when both have the same source, or none.
impl PartialEq for QueueTypes {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }
}

impl fmt::Debug for QueueTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.0.is_some() { "asked" } else { "the default" };
        f.debug_tuple("QueueTypes").field(&source).finish()
    }
}
