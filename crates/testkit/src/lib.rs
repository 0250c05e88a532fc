//! A fake Dbms and redaction for snapshots; for tests only.
//!
//! [`FakeDbms`] keeps tables in memory and understands the statements of the Insert Benchmark as
//! SQLite speaks them. [`FakeProvider`] makes systems of it for the lab. A [`Fault`] makes one of
//! them misbehave in a way that a real server cannot be asked for. [`SpoiledProvider`] does that to the
//! embedded SQLite, which understands every statement.

mod dbms;
mod diary;
mod fault;
mod redact;
mod saved;
mod session;
mod site;
mod spoiled;
mod tables;

pub use dbms::FakeDbms;
pub use diary::Diary;
pub use fault::{Fault, Trouble};
pub use redact::redact;
pub use site::{FakeProvider, Held};
pub use spoiled::SpoiledProvider;
