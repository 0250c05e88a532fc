//! Loading: rows a second beside a loader that sends row by row.

use ::load::Target;
use anyhow::Result;
use bench::{Spread, Table, heading, note, servers, within};

use crate::reference;
use crate::rows::{Rows, TABLES};
use crate::server::{Server, Trial};
use crate::spec::{LOADERS, spec};

const MEASURES: &str = "One warehouse with all its rows, from no tables to indexed ones: backslide's steps \
     `load` and `index`, from before the first connect to after the last close; beside it a loader that sends \
     the same rows, which it has in memory, by prepared INSERTs of one row, a hundred a transaction, into the \
     same tables without secondary indexes. Two sessions each; server and client on all CPUs, memory for all \
     rows, commits not synced. Runs alternate. Median [min–max].";

const REPEATS: usize = 3;

/// Rows a second over those of the other loader, at least.
const GOAL: f64 = 3.0;

pub(crate) fn measure() -> Result<()> {
    heading("Load of the TPC-C-like workload", MEASURES)?;
    let mut table = Table::new([
        "server",
        "rows",
        "backslide, rows/s",
        "row by row, rows/s",
        "ratio",
        "at least 3",
    ]);
    for name in servers() {
        let spec = spec(1, 1, 1);
        let server = Server::start(&name, &spec)?;
        let target = server.target();
        let (mut ours, mut theirs) = (Spread::default(), Spread::default());
        let mut count = 0;
        for repeat in 1..=REPEATS {
            note(&format!("{name}, load: {repeat} of {REPEATS}"));
            let mut trial = Trial::new(&spec);
            let loaded = trial.step("load", &target)?.elapsed;
            let tables = read(&server)?;
            reference::create(&target, &tables)?;
            let seconds = (loaded + trial.step("index", &target)?.elapsed).as_secs_f64();
            count = tables.iter().map(Rows::count).sum();
            ours.add(count as f64 / seconds);
            theirs.add(count as f64 / reference::load(&target, &tables, LOADERS as usize)?);
            reference::check(&target, &tables)?;
            reference::drop_tables(&target, &tables)?;
            drop_tables(&target)?;
        }
        server.stop()?;
        let ratio = ours.over(&theirs);
        table.row([
            name,
            count.to_string(),
            format!("{ours:.0}"),
            format!("{theirs:.0}"),
            format!("{ratio:.2}"),
            within(ratio.median() >= GOAL),
        ]);
    }
    table.print("");
    Ok(())
}

/// All rows of all tables.
fn read(server: &Server) -> Result<Vec<Rows>> {
    let target = server.target();
    let mut session = target.patient.connect()?;
    let read = |table| Rows::read(&mut *session, target.dialect, table);
    TABLES.into_iter().map(read).collect()
}

/// Removes what backslide loaded, which does not load over it.
fn drop_tables(target: &Target) -> Result<()> {
    let mut session = target.patient.connect()?;
    for table in TABLES.into_iter().chain(["tpcc_meta"]) {
        session.execute(&format!("DROP TABLE {table}"))?;
    }
    Ok(())
}
