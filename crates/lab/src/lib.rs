//! Carries a plan out: instances, steps, probes, events; the only place that wires effects together.
//!
//! [`Lab`] is the directory with the results and the instances. [`Lab::begin`] journals a run,
//! [`Lab::carry_out`] runs every trial of it that has no outcome yet. Whatever happens is an
//! [`model::Event`] on one stream; the store is its first consumer, the caller's listener the next.
//! A [`Site`] is one system made ready for one trial; where sites come from is a [`Provider`]:
//! [`Providers`] starts servers of ours, opens SQLite files, connects to servers that are not ours.

mod account;
mod address;
mod alive;
mod beside;
mod builds;
mod capacity;
mod conductor;
mod crash_check;
mod directory;
mod disturbance;
mod embedded;
mod error;
#[cfg(test)]
mod fixture;
mod foreign;
mod guard;
mod judging;
mod keeper;
mod kept;
mod listing;
mod lock;
mod margins;
mod marker;
mod observer;
mod own;
mod private;
mod providers;
mod reach;
mod sessions;
mod settings;
mod site;
mod template;
mod tryout;
mod variables;

pub use address::{ForeignAddress, Secrets, take_password};
pub use beside::{Beside, watch_beside};
pub use builds::{Builds, hold_builds};
pub use capacity::{Capacity, raise_limits_of};
pub use conductor::Ended;
pub use crash_check::{
    Crash, CrashCheck, CrashSpec, Killed, LEAST_LOAD, crash_workload, run_terminals,
};
pub use directory::{Claim, Lab};
pub use disturbance::{kinds_of_disturbance, limits_in_words};
pub use error::LabError;
pub use judging::judging;
pub use lock::RunLock;
pub use margins::check_margins;
pub use own::preview_config;
pub use providers::Providers;
pub use settings::refused_setting;
pub use site::{Idle, Provider, Site, SiteError, Watched};
pub use template::Template;
pub use tryout::{TRYOUT_ROWS, Tryout, try_out};
pub use variables::{Told, read_variables};
