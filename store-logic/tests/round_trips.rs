//! What a codec writes it reads again, for any values it can hold, and writes the same bytes once more; fewer bytes or a
//! flipped bit give an error or another value, never a panic.
//!
//! A failing case is shrunk, printed, and kept beside its source as `NAME.regressions`, which runs first from then on.

#[path = "round_trips/damage.rs"]
mod damage;
#[path = "round_trips/files.rs"]
mod files;
#[path = "round_trips/json.rs"]
mod json;
#[path = "round_trips/properties.rs"]
mod properties;
#[path = "round_trips/queues.rs"]
mod queues;
#[path = "round_trips/records.rs"]
mod records;
#[path = "round_trips/values.rs"]
mod values;
