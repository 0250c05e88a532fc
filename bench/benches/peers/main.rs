//! What a query costs the client, beside sysbench and pgbench: same server, same socket, same CPU,
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
mod select;
mod server;
mod spec;

use anyhow::Result;
use bench::note;

/// Pairs of runs of each measurement.
const REPEATS: usize = 5;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, rest @ ..] = arguments.as_slice()
        && mode == child::MODE
    {
        return child::work(rest);
    }
    if !bench::is_asked_for() {
        return Ok(());
    }
    let wanted = |what: &str| {
        let named: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
        named.is_empty() || named.iter().any(|name| *name == what)
    };
    if !peers::are_there() {
        note("skipped: sysbench or pgbench is missing; bench/peers installs them");
        return Ok(());
    }
    if wanted("instructions") {
        instructions::measure()?;
    }
    if wanted("cpu") {
        select::measure()?;
    }
    if wanted("same") {
        same::measure()?;
    }
    if wanted("clients") {
        clients::measure()?;
    }
    if wanted("load") {
        load::measure()?;
    }
    Ok(())
}
