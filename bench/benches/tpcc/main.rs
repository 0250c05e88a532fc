//! The TPC-C-like workload: cost of its client, speed of loading, time of its proof.

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
