//! The same six tests by backslide and by sysbench: is what is measured of the server the same?

use anyhow::{Context, Result};
use bench::{Scratch, Spread, Table, expand, heading, note, servers};
use model::WorkloadSpec;

use crate::REPEATS;
use crate::peers::{Client, Job, Task};
use crate::server::{On, ROWS, Server};

const MEASURES: &str = "Transactions a second of the tests of the microbenchmarks, by backslide and by \
     sysbench's own scripts: four connections on the Unix socket, prepared statements, uniform keys, table \
     `sbtest1` of 1,000,000 rows; the server on one CPU, the client on another, so that the server decides. \
     Runs of 8 s alternate; the ratio is taken within a pair. Median [min–max].";

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
    ]);
    for name in servers() {
        let server = Server::start(&name, On::OneCpu, ROWS, "")?;
        let other = probes::allowed().into_iter().find(|cpu| *cpu != server.cpu);
        for (test, _) in TESTS {
            let (mut ours, mut theirs) = (Spread::default(), Spread::default());
            for repeat in 1..=REPEATS {
                note(&format!("{name}, {test}: {repeat} of {REPEATS}"));
                let job = Job {
                    task: Task::Test(test),
                    clients: CLIENTS,
                    seconds: SECONDS,
                };
                let rate = |client: Client| -> Result<f64> {
                    let spent = client.run(job, &server.place, other)?;
                    Ok(spent.operations as f64 / f64::from(SECONDS))
                };
                ours.add(rate(Client::Backslide)?);
                theirs.add(rate(Client::Sysbench)?);
            }
            let ratio = ours.over(&theirs);
            table.row([
                test.to_owned(),
                name.clone(),
                format!("{ours:.0}"),
                format!("{theirs:.0}"),
                format!("{ratio:.3}"),
                if (ratio.median() - 1.0).abs() <= 0.05 {
                    "yes"
                } else {
                    "no"
                }
                .to_owned(),
            ]);
        }
        server.stop()?;
    }
    table.print("");
    Ok(())
}

/// The script of sysbench that sends what this test sends.
pub(crate) fn script(test: &str) -> Result<&'static str> {
    let found = TESTS.iter().find(|(name, _)| *name == test);
    found
        .map(|(_, script)| *script)
        .with_context(|| format!("no such test: {test}"))
}

/// The microbenchmarks with this test alone.
pub(crate) fn workload(test: &str, clients: u32, seconds: u32) -> Result<WorkloadSpec> {
    let plan = format!(
        r#"
        name = "peers"
        rounds = 1
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
