//! Shared parts of the benches: a lab of their own, exact clocks, Markdown tables.
//!
//! Each bench is a program of its own in `benches/`, so that its memory and CPU time are its own.
//! None asserts a time: they print what they measured beside the goal.

mod ask;
mod cost;
mod one_cpu;
mod place;
mod print;
mod scratch;
mod spread;

use model::Dbms;

pub use ask::{Measurement, arguments, arguments_of, is_asked_for, measure};
pub use cost::{forget_peak, peak_memory, process_cpu, resident, thread_cpu};
pub use one_cpu::{Client, OneCpu};
pub use place::Place;
pub use print::{Table, heading, note, number_after, within};
pub use scratch::{Scratch, expand};
pub use spread::Spread;

/// The servers that the benches use.
const SERVERS: [Dbms; 2] = [Dbms::Mariadb, Dbms::Postgres];

/// The servers to be measured, as a plan's `build`: those of `BACKSLIDE_BENCH_SERVERS`, with blanks between
/// them, or one of each kind that was found on this machine.
pub fn servers() -> Vec<String> {
    if let Ok(named) = std::env::var("BACKSLIDE_BENCH_SERVERS") {
        return named.split_whitespace().map(str::to_owned).collect();
    }
    let builds = lab::Builds::of_user().ok();
    let there = builds.as_ref().map_or(&[][..], lab::Builds::found);
    let found = SERVERS.into_iter().filter(|dbms| there.iter().any(|build| build.dbms == *dbms));
    let found: Vec<String> = found.map(|dbms| dbms.name().to_owned()).collect();
    for dbms in SERVERS {
        if !found.iter().any(|name| name == dbms.name()) {
            note(&format!("skipped: no {dbms} server"));
        }
    }
    found
}
