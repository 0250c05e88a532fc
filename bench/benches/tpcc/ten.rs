//! Ten warehouses: how long they take to load, and to prove.

use anyhow::Result;
use bench::{Table, heading, note, servers, within};

use crate::server::{Server, Trial};
use crate::spec::spec;

const MEASURES: &str = "Ten warehouses, server and client on all CPUs, two sessions that load and check, memory \
     for all rows, commits not synced. `load` and `index`: from no tables to indexed ones. `check.load` reads \
     all rows and compares them besides proving the conditions; `check` proves the conditions and the further \
     invariants after 30 s of transactions by four terminals. Seconds, connects included.";

const WAREHOUSES: u32 = 10;

/// Seconds of the load and its indexes, at most.
const LOAD: f64 = 180.0;
/// Seconds of the proof, at most.
const CHECK: f64 = 60.0;

pub(crate) fn measure() -> Result<()> {
    heading("Ten warehouses of the TPC-C-like workload", MEASURES)?;
    let mut table = Table::new(["server", "step", "seconds", "under"]);
    for name in servers() {
        let spec = spec(WAREHOUSES, 4, 30);
        let server = Server::start(&name, &spec)?;
        let mut trial = Trial::new(&spec);
        let mut took = |step: &str| -> Result<f64> {
            note(&format!("{name}: {step}"));
            Ok(trial.step(step, &server.target())?.elapsed.as_secs_f64())
        };
        let (load, index) = (took("load")?, took("index")?);
        let check_load = took("check.load")?;
        took("settle")?;
        took("h1")?;
        let check = took("check")?;
        server.stop()?;
        for (step, seconds, goal) in [
            ("load", load, None),
            ("index", index, None),
            ("load and index", load + index, Some(LOAD)),
            ("check.load", check_load, None),
            ("check", check, Some(CHECK)),
        ] {
            let goal = goal.map(|most| format!("{most}: {}", within(seconds < most)));
            table.row([
                name.clone(),
                step.to_owned(),
                format!("{seconds:.1}"),
                goal.unwrap_or_else(|| "–".to_owned()),
            ]);
        }
    }
    table.print("");
    Ok(())
}
