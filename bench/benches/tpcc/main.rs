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
    if wanted("instructions") {
        instructions::measure()?;
    }
    if wanted("load") {
        load::measure()?;
    }
    if wanted("ten") {
        ten::measure()?;
    }
    if wanted("share") {
        share::measure()?;
    }
    Ok(())
}
