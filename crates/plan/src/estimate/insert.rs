//! What the Insert Benchmark needs.

use model::{Bytes, Costs, InsertSpec, InsertStage, Nanos, System, Transactions};

use super::system::logs;
use super::{at_rate, settling, sum, total};

/// Characters of `data` in the rows that were measured.
const MEASURED_DATA: u64 = 15;
/// Row of the binary log, 98 bytes measured, once for an insert and once for a delete.
const BINLOG_ROW: u64 = 110;
/// WAL of an inserted or deleted row with its index entries, 282 bytes measured, and page images.
const WAL_ROW: u64 = 600;

pub(super) fn instance(spec: &InsertSpec, system: &System, loads: bool) -> Bytes {
    let mut stages = InsertStage::named(spec);
    stages.retain(|stage| !loads || !stage.is_query());
    let cost = &system.build.dbms.product().costs;
    let clients = u64::from(spec.clients);
    let rows_of = |with_deletes| {
        let stages = stages.iter().filter(|stage| stage.has_deletes() == with_deletes);
        total(stages.map(|stage| stage.rows(spec))).saturating_mul(clients)
    };
    let (loaded, later) = (rows_of(false), rows_of(true));
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
    Bytes(sum([cost.empty_mib << 20, tables, logs(system, binlog, wal)]))
}

/// Nanoseconds of a step. Clients share the rates, because a small machine has no cores for more.
pub(super) fn step(spec: &InsertSpec, stage: &InsertStage, cost: &Costs) -> u64 {
    let rows = |per_client: u64| per_client.saturating_mul(u64::from(spec.clients));
    match stage {
        InsertStage::Load => at_rate(rows(spec.rows), cost.i0_rate),
        InsertStage::Index => at_rate(rows(spec.rows), cost.lx_rate),
        InsertStage::Random { size, rows: each, .. } => {
            let is_large = *size == Transactions::Large;
            at_rate(rows(*each), if is_large { cost.i1_rate } else { cost.i2_rate })
        }
        InsertStage::Query { .. } => Nanos::from_secs(u64::from(spec.query_seconds)).0,
        InsertStage::Settle => settling(spec.settle, rows(spec.rows)),
        InsertStage::Warm => 0,
    }
}

pub(super) fn rows(spec: &InsertSpec) -> u64 {
    spec.rows.saturating_mul(u64::from(spec.clients))
}
