//! The same six tests by backslide and by sysbench: does the server's measured cost agree?

use anyhow::{Context, Result};
use bench::{Scratch, Spread, Table, expand, heading, note, servers, within};
use model::WorkloadSpec;

use crate::REPEATS;
use crate::peers::{Client, Job, Task};
use crate::server::{On, ROWS, Server};

const MEASURES: &str = "Transactions a second of the tests of the microbenchmarks, by backslide and by \
     sysbench's own scripts: four connections on the Unix socket, prepared statements, uniform keys, table \
     `sbtest1` of 1,000,000 rows; the server on one CPU, the client on another, so that the server decides. \
     Runs of 8 s alternate, and so does the order; ratios are taken within a pair. Median [min–max]. \
     `server CPU` is backslide's ratio to sysbench of what the server's CPU was busy for a transaction; \
     `busy` is how much of its CPU each client used: near 100, it is the client that decides.";

const SECONDS: u32 = 8;
const CLIENTS: u32 = 4;

/// A test of the microbenchmarks, and the script of sysbench that sends the same.
pub(crate) const TESTS: [(&str, &str); 6] = [
    ("point-query", "oltp_point_select"),
    ("read-only_range=100", "oltp_read_only"),
    ("update-index", "oltp_update_index"),
    ("update-nonindex", "oltp_update_non_index"),
    ("read-write_range=100", "oltp_read_write"),
    ("write-only_range=10000", "oltp_write_only"),
];

pub(crate) fn measure() -> Result<()> {
    heading("The same tests", MEASURES)?;
    let mut table = Table::new([
        "test",
        "server",
        "backslide, 1/s",
        "sysbench, 1/s",
        "ratio",
        "within 5 %",
        "server CPU",
        "backslide busy, %",
        "sysbench busy, %",
    ]);
    for name in servers() {
        let server = Server::start(&name, On::OneCpu, ROWS, "")?;
        for (test, _) in TESTS {
            table.row(row(&server, test)?);
        }
        server.stop()?;
    }
    table.print("");
    Ok(())
}

/// One client's runs of a test.
#[derive(Default)]
struct Runs {
    /// Transactions a second.
    rate: Spread,
    /// Microseconds that the server's CPU was busy for a transaction.
    server: Spread,
    /// Per cent of the client's CPU.
    busy: Spread,
}

impl Runs {
    fn add(&mut self, client: Client, test: &'static str, server: &Server) -> Result<()> {
        let other = probes::allowed().into_iter().find(|cpu| *cpu != server.cpu);
        let job = Job { task: Task::Test(test), clients: CLIENTS, seconds: SECONDS };
        let before = probes::cpu_busy(server.cpu)?;
        let spent = client.run(job, &server.place, other)?;
        let served = probes::cpu_busy(server.cpu)? - before;
        let operations = spent.operations as f64;
        self.rate.add(operations / f64::from(SECONDS));
        self.server.add(served.as_micros_f64() / operations);
        self.busy.add(100.0 * spent.cpu.as_secs_f64() / f64::from(SECONDS));
        Ok(())
    }
}

fn row(server: &Server, test: &'static str) -> Result<[String; 9]> {
    let (mut ours, mut theirs) = (Runs::default(), Runs::default());
    for repeat in 1..=REPEATS {
        note(&format!("{}, {test}: {repeat} of {REPEATS}", server.name));
        let mut turns = [(&mut ours, Client::Backslide), (&mut theirs, Client::Sysbench)];
        if repeat % 2 == 0 {
            turns.reverse();
        }
        for (runs, client) in turns {
            runs.add(client, test, server)?;
        }
    }
    let ratio = ours.rate.over(&theirs.rate);
    Ok([
        test.to_owned(),
        server.name.clone(),
        format!("{:.0}", ours.rate),
        format!("{:.0}", theirs.rate),
        format!("{ratio:.3}"),
        within((ratio.median() - 1.0).abs() <= 0.05),
        format!("{:.3}", ours.server.over(&theirs.server)),
        format!("{:.0}", ours.busy.median()),
        format!("{:.0}", theirs.busy.median()),
    ])
}

/// The script of sysbench that sends what this test sends.
pub(crate) fn script(test: &str) -> Result<&'static str> {
    let found = TESTS.iter().find(|(name, _)| *name == test);
    found.map(|(_, script)| *script).with_context(|| format!("no such test: {test}"))
}

/// The microbenchmarks with this test alone.
pub(crate) fn workload(test: &str, clients: u32, seconds: u32) -> Result<WorkloadSpec> {
    let plan = format!(
        r#"
        name = "peers"
        rounds = 1
        quarantine = false
        [workload]
        kind = "micro"
        tests = ["{test}"]
        rows = {ROWS}
        clients = {clients}
        read_seconds = {seconds}
        write_seconds = {seconds}
        warmup_seconds = 0
        warm_ups = false
        settle = 0
        [[system]]
        build = "sqlite"
        "#
    );
    let scratch = Scratch::new()?;
    Ok(expand(&plan, &scratch.lab.host()?)?.workload)
}
