//! Values of the workload that are fine by themselves and do not go together.

use model::{InsertSpec, Pacing, Tables};

use crate::PlanError;
use crate::fields::{Fields, grouped};

/// More rows than this in one table would take weeks to load, and their ids must stay within an
/// integer of 63 bits whatever is added to them.
const MAX_TOTAL_ROWS: u64 = 1_000_000_000_000;

/// One rule: the keys it is about, and the message when the spec breaks it.
type Rule = (&'static [&'static str], fn(&InsertSpec) -> Option<String>);

const RULES: [Rule; 6] = [
    (&["tables", "deletes"], shared_tables_have_no_deletes),
    (&["data_min", "data_max"], data_has_a_range),
    (&["compat", "pacing"], compat_means_bursts),
    (&["rows", "queue"], deletes_find_rows),
    (
        &["secondary_indexes", "queries"],
        range_queries_have_indexes,
    ),
    (
        &["clients", "rows", "i1_rows", "i2_rows", "query_seconds"],
        rows_can_be_counted,
    ),
];

/// Checks every rule; the first that is broken is the error.
pub(crate) fn check(fields: &Fields<'_>, spec: &InsertSpec) -> Result<(), PlanError> {
    RULES
        .iter()
        .find_map(|(keys, broken)| broken(spec).map(|message| (keys, message)))
        .map_or(Ok(()), |(keys, message)| {
            Err(PlanError::Conflict {
                place: fields.place_of(keys),
                message,
            })
        })
}

fn shared_tables_have_no_deletes(spec: &InsertSpec) -> Option<String> {
    (spec.tables == Tables::Shared && spec.deletes).then(|| {
        "`tables = \"shared\"` excludes `deletes`, because clients would delete each other's rows: \
         set `deletes = false` too"
            .to_owned()
    })
}

fn data_has_a_range(spec: &InsertSpec) -> Option<String> {
    let (low, high) = (spec.data_min, spec.data_max);
    (low > high).then(|| format!("`data_min` ({low}) is greater than `data_max` ({high})"))
}

fn compat_means_bursts(spec: &InsertSpec) -> Option<String> {
    (spec.compat && spec.pacing != Pacing::Burst).then(|| {
        "`compat = true` is the original's behaviour, which excludes `pacing = \"even\"`: \
         leave one of them out"
            .to_owned()
    })
}

/// The deleter may be `queue` statements ahead of the inserter; what it deletes must be there.
fn deletes_find_rows(spec: &InsertSpec) -> Option<String> {
    let largest = spec
        .i1_rows_per_commit
        .max(spec.i2_rows_per_commit)
        .max(spec.query_rows_per_commit);
    let ahead = u64::from(spec.queue) * u64::from(largest);
    (spec.deletes && spec.rows <= ahead).then(|| {
        format!(
            "`rows` ({}) must be more than the {ahead} rows that deletes may be ahead of inserts \
             (`queue` = {} statements of up to {largest} rows per commit)",
            spec.rows, spec.queue
        )
    })
}

fn range_queries_have_indexes(spec: &InsertSpec) -> Option<String> {
    let step = spec.steps.iter().find(|step| step.0.starts_with("qr"))?;
    (spec.secondary_indexes < 3).then(|| {
        format!(
            "`secondary_indexes` = {} leaves step `{step}` without an index that it reads: \
             make it 3, or set `queries = [\"point\"]`",
            spec.secondary_indexes
        )
    })
}

fn rows_can_be_counted(spec: &InsertSpec) -> Option<String> {
    let total = total_rows(spec);
    (total > u128::from(MAX_TOTAL_ROWS)).then(|| {
        format!(
            "`clients` × (`rows` + `i1_rows` + `i2_rows` + `rates` × `query_seconds`) is {} rows, \
             more than {}: make one of them smaller",
            grouped(total),
            grouped(MAX_TOTAL_ROWS)
        )
    })
}

fn total_rows(spec: &InsertSpec) -> u128 {
    let rates: u128 = spec.rates.iter().map(|rate| u128::from(*rate)).sum();
    let queries = rates * u128::from(spec.query_seconds) * spec.queries.len() as u128;
    let loads = [spec.rows, spec.i1_rows, spec.i2_rows].map(u128::from);
    u128::from(spec.clients) * (loads.iter().sum::<u128>() + queries)
}
