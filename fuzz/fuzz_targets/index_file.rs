#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| stratamq_fuzz::run("index_file", input));
