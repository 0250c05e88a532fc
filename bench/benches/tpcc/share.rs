//! The client's share of the CPU time of client and server, as `backslide show` prints it.

use anyhow::{Context, Result};
use bench::{Scratch, Table, heading, note, servers, within};
use report::Input;
use store::Want;

const MEASURES: &str = "One terminal and the server on the same CPU, two warehouses, 30 s, statement by \
     statement, prepared: column `client` of the table that `backslide show` and the report print of step `h1`.";

/// Per cent, at most.
const GOAL: f64 = 25.0;

pub(crate) fn measure() -> Result<()> {
    heading("The client's share of the CPU", MEASURES)?;
    let mut table = Table::new(["server", "tpmc", "client, %", "under 25"]);
    for name in servers() {
        note(&format!("{name}: a run of one terminal"));
        let (tpmc, share) = run(&name)?;
        table.row([name, format!("{tpmc:.0}"), format!("{share:.1}"), within(share < GOAL)]);
    }
    table.print("");
    Ok(())
}

/// New-Orders a minute and the client's share of a run.
fn run(name: &str) -> Result<(f64, f64)> {
    let cpu = *probes::allowed().last().context("no CPU may be used")?;
    let plan = format!(
        r#"
        name = "share"
        rounds = 1
        quarantine = false
        [workload]
        kind = "tpcc"
        warehouses = 2
        clients = 1
        steps = 1
        seconds = 30
        settle = 5
        [[system]]
        build = "{name}"
        config = "quick"
        cpus = {{ server = "{cpu}", client = "{cpu}" }}
        "#
    );
    let mut scratch = Scratch::new()?;
    let run = scratch.carry_out(&plan, &mut |_| ())?;
    let numbers = Want { series: false, histograms: false };
    let data = scratch.lab.store.load(&run, numbers)?;
    let shown = report::Report::new(&Input::new(&data, &[])).transactions();
    // The published columns stand in one table, the corrected ones in another.
    let value = |column: &str| {
        let mut tables = shown.iter().filter(|table| table.title.starts_with("Run, "));
        tables.find_map(|table| {
            let place = table.headers.iter().position(|head| head.text == column)?;
            table.rows.iter().find_map(|row| row.get(place)?.value)
        })
    };
    Ok((
        value("tpmc").context("no tpmc is shown")?,
        value("client").context("no share of the client is shown")?,
    ))
}
