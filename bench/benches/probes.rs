//! The cost of watching: everything that the thread does which cuts intervals, reads all probes and
//! writes the store, once a second, beside a server with 200 connections.

use anyhow::Result;
use bench::{Scratch, Spread, Table, heading, note, servers, thread_cpu, within};
use model::{Event, Nanos};

/// Share of one core, in per cent.
const GOAL: f64 = 1.0;
/// Intervals before the first one that counts: the first ones fault memory in.
const WARM_UP: u32 = 2;

const MEASURES: &str = "50 clients with an inserter, a deleter, a scout and a query session each: 200 \
     connections, the queries as fast as they go, for 30 s. CPU time of the thread that collects what \
     the clients recorded, reads every probe and writes the interval with its histograms into the \
     store, from one interval to the next. Goal: under 1 % of one core at one interval a second.";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    heading("Probes and recording", MEASURES)?;
    let mut table = Table::new([
        "server",
        "intervals",
        "ms of CPU an interval, median [min–max]",
        "share of one core, mean",
        "under 1 %",
        "operations/s beside it",
    ]);
    for server in servers() {
        measure(&server, &mut table)?;
    }
    table.print("");
    Ok(())
}

fn plan(server: &str) -> String {
    format!(
        r#"
        name = "probes"
        rounds = 1
        quarantine = false
        [workload]
        kind = "insert"
        scale = "tiny"
        clients = 50
        rows = 2_000
        rates = [100]
        queries = ["point"]
        query_seconds = 30
        secondary_indexes = 0
        steps = ["l.i0", "qp100"]
        [[system]]
        build = "{server}"
        config = "quick"
        set = {{ max_connections = 300 }}
        "#
    )
}

fn measure(server: &str, table: &mut Table<6>) -> Result<()> {
    let mut costs = Spread::default();
    let mut sum = Nanos(0);
    let mut last = None;
    let mut paced = false;
    let mut operations = 0.0;
    Scratch::new()?.carry_out(&plan(server), &mut |event| match event {
        Event::StepStarted { step } => {
            note(&format!("{server}: {}", step.id));
            paced = step.id.0 == "qp100";
        }
        Event::IntervalClosed { interval } if paced && interval.length == Nanos::SECOND => {
            let now = thread_cpu();
            if let Some(last) = last.replace(now).filter(|_| interval.index > WARM_UP) {
                costs.add((now - last).as_secs_f64() * 1e3);
                sum += now - last;
            }
        }
        Event::StepFinished { record } if paced => {
            let ops: u64 = record.kinds.iter().map(|kind| kind.sums.ops).sum();
            operations = ops as f64 / record.window.as_secs_f64();
        }
        _ => {}
    })?;
    let share = sum.as_secs_f64() / costs.count() as f64 * 100.0;
    table.row([
        server.to_owned(),
        costs.count().to_string(),
        format!("{costs:.2}"),
        format!("{share:.2} %"),
        within(share < GOAL),
        format!("{operations:.0}"),
    ]);
    Ok(())
}
