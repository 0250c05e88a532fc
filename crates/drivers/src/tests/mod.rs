//! What unit tests and the fuzzers in `/fuzz` stand on; never part of the program.

pub mod fuzzing;
#[cfg(test)]
pub(crate) mod tls_peer;
