//! Many connections from one process.

use anyhow::{Context, Result};
use bench::{Spread, Table, heading, note, servers, within};
use model::Bytes;

use crate::REPEATS;
use crate::peers::{Client, Job, Task};
use crate::server::{On, ROWS, Server};
use crate::spec::Work;

const MEASURES: &str = "Point selects, prepared, a thread and a connection each, client and server on \
     the same CPU. Runs of 5 s alternate. Memory: the peak of the process less that with one \
     connection, over the connections. Median [min–max].";

const SECONDS: u32 = 5;
/// Memory of a connection, at most.
const MEMORY: u64 = 64 << 10;

pub(crate) fn measure() -> Result<()> {
    heading("Many connections", MEASURES)?;
    let mut table = Table::new([
        "server",
        "connections",
        "backslide, 1/s",
        "sysbench, 1/s",
        "ratio",
        "at least 1",
        "memory of a connection",
        "under 64 KiB",
    ]);
    for name in servers() {
        let server = Server::start(&name, On::OneCpu, ROWS, "max_connections = 2100")?;
        let one = peak(&server, 1)?;
        for clients in [64, 512, 2000] {
            compare(&server, clients, one, &mut table)?;
        }
        server.stop()?;
    }
    table.print("");
    Ok(())
}

fn job(clients: u32) -> Job {
    Job { task: Task::Work(Work::Point), clients, seconds: SECONDS }
}

fn peak(server: &Server, clients: u32) -> Result<u64> {
    let spent = Client::Backslide.run(job(clients), &server.place, Some(server.cpu))?;
    spent.peak.context("the client did not tell its memory")
}

fn compare(server: &Server, clients: u32, one: u64, table: &mut Table<8>) -> Result<()> {
    let (mut ours, mut theirs, mut memory) =
        (Spread::default(), Spread::default(), Spread::default());
    for repeat in 1..=REPEATS {
        note(&format!("{}, {clients} connections: {repeat} of {REPEATS}", server.name));
        let run = |client: Client| client.run(job(clients), &server.place, Some(server.cpu));
        let seconds = f64::from(SECONDS);
        let spent = run(Client::Backslide)?;
        ours.add(spent.operations as f64 / seconds);
        let peak = spent.peak.context("the client did not tell its memory")?;
        memory.add(peak.saturating_sub(one) as f64 / f64::from(clients));
        theirs.add(run(Client::Sysbench)?.operations as f64 / seconds);
    }
    let ratio = ours.over(&theirs);
    let each = memory.median() as u64;
    table.row([
        server.name.clone(),
        clients.to_string(),
        format!("{ours:.0}"),
        format!("{theirs:.0}"),
        format!("{ratio:.3}"),
        within(ratio.median() >= 1.0),
        Bytes(each).to_string(),
        within(each <= MEMORY),
    ]);
    Ok(())
}
