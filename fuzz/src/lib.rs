//! The decoders of all layers, as one table. They are the functions that the ordinary tests run over a few thousand inputs.

#[path = "../../broker-proc/tests/decoders/targets.rs"]
mod broker_targets;
#[path = "../../store-logic/tests/decoders/targets.rs"]
mod logic_targets;
#[path = "../../broker-proc/tests/decoders/no_machine.rs"]
mod no_machine;
#[path = "../../broker-proc/tests/golden_frames/recording.rs"]
#[allow(dead_code, reason = "only the frames are needed here")]
mod recording;

/// Names of all targets.
pub fn names() -> impl Iterator<Item = &'static str> {
    logic_targets::TARGETS.iter().chain(&broker_targets::TARGETS).map(|(name, _)| *name)
}

/// Runs one target over one input.
///
/// # Panics
///
/// When the input breaks what the target asserts.
pub fn run(target: &str, input: &[u8]) {
    let mut targets = logic_targets::TARGETS.iter().chain(&broker_targets::TARGETS);
    let found = targets.find(|(name, _)| *name == target);
    (found.unwrap_or_else(|| panic!("no target {target}")).1)(input);
}

/// Good inputs of one target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    if logic_targets::TARGETS.iter().any(|(name, _)| *name == target) {
        logic_targets::seeds(target)
    } else {
        broker_targets::seeds(target)
    }
}
