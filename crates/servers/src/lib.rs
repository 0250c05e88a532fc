//! Finds, initialises, starts and stops database servers; one file per family.
//!
//! Four kinds of things, the first three plain data:
//! a [`Build`](model::Build) is what there is, found by [`discover`] or [`inspect`];
//! an [`Installation`] is where its files lie; a [`Layout`] adds where an instance keeps its own;
//! an [`Instance`] is the live process with its directory.
//!
//! What differs between families is said by a `Family`: it returns commands, configuration text
//! and names as data and performs no I/O, so that one interpreter ([`Instance`]) runs and logs them
//! all. What differs within a family is data: [`model::Product`].
//!
//! No server outlives backslide. Each is killed when its [`Instance`] is dropped; the kernel kills it
//! when backslide dies; and [`sweep`] ends whatever escaped both, at the next start, by recorded pid,
//! start time and boot, never by name.

mod account;
mod certificate;
mod clone;
mod cpus;
mod crash;
mod dbms;
mod discover;
mod error;
mod freeze;
mod huge;
mod identity;
mod installation;
mod instance;
mod maps;
mod process;
mod record;
mod socket;
mod tail;

pub use certificate::CertificateError;
pub use clone::{Cloned, clone_tree, write_back};
pub use cpus::{CpuListError, parse_cpus, refused_cpus};
pub use crash::killed_backend;
pub use dbms::{Files, Layout, TOKUDB_UNVERIFIED, is_named};
pub use discover::{discover, inspect};
pub use error::{
    EngineMissing, Fault, HugePagesError, Missing, PathError, PreloadError, ServerError,
    SettingError,
};
pub use freeze::FreezeError;
pub use installation::Installation;
pub use instance::{Instance, InstanceSpec, Ready, StopFlag, left_by_init};
pub use maps::{Mapped, MappedLibrary, program_digest};
pub use process::ServerProcess;
pub use record::{HowEnded, Swept, sweep};
pub use tail::Tail;
