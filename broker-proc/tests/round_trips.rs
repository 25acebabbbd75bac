//! What a codec writes it reads again, for any values it can hold, and writes the same bytes once more; fewer bytes or a
//! flipped bit give an error or another value, never a panic.
//!
//! A failing case is shrunk, printed, and kept beside its source as `NAME.regressions`, which runs first from then on.

#[path = "round_trips/broker_conf.rs"]
mod broker_conf;
#[path = "round_trips/commands.rs"]
mod commands;
#[path = "round_trips/config_files.rs"]
mod config_files;
#[path = "../../store-logic/tests/round_trips/damage.rs"]
mod damage;
#[path = "round_trips/fields.rs"]
mod fields;
#[path = "decoders/no_machine.rs"]
mod no_machine;
#[path = "../../store-logic/tests/round_trips/values.rs"]
#[allow(dead_code, reason = "only what this layer has is needed here")]
mod values;
