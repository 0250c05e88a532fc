//! The client's cost of a query, beside sysbench and pgbench: same server, same socket, same CPU,
//! prepared statements, latencies recorded.
//!
//! Every client is a process of its own, backslide's too: this program starts itself again. What a
//! process spent is what the kernel says when it has ended, start and connect included, for all alike.

mod child;
mod clients;
mod floor;
mod instructions;
mod load;
mod peers;
mod same;
mod scripts;
mod select;
mod server;
mod spec;

use anyhow::Result;
use bench::note;

/// Pairs of runs of each measurement.
const REPEATS: usize = 5;

fn main() -> Result<()> {
    if let Some(arguments) = bench::arguments_of(child::MODE) {
        return child::work(&arguments);
    }
    if !bench::is_asked_for() {
        return Ok(());
    }
    if !peers::are_there() {
        note("skipped: sysbench or pgbench is missing; bench/peers installs them");
        return Ok(());
    }
    bench::measure(&[
        ("instructions", instructions::measure),
        ("cpu", select::measure),
        ("same", same::measure),
        ("scripts", scripts::measure),
        ("clients", clients::measure),
        ("load", load::measure),
    ])
}
