//! CPU time of the client for the scripts of sysbench, run by backslide and by sysbench.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use bench::{Spread, Table, heading, note, servers, within};
use model::{LuaSpec, WorkloadSpec};

use crate::REPEATS;
use crate::instructions::{is_possible, slope};
use crate::peers::{Client, Job, Task};
use crate::same::script;
use crate::server::{On, ROWS, Server};

const MEASURES: &str = "CPU time (user and system) of the whole client process for an event of sysbench's own \
     scripts, run by backslide and by sysbench: one connection on the Unix socket, prepared statements, uniform \
     keys, table `sbtest1` of 1,000,000 rows; client and server on the same CPU. Runs of 5 s alternate, and so does \
     the order; the ratio is taken within a pair. Median [min–max]. User instructions as in `instructions`: a busy \
     machine does not disturb them.";

const SECONDS: u32 = 5;
const INSTALLED: &str = "/usr/share/sysbench";
const TESTS: [&str; 3] = ["point-query", "update-nonindex", "read-only_range=100"];
/// The largest ratio to sysbench.
const GOAL: f64 = 1.0;

pub(crate) fn measure() -> Result<()> {
    heading("The scripts of sysbench", MEASURES)?;
    let mut table = Table::new([
        "script",
        "server",
        "backslide, µs",
        "sysbench, µs",
        "ratio",
        "goal",
        "reached",
        "instructions, backslide",
        "instructions, sysbench",
        "ratio",
    ]);
    for name in servers() {
        let server = Server::start(&name, On::OneCpu, ROWS, "")?;
        for test in TESTS {
            table.row(row(&server, test)?);
        }
        server.stop()?;
    }
    table.print("");
    Ok(())
}

fn row(server: &Server, test: &'static str) -> Result<[String; 10]> {
    let job = Job { task: Task::Test(test), clients: 1, seconds: SECONDS };
    let (mut ours, mut theirs) = (Spread::default(), Spread::default());
    for repeat in 1..=REPEATS {
        note(&format!("{}, {test}: {repeat} of {REPEATS}", server.name));
        let mut turns = [(&mut ours, Client::Script), (&mut theirs, Client::Sysbench)];
        if repeat % 2 == 0 {
            turns.reverse();
        }
        for (micros, client) in turns {
            micros.add(client.run(job, &server.place, Some(server.cpu))?.micros());
        }
    }
    let ratio = ours.over(&theirs);
    let [counted, their_counted, counted_ratio] = instructions(server, job.task)?;
    Ok([
        script(test)?.to_owned(),
        server.name.clone(),
        format!("{ours:.2}"),
        format!("{theirs:.2}"),
        format!("{ratio:.3}"),
        format!("{GOAL:.2}"),
        within(ratio.median() <= GOAL),
        counted,
        their_counted,
        counted_ratio,
    ])
}

/// User instructions of an event, by backslide and by sysbench, and their ratio.
fn instructions(server: &Server, task: Task) -> Result<[String; 3]> {
    if !is_possible() {
        return Ok(["no valgrind"; 3].map(str::to_owned));
    }
    let ours = slope(Client::Script, task, &server.place)?;
    let theirs = slope(Client::Sysbench, task, &server.place)?;
    Ok([format!("{ours:.0}"), format!("{theirs:.0}"), format!("{:.3}", ours / theirs)])
}

/// The script of sysbench that sends what this test sends, as sysbench is asked for it.
pub(crate) fn workload(task: Task, clients: u32, seconds: u32) -> Result<WorkloadSpec> {
    let Task::Test(test) = task else { bail!("{} is no script", task.name()) };
    let file = format!("{INSTALLED}/{}.lua", script(test)?);
    let text = std::fs::read_to_string(&file)?;
    let rows = ROWS.to_string();
    let options = [("tables", "1"), ("table_size", rows.as_str()), ("rand_type", "uniform")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Ok(WorkloadSpec::Lua(LuaSpec {
        path: vec![INSTALLED.to_owned()],
        options: BTreeMap::from(options),
        clients,
        seconds,
        warmup_seconds: 0,
        ..LuaSpec::usual(&file, &text)
    }))
}
