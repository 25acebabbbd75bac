//! Every decoder over good and mutated bytes: a short run of what `cargo xtask fuzz` does at length.

#[path = "../../store-logic/tests/decoders/mutations.rs"]
mod mutations;
#[path = "golden_frames/recording.rs"]
#[allow(dead_code, reason = "only the frames are needed here")]
mod recording;
#[path = "decoders/targets.rs"]
mod targets;

#[test]
fn no_input_breaks_a_decoder() {
    for (name, target) in targets::TARGETS {
        let tried = mutations::run(target, &targets::seeds(name), 2_000);
        println!("{name}: {tried} inputs");
    }
}
