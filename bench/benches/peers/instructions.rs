//! User instructions of a point select, by the slope between a short and a long run under callgrind.

use std::process::Command;

use anyhow::{Context, Result, bail};
use bench::{Table, heading, note, number_after, servers, within};
use model::Dialect;

use crate::peers::{Client, Job, Task};
use crate::server::{On, Place, ROWS, Server};
use crate::spec::Work;

const MEASURES: &str = "User instructions of one point select, one connection, prepared, latencies \
     recorded: what `valgrind --tool=callgrind` counts in a run of 8 s less a run of 3 s, over the \
     queries between the two. System calls count as one instruction for all alike; the kernel's fast \
     clock is a system call there.";

/// Seconds of the short and of the long run.
const SECONDS: [u32; 2] = [3, 8];

/// Instructions of backslide over those of a peer, at most.
const OF_SYSBENCH: f64 = 0.25;
const OF_PGBENCH: f64 = 0.2;

pub(crate) fn measure() -> Result<()> {
    if !is_possible() {
        note("skipped: no valgrind");
        return Ok(());
    }
    heading("Instructions of a point select", MEASURES)?;
    let mut table =
        Table::new(["server", "peer", "backslide", "peer's", "ratio", "goal", "reached"]);
    for name in servers() {
        let server = Server::start(&name, On::OneCpu, ROWS, "")?;
        let point = Task::Work(Work::Point);
        let ours = slope(Client::Backslide, point, &server.place)?;
        let mut against = |peer: Client, word: &str, goal: f64| -> Result<()> {
            let theirs = slope(peer, point, &server.place)?;
            let ratio = ours / theirs;
            table.row([
                server.name.clone(),
                word.to_owned(),
                format!("{ours:.0}"),
                format!("{theirs:.0}"),
                format!("{ratio:.3}"),
                format!("{goal}"),
                within(ratio <= goal),
            ]);
            Ok(())
        };
        against(Client::Sysbench, "sysbench", OF_SYSBENCH)?;
        if server.place.dialect == Dialect::Postgres {
            against(Client::Pgbench, "pgbench", OF_PGBENCH)?;
        }
        server.stop()?;
    }
    table.print("");
    Ok(())
}

/// Is there a valgrind?
pub(crate) fn is_possible() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

/// User instructions of one operation.
pub(crate) fn slope(client: Client, task: Task, place: &Place) -> Result<f64> {
    let mut counted = Vec::new();
    for seconds in SECONDS {
        note(&format!("{client:?}, {seconds} s under callgrind"));
        let job = Job { task, clients: 1, seconds };
        counted.push(count(client, job, place)?);
    }
    let [(short, few), (long, many)] = counted.as_slice() else {
        bail!("two runs are needed");
    };
    Ok((*long as f64 - *short as f64) / (*many as f64 - *few as f64))
}

/// Instructions and operations of one run.
fn count(client: Client, job: Job, place: &Place) -> Result<(u64, u64)> {
    let command = client.command(job, place)?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()?;
    let operations = client.operations(&output)?;
    let said = String::from_utf8_lossy(&output.stderr);
    let instructions = number_after(&said, "Collected :");
    Ok((instructions.context("callgrind did not say its count")?, operations))
}
