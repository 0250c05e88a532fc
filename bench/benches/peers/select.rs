//! CPU time of the client for each kind of statement, on the CPU of the server.

use anyhow::Result;
use bench::{Spread, Table, heading, note, servers, within};
use model::Dialect;

use crate::REPEATS;
use crate::peers::{Client, Job, Task};
use crate::server::{On, ROWS, Server};
use crate::spec::Work;

const MEASURES: &str = "CPU time (user and system) of the whole client process per statement, one \
     connection on the Unix socket, prepared statements (the INSERT of sysbench, which has none for \
     it, is text), latencies recorded, table `sbtest1` of 1,000,000 rows; client and server on the same \
     CPU. Runs of 5 s alternate; the ratio is taken within a pair. Median [min–max]. The floor is a \
     client that writes, polls, reads and looks at nothing.";

const SECONDS: u32 = 5;

pub(crate) fn measure() -> Result<()> {
    heading("CPU of the client", MEASURES)?;
    let mut table = Table::new([
        "work",
        "server",
        "against",
        "backslide, µs",
        "the other's, µs",
        "ratio",
        "goal",
        "reached",
        "backslide, 1/s",
        "the other's, 1/s",
    ]);
    for name in servers() {
        let server = Server::start(&name, On::OneCpu, ROWS, "")?;
        for work in [Work::Point, Work::Range, Work::Update, Work::Insert] {
            compare(&server, work, &mut table)?;
        }
        server.stop()?;
    }
    table.print("");
    Ok(())
}

/// The others that a kind of work is compared with, and the largest ratio to each.
fn others(work: Work, dialect: Dialect) -> Vec<(Client, &'static str, f64)> {
    let is_postgres = dialect == Dialect::Postgres;
    let sysbench = |goal| (Client::Sysbench, "sysbench", goal);
    match work {
        Work::Point => {
            let mut all = vec![sysbench(if is_postgres { 0.9 } else { 0.8 })];
            if is_postgres {
                all.push((Client::Pgbench, "pgbench", 0.9));
            }
            all.push((Client::Floor, "the floor", 1.1));
            all
        }
        Work::Range => vec![sysbench(0.75)],
        Work::Update => vec![sysbench(0.85)],
        Work::Insert => vec![sysbench(0.30)],
    }
}

#[derive(Debug, Default)]
struct Side {
    micros: Spread,
    rates: Spread,
}

fn compare(server: &Server, work: Work, table: &mut Table<10>) -> Result<()> {
    let job = Job { task: Task::Work(work), clients: 1, seconds: SECONDS };
    let others = others(work, server.place.dialect);
    let mut ours = Side::default();
    let mut theirs: Vec<Side> = others.iter().map(|_| Side::default()).collect();
    for repeat in 1..=REPEATS {
        note(&format!("{}, {}: {repeat} of {REPEATS}", server.name, work.name()));
        let run = |client: Client, side: &mut Side| -> Result<()> {
            let spent = client.run(job, &server.place, Some(server.cpu))?;
            side.micros.add(spent.micros());
            side.rates.add(spent.operations as f64 / f64::from(SECONDS));
            Ok(())
        };
        run(Client::Backslide, &mut ours)?;
        for ((client, ..), side) in others.iter().zip(&mut theirs) {
            run(*client, side)?;
        }
        if work == Work::Insert {
            // The table does not grow from repeat to repeat.
            let sql = format!("DELETE FROM sbtest1 WHERE id > {ROWS}");
            server.target().patient.connect()?.execute(&sql)?;
        }
    }
    for ((_, word, goal), side) in others.iter().zip(&theirs) {
        let ratio = ours.micros.over(&side.micros);
        table.row([
            work.name().to_owned(),
            server.name.clone(),
            (*word).to_owned(),
            format!("{:.2}", ours.micros),
            format!("{:.2}", side.micros),
            format!("{ratio:.3}"),
            format!("{goal:.2}"),
            within(ratio.median() <= *goal),
            format!("{:.0}", ours.rates),
            format!("{:.0}", side.rates),
        ]);
    }
    Ok(())
}
