//! The TPC-C-like workload: what its client costs, how fast it loads, how long its proof takes.

mod child;
mod counting;
mod instructions;
mod load;
mod reference;
mod rows;
mod server;
mod share;
mod spec;
mod ten;

use anyhow::Result;

fn main() -> Result<()> {
    if let Some(arguments) = bench::arguments_of(child::MODE) {
        return child::work(&arguments);
    }
    if !bench::is_asked_for() {
        return Ok(());
    }
    bench::measure(&[
        ("instructions", instructions::measure),
        ("load", load::measure),
        ("ten", ten::measure),
        ("share", share::measure),
    ])
}
