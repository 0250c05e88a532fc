//! gzip.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;

/// The content, of all members; its checksums are verified where it ends.
pub(super) fn decoder(input: impl BufRead) -> impl Read {
    MultiGzDecoder::new(input)
}
