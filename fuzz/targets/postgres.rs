//! A PostgreSQL server that may say anything.
//!
//! The first byte of an input is the options of [`drivers::tests::fuzzing`], the second says whether the
//! rest is taken as it is or as messages: kind, length in one byte, body. A fuzzer finds it hard to
//! keep length fields of four bytes true.

#![no_main]

use drivers::tests::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let [options, form, said @ ..] = input {
        if form % 2 == 0 {
            fuzzing::postgres(*options, said);
        } else {
            fuzzing::postgres(*options, &messages(said));
        }
    }
});

/// Puts true lengths into the messages; the last one may be cut.
fn messages(mut said: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let [kind, length, rest @ ..] = said {
        let length = usize::from(*length);
        bytes.push(*kind);
        bytes.extend((length as u32 + 4).to_be_bytes());
        let (body, following) = rest.split_at(length.min(rest.len()));
        bytes.extend(body);
        said = following;
    }
    bytes
}
