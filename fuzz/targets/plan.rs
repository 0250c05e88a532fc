//! A plan file that may hold anything.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        fuzz::plan(plan::read(text, "fuzz.toml"));
    }
});
