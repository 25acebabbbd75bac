//! Every decoder over good and mutated bytes: a short run of what `cargo xtask fuzz` does at length.

#[path = "../../store-logic/tests/decoders/mutations.rs"]
mod mutations;
#[path = "decoders/no_machine.rs"]
mod no_machine;
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

/// Inputs that fuzzing found: an answer without a map of fields, and no configuration at all.
#[test]
fn inputs_that_once_broke_a_target() {
    let header = br#"{"code":0,"flag":1,"language":"JAVA","opaque":90,"serializeTypeCurrentRPC":"JSON","version":513}"#;
    let frame = [&[0, 0, 0, 100, 0, 0, 0, 96][..], header].concat();
    for (name, input) in [("json_header", &header[..]), ("frame", &frame), ("broker_conf", b"")] {
        let target = targets::TARGETS.iter().find(|(target, _)| *target == name).unwrap();
        (target.1)(input);
    }
}
