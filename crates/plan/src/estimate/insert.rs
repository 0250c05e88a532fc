//! What the Insert Benchmark needs.

use model::{Bytes, InsertSpec, Nanos, Settle, StepId, System};

use super::costs::{Costs, costs, logs};
use super::{Loading, at_rate, sum, total};
use crate::template::is_query;

/// Characters of `data` in the rows that were measured.
const MEASURED_DATA: u64 = 15;
/// Row of the binary log, 98 bytes measured, once for an insert and once for a delete.
const BINLOG_ROW: u64 = 110;
/// WAL of an inserted or deleted row with its index entries, 282 bytes measured, and page images.
const WAL_ROW: u64 = 600;

/// The template of a system: an instance that has done all steps before the queries.
pub(super) fn loading(spec: &InsertSpec, system: &System) -> Loading {
    let mut load = spec.clone();
    load.steps.retain(|step| !is_query(&step.0));
    Loading {
        system: system.name.clone(),
        disk: instance(&load, system),
        // The settle phase comes before the queries and is part of the template.
        time: Nanos(sum([
            trial(&load, &costs(system.build.dbms)).0,
            settle(spec),
        ])),
    }
}

/// Rows that a trial on a clone reads first, and nanoseconds of its steps.
pub(super) fn on_clone(spec: &InsertSpec) -> (u64, u64) {
    let queries = spec.steps.iter().filter(|step| is_query(&step.0)).count() as u64;
    let rows = spec.rows.saturating_mul(u64::from(spec.clients));
    // By the table and by each index.
    let read = rows.saturating_mul(u64::from(spec.secondary_indexes) + 1);
    let seconds = queries.saturating_mul(u64::from(spec.query_seconds));
    (read, Nanos::from_secs(seconds).0)
}

/// Rows that a client inserts in a step.
fn rows(spec: &InsertSpec, step: &StepId) -> u64 {
    match step.0.as_str() {
        "l.i0" => spec.rows,
        "l.x" => u64::from(spec.i0_rows_per_commit),
        "l.i1" => spec.i1_rows,
        "l.i2" => spec.i2_rows,
        query => rate(query).saturating_mul(u64::from(spec.query_seconds)),
    }
}

/// The background rate in the name of a query step: 500 of `qr500`.
fn rate(step: &str) -> u64 {
    let digits = step.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().unwrap_or(0)
}

/// Bytes of one instance at its largest.
pub(super) fn instance(spec: &InsertSpec, system: &System) -> Bytes {
    let cost = costs(system.build.dbms);
    let clients = u64::from(spec.clients);
    let of_steps = |wanted: fn(&str) -> bool| {
        let steps = spec.steps.iter().filter(|step| wanted(&step.0));
        total(steps.map(|step| rows(spec, step))).saturating_mul(clients)
    };
    let loaded = of_steps(|step| matches!(step, "l.i0" | "l.x"));
    let later = of_steps(|step| !matches!(step, "l.i0" | "l.x"));
    // With deletes the tables keep their size; a row that is deleted is logged once more.
    let (in_tables, logged) = if spec.deletes {
        (loaded, loaded.saturating_add(later.saturating_mul(2)))
    } else {
        (loaded.saturating_add(later), loaded.saturating_add(later))
    };
    let data = u64::from(spec.data_min + spec.data_max) / 2;
    let extra = data.saturating_sub(MEASURED_DATA);
    let tables = in_tables.saturating_mul((cost.row + extra) * cost.growth_percent / 100);
    let binlog = logged.saturating_mul(BINLOG_ROW + extra);
    let wal = logged.saturating_mul(WAL_ROW + extra);
    Bytes(sum([
        cost.empty_mib << 20,
        tables,
        logs(system, binlog, wal),
    ]))
}

/// Time of one trial.
pub(super) fn trial(spec: &InsertSpec, cost: &Costs) -> Nanos {
    let measured = total(spec.steps.iter().map(|s| step(spec, s, cost)));
    Nanos(sum([measured, settle(spec), cost.around.0]))
}

/// Nanoseconds of a step. Clients share the rates, because a small machine has no cores for more.
pub(super) fn step(spec: &InsertSpec, step: &StepId, cost: &Costs) -> u64 {
    let rows = |per_client: u64| per_client.saturating_mul(u64::from(spec.clients));
    match step.0.as_str() {
        "l.i0" => at_rate(rows(spec.rows), cost.i0_rate),
        "l.x" => at_rate(rows(spec.rows), cost.lx_rate),
        "l.i1" => at_rate(rows(spec.i1_rows), cost.i1_rate),
        "l.i2" => at_rate(rows(spec.i2_rows), cost.i2_rate),
        _ => Nanos::from_secs(u64::from(spec.query_seconds)).0,
    }
}

/// The pause before the queries: the benchmark's formula, or what the plan says.
fn settle(spec: &InsertSpec) -> u64 {
    let has_queries = spec.steps.iter().any(|step| step.0.starts_with('q'));
    match spec.settle {
        _ if !has_queries => 0,
        Settle::Seconds(seconds) => Nanos::from_secs(u64::from(seconds)).0,
        Settle::Formula => {
            let loaded = spec.rows.saturating_mul(u64::from(spec.clients));
            Nanos::from_secs((60 + loaded / 1_000_000).min(1200)).0
        }
    }
}
