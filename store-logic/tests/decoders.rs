//! Every decoder over good and mutated bytes: a short run of what `cargo xtask fuzz` does at length.

#[path = "decoders/mutations.rs"]
mod mutations;
#[path = "decoders/targets.rs"]
mod targets;

#[test]
fn no_input_breaks_a_decoder() {
    for (name, target) in targets::TARGETS {
        // Those that need a file take far longer.
        let mutated = if targets::OF_FILES.contains(&name) { 150 } else { 3_000 };
        let tried = mutations::run(target, &targets::seeds(name), mutated);
        println!("{name}: {tried} inputs");
    }
}
