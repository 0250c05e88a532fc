//! Does a paced writer keep its rate? The workload's own inserter, with its deletes and a query
//! session beside it, at the rates of the published runs and at 20,000 rows a second.

use anyhow::{Context, Result};
use bench::{Scratch, Table, heading, note, servers, within};
use model::{Event, Interval, Nanos, StepRecord};

/// Largest deviation from the target, in per cent.
const GOAL: f64 = 0.5;

const MEASURES: &str = "A paced inserter of the Insert Benchmark (statements of 50 rows, deletes in \
     step with it, a query session as fast as it goes beside it), 10 s at each rate. Goal: the rate \
     over the window within 0.5 % of the target. Late: from the intended start of a statement to its \
     sending; the response time counts from the intended start too.";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    heading("Pacing", MEASURES)?;
    let mut table = Table::new([
        "server",
        "target rows/s",
        "achieved rows/s",
        "deviation",
        "within 0.5 %",
        "least and most in a second",
        "late, mean",
        "response p99",
        "queries/s",
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
        name = "pacing"
        rounds = 1
        quarantine = false
        [workload]
        kind = "insert"
        scale = "tiny"
        rates = [100, 500, 1000, 20_000]
        queries = ["point"]
        query_seconds = 10
        secondary_indexes = 0
        steps = ["l.i0", "qp100", "qp500", "qp1000", "qp20000"]
        [[system]]
        build = "{server}"
        config = "quick"
        "#
    )
}

fn measure(server: &str, table: &mut Table<9>) -> Result<()> {
    let mut rows: Vec<u64> = Vec::new();
    let mut insert = None;
    let mut records: Vec<(StepRecord, Vec<u64>)> = Vec::new();
    Scratch::new()?.carry_out(&plan(server), &mut |event| match event {
        Event::StepStarted { step } => {
            note(&format!("{server}: {}", step.id));
            insert = step.kinds.iter().position(|kind| kind.name == "insert");
        }
        Event::IntervalClosed { interval } => rows.extend(rows_of(interval, insert)),
        Event::StepFinished { record } => {
            records.push((StepRecord::clone(record), std::mem::take(&mut rows)));
        }
        _ => {}
    })?;
    for (record, seconds) in records.iter().filter(|(r, _)| r.target_rate.is_some()) {
        add_row(server, record, seconds, table)?;
    }
    Ok(())
}

/// Rows inserted in a whole second; the rest of the window after the last one does not count.
fn rows_of(interval: &Interval, insert: Option<usize>) -> Option<u64> {
    let kind = interval.kinds.get(insert?)?;
    (interval.length == Nanos::SECOND).then_some(kind.rows)
}

fn add_row(server: &str, record: &StepRecord, seconds: &[u64], table: &mut Table<9>) -> Result<()> {
    let target = record.target_rate.context("no target")? as f64;
    let insert = record.kinds.iter().find(|k| k.spec.name == "insert");
    let insert = &insert.context("no inserts")?.sums;
    let query = record.kinds.iter().find(|k| k.spec.name == "query");
    let queries = query.map_or(0, |kind| kind.sums.ops) as f64 / record.window.as_secs_f64();
    let achieved = insert.rows as f64 / record.window.as_secs_f64();
    let deviation = (achieved / target - 1.0) * 100.0;
    let response = insert.response.as_ref().context("no response times")?;
    let mean = |latency: &model::Latency| latency.mean().unwrap_or_default();
    let late_mean = mean(response).saturating_sub(mean(&insert.service));
    let slowest = response.quantile(0.99).unwrap_or_default();
    table.row([
        server.to_owned(),
        format!("{target:.0}"),
        format!("{achieved:.2}"),
        format!("{deviation:+.3} %"),
        within(deviation.abs() <= GOAL),
        format!(
            "{}–{}",
            seconds.iter().min().copied().unwrap_or(0),
            seconds.iter().max().copied().unwrap_or(0)
        ),
        late_mean.to_string(),
        slowest.to_string(),
        format!("{queries:.0}"),
    ]);
    Ok(())
}
