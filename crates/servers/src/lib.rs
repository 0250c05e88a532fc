//! Finds, initialises, starts and stops database servers; one file per Dbms.
//!
//! Four kinds of things, the first three plain data:
//! a [`Build`](model::Build) is what there is, found by [`discover`] or [`inspect`];
//! an [`Installation`] is where its files lie; a [`Layout`] adds where an instance keeps its own;
//! an [`Instance`] is the live process with its directory.
//!
//! What differs between families is said by a [`Product`]: it returns commands, configuration text
//! and names as data and performs no I/O, so that one interpreter ([`Instance`]) runs and logs them
//! all. A new Dbms is one file in `dbms/` and one line in [`PRODUCTS`].
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
mod digest;
mod discover;
mod elf;
mod error;
mod huge;
mod identity;
mod installation;
mod instance;
mod maps;
mod mark;
mod orphan;
mod port;
mod preload;
mod process;
mod record;
mod socket;
mod tail;

pub use certificate::CertificateError;
pub use clone::{CloneError, Cloned, clone_tree, write_back};
pub use cpus::{CpuListError, parse_cpus};
pub use dbms::{
    CaptureQuery, Copied, EngineMissing, Files, HugePages, Init, InitCommand, Input, Layout,
    Missing, Objection, PRODUCTS, Product, SettingError, TOKUDB_UNVERIFIED, Traits, Tree, Wanted,
    product,
};
pub use discover::{discover, inspect};
pub use error::ServerError;
pub use huge::HugePagesError;
pub use identity::ServerProcess;
pub use installation::Installation;
pub use instance::{Instance, InstanceSpec, StopFlag, left_by_init};
pub use maps::{Mapped, MappedLibrary};
pub use mark::program_digest;
pub use orphan::{HowEnded, Swept, sweep};
pub use preload::PreloadError;
pub use tail::Tail;
