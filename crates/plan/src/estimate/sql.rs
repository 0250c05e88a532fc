//! What a workload of SQL statements needs.
//!
//! Tests run for a time, so how much they write depends on the server: what is assumed is on the fast side
//! for one that does not wait for its disk.

use model::{
    Bytes, ColumnKind, Costs, Nanos, SqlColumn, SqlRun, SqlSpec, SqlStep, SqlTable, SqlWork,
    System, Verb,
};

use super::system::logs;
use super::{AROUND_STEP, at_rate, attempts, settling, sum, total};
use crate::sql::statements;

/// Statements per second that write, all clients together.
const WRITE_RATE: u64 = 10_000;
/// What a statement that writes adds to WAL or a binary log besides the row before and after it, page images
/// among it.
const LOGGED: u64 = 300;

pub(super) fn instance(spec: &SqlSpec, system: &System, loads: bool) -> Bytes {
    let runs = || runs(spec).filter(|_| !loads);
    let cost = &system.build.dbms.product().costs;
    let longest = spec.tables.iter().map(|t| row(t, cost)).max().unwrap_or(0);
    let writes = |run: &&SqlRun| run.writes;
    let written = total(runs().filter(writes).map(sent));
    let added = total(runs().filter(|run| adds(run)).map(sent));
    let percent = if written > 0 { cost.written_percent } else { 100 };
    let tables = of_rows(spec, |table| row(table, cost)).saturating_mul(percent) / 100;
    let logged = written.saturating_mul(2 * longest + LOGGED);
    Bytes(sum([
        cost.empty_mib << 20,
        tables,
        added.saturating_mul(longest),
        logs(system, logged, sum([logged, tables])),
    ]))
}

pub(super) fn rows_and_entries(spec: &SqlSpec) -> u64 {
    of_rows(spec, |table| table.indexes.len() as u64 + 1)
}

/// Nanoseconds of a step with what is around it.
pub(super) fn step(spec: &SqlSpec, step: &SqlStep, cost: &Costs) -> u64 {
    let time = match &step.work {
        SqlWork::Load => load(spec, cost),
        SqlWork::Index => index(spec, cost),
        SqlWork::Settle(settle) => settling(*settle, of_rows(spec, |_| 1)),
        SqlWork::Reset => sum([load(spec, cost), index(spec, cost)]),
        SqlWork::Run(run) => seconds(run),
    };
    sum([time, AROUND_STEP.0])
}

fn load(spec: &SqlSpec, cost: &Costs) -> u64 {
    at_rate(of_rows(spec, |table| total(table.columns.iter().map(width))), cost.load_rate())
}

fn index(spec: &SqlSpec, cost: &Costs) -> u64 {
    at_rate(of_rows(spec, |table| table.indexes.len() as u64), cost.lx_rate)
}

fn seconds(run: &SqlRun) -> u64 {
    Nanos::from_secs(attempts(&run.pace) + u64::from(run.seconds) + u64::from(run.warmup_seconds)).0
}

fn runs(spec: &SqlSpec) -> impl Iterator<Item = &SqlRun> {
    spec.steps.iter().filter_map(|step| step.work.run())
}

/// Statements that a test sends, if it writes.
fn sent(run: &SqlRun) -> u64 {
    (u64::from(run.seconds) + u64::from(run.warmup_seconds)).saturating_mul(WRITE_RATE)
}

/// Does it add rows and remove none?
fn adds(run: &SqlRun) -> bool {
    let has = |verb| statements(run).any(|(_, statement)| statement.verb == verb);
    has(Verb::Insert) && !has(Verb::Delete)
}

fn of_rows(spec: &SqlSpec, each: impl Fn(&SqlTable) -> u64) -> u64 {
    let tables = spec.tables.iter();
    let rows = |table: &SqlTable| table.rows.saturating_mul(u64::from(table.copies));
    total(tables.map(|table| rows(table).saturating_mul(each(table))))
}

/// Bytes of a row with the entries of its indexes.
fn row(table: &SqlTable, cost: &Costs) -> u64 {
    let of_columns = |names: &[String]| {
        let columns = table.columns.iter();
        total(columns.filter(|c| names.contains(&c.name)).map(width))
    };
    let key = of_columns(&table.primary_key);
    let entries = table.indexes.iter();
    let entries = entries.map(|index| of_columns(&index.columns) + key + cost.entry_overhead);
    total(table.columns.iter().map(width)) + cost.row_overhead + total(entries)
}

/// Bytes of a column, on average.
fn width(column: &SqlColumn) -> u64 {
    match column.kind {
        ColumnKind::Int => 4,
        ColumnKind::Bigint | ColumnKind::Datetime => 8,
        ColumnKind::Char(length) => u64::from(length),
        // Two digits a byte.
        ColumnKind::Decimal(digits, _) => u64::from(digits / 2 + 2),
        ColumnKind::Varchar(_) | ColumnKind::Text => {
            let text = column.value.text_bytes();
            let mean = text.map_or(0, |(shortest, longest)| u32::midpoint(shortest, longest));
            u64::from(mean) + 2
        }
    }
}
