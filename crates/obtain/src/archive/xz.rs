//! xz.

use std::io::{BufRead, Read};

use lzma_rust2::XzReader;

/// The largest dictionary that is allocated: what the strongest preset of `xz` uses, four times.
const MEMORY_KIB: u32 = 256 << 10;

/// The content, of all streams; its checksums are verified.
pub(super) fn decoder(input: impl BufRead) -> impl Read {
    XzReader::new_mem_limit(input, true, MEMORY_KIB)
}
