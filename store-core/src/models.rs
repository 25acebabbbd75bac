//! Models for `loom`: each runs a few threads against the production code in every order that matters, weak memory
//! included. Nothing times out in a model, so a wake-up that is lost leaves its thread resting, and loom reports it. Run
//! by `cargo xtask models`; without `--cfg loom` nothing here is compiled.

mod files_ahead;
mod flags;
mod group_commit;
mod store;
