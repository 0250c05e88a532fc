//! A MySQL server that may say anything.
//!
//! The first byte of an input is the options of [`drivers::tests::fuzzing`], the second says whether the
//! rest is taken as it is or as packets: a byte of control, then the payload. A fuzzer finds it hard
//! to keep the sequence numbers true.

#![no_main]

use drivers::tests::fuzzing;
use libfuzzer_sys::fuzz_target;

/// Control: the packet begins an answer, and so is number 1. The other bits are its length.
const BEGINS: u8 = 0x80;

fuzz_target!(|input: &[u8]| {
    if let [options, form, said @ ..] = input {
        match form % 3 {
            0 => fuzzing::mysql(*options, said),
            1 => fuzzing::mysql(*options, &packets(said)),
            _ => fuzzing::mysql(*options | fuzzing::COMPRESSION, &compressed(&packets(said))),
        }
    }
});

/// Puts headers before the payloads; the last one may be cut.
fn packets(mut said: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sequence = 0_u8;
    while let [control, rest @ ..] = said {
        let length = control & !BEGINS;
        sequence = match control & BEGINS {
            0 => sequence.wrapping_add(1),
            _ => 1,
        };
        bytes.extend([length, 0, 0, sequence]);
        let (payload, following) = rest.split_at(usize::from(length).min(rest.len()));
        bytes.extend(payload);
        said = following;
    }
    bytes
}

/// One compressed frame around all of it, which says that its content is as it is.
fn compressed(packets: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (packets.len() as u32).to_le_bytes();
    let mut bytes = vec![a, b, c, 1, 0, 0, 0];
    bytes.extend(packets);
    bytes
}
