//! Loading: rows a second from nothing to an indexed table.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use bench::{Spread, Table, heading, note, servers, within};

use crate::REPEATS;
use crate::peers::sysbench_login;
use crate::server::{On, Server, load};
use crate::spec::{Work, spec};

const MEASURES: &str = "One table `sbtest1`: created, loaded and its secondary index built, by \
     backslide's steps `load` and `index` (checks of what was loaded come after them) and by `sysbench \
     prepare`, one thread (it has one for a table); server and client on all CPUs, memory for all rows. \
     Runs alternate. Median [min–max].";

/// Memory and logs for all rows, so that the disk does not decide.
fn settings(name: &str) -> &'static str {
    match name {
        "postgres" => "shared_buffers = \"4GB\", max_wal_size = \"16GB\"",
        _ => "innodb_buffer_pool_size = \"6G\", innodb_log_file_size = \"4G\"",
    }
}

/// Rows over sysbench's, at least.
const GOAL: f64 = 3.0;

pub(crate) fn measure() -> Result<()> {
    let rows = told("BACKSLIDE_BENCH_ROWS", 10_000_000)?;
    let repeats = told("BACKSLIDE_BENCH_LOADS", REPEATS as u64)?;
    heading(&format!("Load of {rows} rows"), MEASURES)?;
    let mut table =
        Table::new(["server", "backslide, rows/s", "sysbench, rows/s", "ratio", "at least 3"]);
    for name in servers() {
        let server = Server::start(&name, On::AllCpus, 0, settings(&name))?;
        let (mut ours, mut theirs) = (Spread::default(), Spread::default());
        for repeat in 1..=repeats {
            note(&format!("{name}, load: {repeat} of {repeats}"));
            drop_table(&server)?;
            let workload = spec(rows, 2, Work::Point, 1, 1);
            ours.add(rows as f64 / load(&server.target(), &workload)?);
            drop_table(&server)?;
            theirs.add(rows as f64 / sysbench(&server, rows)?);
        }
        let ratio = ours.over(&theirs);
        table.row([
            name.clone(),
            format!("{ours:.0}"),
            format!("{theirs:.0}"),
            format!("{ratio:.2}"),
            within(ratio.median() >= GOAL),
        ]);
        server.stop()?;
    }
    table.print("");
    Ok(())
}

/// The value from the environment, or the default.
fn told(name: &str, usual: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(number) => number.parse().with_context(|| format!("{name}={number}")),
        Err(_) => Ok(usual),
    }
}

fn drop_table(server: &Server) -> Result<()> {
    let mut session = server.target().patient.connect()?;
    session.execute("DROP TABLE IF EXISTS sbtest1")?;
    Ok(())
}

/// Seconds that `sysbench prepare` takes.
fn sysbench(server: &Server, rows: u64) -> Result<f64> {
    let begin = Instant::now();
    let output = Command::new("sysbench")
        .args(["oltp_point_select", "--tables=1", "--rand-type=uniform"])
        .arg(format!("--table-size={rows}"))
        .args(sysbench_login(&server.place))
        .arg("prepare")
        .output()?;
    if !output.status.success() {
        bail!("sysbench failed:\n{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(begin.elapsed().as_secs_f64())
}
