//! User instructions of a statement, by the slope between a short and a long run under callgrind.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use bench::{Place, Table, heading, note, number_after, servers, within};

use crate::child;
use crate::server::{Server, Trial};
use crate::spec::spec;

const MEASURES: &str = "User instructions of the client for one SQL statement, averaged over the standard mix \
     (deck of 23, statement by statement, prepared, BEGIN and COMMIT counted), values decoded, answers checked, \
     latencies recorded; one terminal, two warehouses: what `valgrind --tool=callgrind` counts in a run of 40 s \
     less a run of 10 s of the same seed, over the statements between the two. System calls count as one \
     instruction; the kernel's fast clock is a system call there. The terminal is its thread alone. The thread that \
     cuts intervals does the same work every second, mostly to clear memory, and callgrind counts every byte; \
     the process is both, at the rate that callgrind and the machine let through.";

/// Seconds of the short and of the long run.
const SECONDS: [u32; 2] = [10, 40];

/// Warehouses: two, so that some lines and payments are of another one.
const WAREHOUSES: u32 = 2;

/// Instructions of a statement, at most.
const GOAL: f64 = 2000.0;

pub(crate) fn measure() -> Result<()> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        note("skipped: no valgrind");
        return Ok(());
    }
    heading("Instructions of a statement of the TPC-C-like workload", MEASURES)?;
    let mut table = Table::new([
        "server",
        "statements",
        "statements/s",
        "terminal, each",
        "intervals, millions/s",
        "process, each",
        "terminal at most 2,000",
    ]);
    for name in servers() {
        let spec = spec(WAREHOUSES, 1, 1);
        let server = Server::start(&name, &spec)?;
        note(&format!("{name}: loads {WAREHOUSES} warehouses"));
        let mut trial = Trial::new(&spec);
        for step in ["load", "index", "settle"] {
            trial.step(step, &server.target())?;
        }
        let place = server.place()?;
        let mut counted = Vec::new();
        for seconds in SECONDS {
            note(&format!("{name}: {seconds} s under callgrind"));
            counted.push(count(&name, seconds, &place)?);
        }
        server.stop()?;
        let [short, long] = counted.as_slice() else {
            bail!("two runs are needed");
        };
        let between = |of: fn(&Counted) -> u64| of(long).saturating_sub(of(short)) as f64;
        let statements = between(|counted| counted.statements);
        let seconds = f64::from(SECONDS[1] - SECONDS[0]);
        let (process, terminal) =
            (between(|counted| counted.process), between(|counted| counted.terminal));
        let each = terminal / statements;
        table.row([
            name,
            format!("{statements:.0}"),
            format!("{:.0}", statements / seconds),
            format!("{each:.0}"),
            format!("{:.1}", (process - terminal) / seconds / 1e6),
            format!("{:.0}", process / statements),
            within(each <= GOAL),
        ]);
    }
    table.print("");
    Ok(())
}

/// The counts of one run.
#[derive(Clone, Copy, Debug)]
struct Counted {
    statements: u64,
    /// Instructions of all threads.
    process: u64,
    /// Instructions of the terminal's.
    terminal: u64,
}

/// Runs a terminal under callgrind. The profiles of its threads are kept where `BACKSLIDE_BENCH_PROFILE` says.
fn count(name: &str, seconds: u32, place: &Place) -> Result<Counted> {
    let scratch = tempfile::tempdir()?;
    let kept = std::env::var_os("BACKSLIDE_BENCH_PROFILE").map(PathBuf::from);
    let directory = kept.as_deref().unwrap_or(scratch.path());
    let profile = directory.join(format!("{name}-{seconds}s"));
    let profile = profile.display();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--separate-threads=yes"])
        .arg(format!("--callgrind-out-file={profile}"))
        .arg(std::env::current_exe()?)
        .args([child::MODE, &WAREHOUSES.to_string(), &seconds.to_string()])
        .args(place.arguments())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let statements = number_after(&said, child::SENT).filter(|_| output.status.success());
    let statements = statements.with_context(|| format!("the client failed:\n{said}{errors}"))?;
    let process = number_after(&errors, "Collected :");
    let process = process.context("callgrind did not say its count")?;
    // The first thread runs the step and cuts the intervals; all others are terminals.
    let first = std::fs::read_to_string(format!("{profile}-01"))?;
    let first = number_after(&first, "\ntotals:");
    Ok(Counted {
        statements,
        process,
        terminal: process - first.context("a profile without totals")?,
    })
}
