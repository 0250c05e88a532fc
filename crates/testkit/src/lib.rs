//! A fake Dbms, databases, fixtures, made-up runs, referees, and redaction for snapshots; for tests only.
//!
//! [`FakeDbms`] keeps tables in memory and understands the statements of the Insert Benchmark as
//! SQLite speaks them. [`FakeProvider`] makes systems of it for the lab. A [`Fault`] makes one of
//! them misbehave in a way that a real server cannot be asked for. [`SpoiledProvider`] does that to the
//! embedded SQLite, which understands every statement. They are the feature `fakes`, which is on unless
//! it is turned off.
//!
//! [`fixtures`] has a host, a plan and a run to start from; it needs the feature of that name.
//! `made_up` has whole runs made from a seed, with effects of known size: the feature `made-up`.
//!
//! `databases` has SQLite files and servers for tests of workloads: the feature of that name.
//!
//! [`skipped`] is for tests that cannot run everywhere, and [`depot`] finds what is installed for the user.
//!
//! A [`Referee`] is a rule by which others call a regression; `crates/stats/tests` asks them beside ours.

#[cfg(feature = "databases")]
pub mod databases;
#[cfg(feature = "fakes")]
mod dbms;
mod depot;
#[cfg(feature = "fakes")]
mod diary;
#[cfg(feature = "fakes")]
mod fault;
#[cfg(feature = "fixtures")]
pub mod fixtures;
#[cfg(feature = "made-up")]
pub mod made_up;
#[cfg(feature = "fakes")]
mod redact;
mod referee;
#[cfg(feature = "fakes")]
mod saved;
#[cfg(feature = "fakes")]
mod session;
#[cfg(feature = "fakes")]
mod site;
mod skipped;
#[cfg(feature = "fakes")]
mod spoiled;
#[cfg(feature = "fakes")]
mod tables;

#[cfg(feature = "fakes")]
pub use dbms::FakeDbms;
pub use depot::depot;
#[cfg(feature = "fakes")]
pub use diary::Diary;
#[cfg(feature = "fakes")]
pub use fault::{Fault, Trouble};
#[cfg(feature = "fakes")]
pub use redact::redact;
pub use referee::{Measured, Referee};
#[cfg(feature = "fakes")]
pub use site::{FakeProvider, Held};
pub use skipped::{not_permitted, skipped};
#[cfg(feature = "fakes")]
pub use spoiled::SpoiledProvider;
