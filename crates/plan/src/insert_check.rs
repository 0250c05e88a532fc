//! Values of the workload that are fine by themselves and do not go together, and its steps: their names, their order,
//! and what each needs before it.

use model::{Build, InsertSpec, InsertStage, Pacing, QueryKind, StepId, Tables};

use crate::Result;
use crate::error::grouped;
use crate::fields::{Fields, Item};

/// More rows than this in one table would take weeks to load, and their ids must stay within an
/// integer of 63 bits whatever is added to them.
const MAX_TOTAL_ROWS: u64 = 1_000_000_000_000;

pub(crate) fn check(fields: &Fields<'_>, spec: &InsertSpec) -> Result<()> {
    let broken = |keys: &[&str], message: String| Err(fields.place_of(keys).conflict(message));
    if spec.tables == Tables::Shared && spec.deletes {
        let message = "`tables = \"shared\"` excludes `deletes`, because clients would delete each other's rows: \
                       set `deletes = false` too";
        return broken(&["tables", "deletes"], message.to_owned());
    }
    let (low, high) = (spec.data_min, spec.data_max);
    if low > high {
        let message = format!("`data_min` ({low}) is greater than `data_max` ({high})");
        return broken(&["data_min", "data_max"], message);
    }
    if spec.compat && spec.pacing != Pacing::Burst {
        let message = "`compat = true` is the original's behaviour, which excludes `pacing = \"even\"`: \
                       leave one of them out";
        return broken(&["compat", "pacing"], message.to_owned());
    }
    // The deleter may be `queue` statements ahead of the inserter; what it deletes must be there.
    let InsertSpec { rows, queue, .. } = spec;
    let largest =
        spec.i1_rows_per_commit.max(spec.i2_rows_per_commit).max(spec.query_rows_per_commit);
    let ahead = u64::from(*queue) * u64::from(largest);
    if spec.deletes && *rows <= ahead {
        let message = format!(
            "`rows` ({rows}) must be more than the {ahead} rows that deletes may be ahead of inserts \
             (`queue` = {queue} statements of up to {largest} rows per commit)"
        );
        return broken(&["rows", "queue"], message);
    }
    let is_range =
        |stage: &InsertStage| matches!(stage, InsertStage::Query { kind: QueryKind::Range, .. });
    let range = InsertStage::named(spec).into_iter().find(is_range);
    if let (Some(step), indexes @ ..3) = (range, spec.secondary_indexes) {
        let message = format!(
            "`secondary_indexes` = {indexes} leaves step `{}` without an index that it reads: \
             make it 3, or set `queries = [\"point\"]`",
            step.id()
        );
        return broken(&["secondary_indexes", "queries"], message);
    }
    let total = total_rows(spec);
    if total > u128::from(MAX_TOTAL_ROWS) {
        let message = format!(
            "`clients` × (`rows` + `i1_rows` + `i2_rows` + `rates` × `query_seconds`) is {} rows, \
             more than {}: make one of them smaller",
            grouped(total),
            grouped(MAX_TOTAL_ROWS)
        );
        return broken(&["clients", "rows", "i1_rows", "i2_rows", "query_seconds"], message);
    }
    Ok(())
}

fn total_rows(spec: &InsertSpec) -> u128 {
    let rates: u128 = spec.rates.iter().map(|rate| u128::from(*rate)).sum();
    let queries = rates * u128::from(spec.query_seconds) * spec.queries.len() as u128;
    let loads = [spec.rows, spec.i1_rows, spec.i2_rows].map(u128::from);
    u128::from(spec.clients) * (loads.iter().sum::<u128>() + queries)
}

/// What is wrong where tables have so many partitions of this kind and the build has none.
pub(crate) fn no_partitions(partitions: u32, kind: &str, build: &Build) -> Option<String> {
    let can = &build.dbms.product().features.partitions;
    (partitions > 0 && !can.holds(&build.version)).then(|| {
        format!(
            "`partitions` = {partitions} and `build`: {} has no {kind} partitions; leave one of them out",
            build.id()
        )
    })
}

/// Fills in `steps` where the plan gives none; otherwise checks those that it gives.
pub(crate) fn steps(fields: &Fields<'_>, spec: &mut InsertSpec) -> Result<()> {
    let all: Vec<StepId> = InsertStage::all(spec).iter().map(InsertStage::id).collect();
    let twice = all.iter().zip(1..).find(|(step, next)| all[*next..].contains(step));
    if let Some((twice, _)) = twice {
        return Err(fields.place_of(&["rates", "queries"]).conflict(format!(
            "step `{twice}` would be there twice: `rates` and `queries` must not repeat a value"
        )));
    }
    match fields.get("steps") {
        None => spec.steps = all,
        Some(item) => check_steps(item, spec, &all)?,
    }
    Ok(())
}

fn check_steps(item: Item<'_>, spec: &InsertSpec, all: &[StepId]) -> Result<()> {
    let names = || all.iter().map(|step| step.0.clone());
    for step in &spec.steps {
        if !all.contains(step) {
            return Err(item.unknown("step", &step.0, names()));
        }
    }
    let ordered: Vec<&StepId> = all.iter().filter(|s| spec.steps.contains(s)).collect();
    if !spec.steps.iter().eq(ordered) {
        let order: Vec<String> = names().collect();
        return Err(item.conflict(format!(
            "`steps` must name each step once and keep their order: {}",
            order.join(" ")
        )));
    }
    let stages = InsertStage::named(spec);
    let missing = stages.iter().find_map(|stage| missing_before(stage, &stages, spec));
    item.node.place.refuse(missing)
}

/// What the step needs and the plan leaves out. The order has been checked, so that being in the
/// list means being before it.
fn missing_before(
    stage: &InsertStage,
    stages: &[InsertStage],
    spec: &InsertSpec,
) -> Option<String> {
    let (step, load, index) = (stage.id(), InsertStage::Load, InsertStage::Index);
    if !stages.contains(&load) {
        return Some(format!(
            "step `{step}` needs `{}` in `steps`: it makes and fills the tables",
            load.id()
        ));
    }
    let needs_indexes = *stage != load && *stage != index && spec.secondary_indexes > 0;
    (needs_indexes && !stages.contains(&index)).then(|| {
        format!(
            "step `{step}` needs `{}` in `steps`, which makes the indexes; \
             or set `secondary_indexes = 0`",
            index.id()
        )
    })
}
