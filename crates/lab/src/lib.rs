//! Carries a plan out: instances, steps, probes, events; the only place that wires effects together.
//!
//! [`Lab`] is the directory with the results and the instances. [`Lab::begin`] journals a run,
//! [`Lab::carry_out`] runs every trial of it that has no outcome yet. Whatever happens is an
//! [`model::Event`] on one stream; the store is its first consumer, the caller's listener the next.
//! A [`Site`] is one system made ready for one trial; where sites come from is a [`Provider`]:
//! [`Providers`] starts servers of ours, opens SQLite files, connects to servers that are not ours.

mod added;
mod agents;
mod builds;
mod capacity;
mod conductor;
mod crash_check;
mod directory;
mod disturbance;
mod embedded;
mod error;
mod foreign;
mod judging;
mod keeper;
mod kept;
mod marker;
mod observer;
mod own;
mod providers;
mod reach;
mod serving;
mod sessions;
mod settings;
mod site;
mod ssh;
mod template;
mod tryout;
mod variables;

pub use added::Before;
pub use agents::run_agent;
pub use builds::{Builds, expanded, hold_builds};
pub use capacity::{Capacity, raise_limits_of};
pub use conductor::Ended;
pub use crash_check::{
    Crash, CrashCheck, CrashSpec, Killed, LEAST_LOAD, crash_workload, run_terminals,
};
pub use directory::{Claim, Lab, check_parts};
pub use disturbance::{Beside, kinds_of_disturbance, limits_in_words, watch_beside};
pub use error::{LabError, SystemError};
pub use judging::{check_margins, judging, margins};
pub use obtain::now;
pub use own::preview_config;
pub use providers::Providers;
pub use reach::{Secrets, clean_environment};
pub use servers::refused_cpus;
pub use settings::refused_setting;
pub use site::{Idle, Provider, Site, SiteError, Watched};
pub use ssh::ssh;
pub use template::Template;
pub use tryout::{TRYOUT_ROWS, Tryout, try_out};
pub use variables::{Told, read_variables};

#[cfg(test)]
mod fixture {
    use model::{Build, BuildSource, Dbms, System};

    /// A system of that family as it comes, which would be started from this machine's own programs.
    pub(crate) fn system(dbms: Dbms) -> System {
        let source = BuildSource::Path("/usr".to_owned());
        System::new("a", Build::new(dbms, "1.2".parse().unwrap(), source))
    }
}
