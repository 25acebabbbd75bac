//! One queue of a topic on one broker.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// A queue, as the clients name it. Also the key of several tables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageQueue {
    /// Topic.
    pub topic: String,
    /// Broker name.
    pub broker_name: String,
    /// Queue number.
    pub queue_id: i32,
}

impl Display for MessageQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}", self.topic, self.broker_name, self.queue_id)
    }
}
