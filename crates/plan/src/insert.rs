//! The `workload` table of the Insert Benchmark: every parameter, its range and its default.

use model::{InsertScale, InsertSpec, Pacing, QueryKind, Settle, Statements, StepId, Tables};

use crate::PlanError;
use crate::catalog::Catalog;
use crate::document::Node;
use crate::fields::{Fields, Item};
use crate::{insert_check, insert_steps};

const CONTEXT: &str = "workload";
const SCALES: [(&str, InsertScale); 4] = [
    ("tiny", InsertScale::Tiny),
    ("small", InsertScale::Small),
    ("medium", InsertScale::Medium),
    ("seeds", InsertScale::Seeds),
];
const STATEMENTS: [(&str, Statements); 3] = [
    ("text", Statements::Text),
    ("prepared", Statements::Prepared),
    ("usual", Statements::Usual),
];

/// More rows than any disk holds, and small enough that no sum of them overflows.
const MAX_ROWS: u64 = 100_000_000_000;
/// Six parameters a row, and SQLite takes at most 32,766 of them in a statement.
const MAX_ROWS_PER_COMMIT: u32 = 5_000;
/// Each makes a pair of steps, which is a column of every table of the report.
const MAX_RATES: usize = 50;
/// A week.
const MAX_SECONDS: u32 = 604_800;

/// A key of the table, and how its value changes the spec.
type Key = (
    &'static str,
    fn(&mut InsertSpec, Item<'_>) -> Result<(), PlanError>,
);

/// All keys. They apply in this order, so that a key that stands for several others comes first
/// and the others can still be set apart from it.
const KEYS: [Key; 32] = [
    ("clients", |s, v| {
        v.small(1..=10_000).map(|it| s.clients = it)
    }),
    ("tables", |s, v| {
        let words = [("own", Tables::Own), ("shared", Tables::Shared)];
        v.word("kind of tables", &words).map(|it| s.tables = it)
    }),
    ("rows", |s, v| v.count(1..=MAX_ROWS).map(|it| s.rows = it)),
    ("i1_rows", |s, v| {
        v.count(1..=MAX_ROWS).map(|it| s.i1_rows = it)
    }),
    ("i2_rows", |s, v| {
        v.count(1..=MAX_ROWS).map(|it| s.i2_rows = it)
    }),
    ("i0_rows_per_commit", |s, v| {
        v.small(1..=MAX_ROWS_PER_COMMIT)
            .map(|it| s.i0_rows_per_commit = it)
    }),
    ("i1_rows_per_commit", |s, v| {
        v.small(1..=MAX_ROWS_PER_COMMIT)
            .map(|it| s.i1_rows_per_commit = it)
    }),
    ("i2_rows_per_commit", |s, v| {
        v.small(1..=MAX_ROWS_PER_COMMIT)
            .map(|it| s.i2_rows_per_commit = it)
    }),
    ("query_rows_per_commit", |s, v| {
        v.small(1..=MAX_ROWS_PER_COMMIT)
            .map(|it| s.query_rows_per_commit = it)
    }),
    ("rates", |s, v| {
        let rates = v.list()?;
        if rates.len() > MAX_RATES {
            return Err(v.wrong(&format!("a list of at most {MAX_RATES} rates")));
        }
        let rates = rates.iter().map(|r| r.small(1..=10_000_000));
        rates.collect::<Result<_, _>>().map(|it| s.rates = it)
    }),
    ("queries", |s, v| {
        let words = [("range", QueryKind::Range), ("point", QueryKind::Point)];
        let queries = v.list()?;
        let queries = queries.iter().map(|q| q.word("kind of query", &words));
        queries.collect::<Result<_, _>>().map(|it| s.queries = it)
    }),
    ("query_seconds", |s, v| {
        v.small(1..=MAX_SECONDS).map(|it| s.query_seconds = it)
    }),
    ("query_sessions", |s, v| {
        v.small(1..=1_000).map(|it| s.query_sessions = it)
    }),
    ("rows_per_query", |s, v| {
        v.small(1..=10_000).map(|it| s.rows_per_query = it)
    }),
    ("max_refresh", |s, v| {
        v.small(1..=1_000_000_000).map(|it| s.max_refresh = it)
    }),
    ("secondary_indexes", |s, v| {
        v.small(0..=3).map(|it| s.secondary_indexes = it)
    }),
    ("deletes", |s, v| v.switch().map(|it| s.deletes = it)),
    ("queue", |s, v| v.small(1..=100_000).map(|it| s.queue = it)),
    ("min_resync", |s, v| {
        v.small(0..=1_000_000_000).map(|it| s.min_resync = it)
    }),
    ("data_min", |s, v| {
        v.small(1..=4_000).map(|it| s.data_min = it)
    }),
    ("data_max", |s, v| {
        v.small(1..=4_000).map(|it| s.data_max = it)
    }),
    ("data_random_percent", |s, v| {
        v.small(0..=100).map(|it| s.data_random_percent = it)
    }),
    ("statements", |s, v| {
        s.writes = v.word("kind of statements", &STATEMENTS)?;
        s.reads = s.writes;
        Ok(())
    }),
    ("writes", |s, v| {
        v.word("kind of statements", &STATEMENTS)
            .map(|it| s.writes = it)
    }),
    ("reads", |s, v| {
        v.word("kind of statements", &STATEMENTS)
            .map(|it| s.reads = it)
    }),
    ("compat", |s, v| {
        s.compat = v.switch()?;
        if s.compat {
            s.pacing = Pacing::Burst;
        }
        Ok(())
    }),
    ("pacing", |s, v| {
        let words = [("even", Pacing::Even), ("burst", Pacing::Burst)];
        v.word("pacing", &words).map(|it| s.pacing = it)
    }),
    ("settle", |s, v| settle(v).map(|it| s.settle = it)),
    ("htap_seconds", |s, v| {
        v.small(0..=MAX_SECONDS).map(|it| s.htap_seconds = it)
    }),
    ("partitions", |s, v| {
        v.small(0..=8_000).map(|it| s.partitions = it)
    }),
    ("sequence_cache", |s, v| {
        v.small(1..=1_000_000_000).map(|it| s.sequence_cache = it)
    }),
    ("sla_percent", |s, v| {
        v.small(1..=100).map(|it| s.sla_percent = it)
    }),
];

/// Keys of a plan's workload that a scale does not have: they name it, or need the others first.
const PLAN_KEYS: [&str; 4] = ["kind", "scale", "statement_timeout", "steps"];

/// `"formula"`, or a number of seconds.
pub(crate) fn settle(value: Item<'_>) -> Result<Settle, PlanError> {
    match value.text() {
        Ok("formula") => Ok(Settle::Formula),
        _ => value
            .small(0..=MAX_SECONDS)
            .map(Settle::Seconds)
            .map_err(|_| value.wrong("\"formula\", or a whole number of seconds up to a week")),
    }
}

/// The benchmark as its specification defines it; the sizes are what a scale replaces.
fn defaults() -> InsertSpec {
    InsertSpec {
        scale: InsertScale::Tiny,
        clients: 1,
        tables: Tables::Own,
        rows: 0,
        i1_rows: 0,
        i2_rows: 0,
        i0_rows_per_commit: 100,
        i1_rows_per_commit: 50,
        i2_rows_per_commit: 5,
        query_rows_per_commit: 50,
        rates: vec![100, 500, 1000],
        queries: vec![QueryKind::Range, QueryKind::Point],
        query_seconds: 0,
        query_sessions: 1,
        rows_per_query: 10,
        max_refresh: 100,
        secondary_indexes: 3,
        deletes: true,
        queue: 8,
        min_resync: 1000,
        data_min: 10,
        data_max: 20,
        data_random_percent: 50,
        writes: Statements::Usual,
        reads: Statements::Usual,
        pacing: Pacing::Even,
        settle: Settle::Formula,
        htap_seconds: 0,
        partitions: 0,
        sequence_cache: 1000,
        sla_percent: 95,
        statement_timeout: 600,
        compat: false,
        steps: Vec::new(),
    }
}

fn plan_fields(table: &Node) -> Result<Fields<'_>, PlanError> {
    let keys = KEYS.iter().map(|(key, _)| *key);
    Fields::new(table, CONTEXT, &keys.chain(PLAN_KEYS).collect::<Vec<_>>())
}

/// Applies every key of [`KEYS`] that the table has.
fn apply(fields: &Fields<'_>, spec: &mut InsertSpec) -> Result<(), PlanError> {
    KEYS.iter()
        .try_for_each(|(key, set)| match fields.get(key) {
            Some(value) => set(spec, value),
            None => Ok(()),
        })
}

/// Applies what only a plan has.
fn apply_plan(fields: &Fields<'_>, spec: &mut InsertSpec) -> Result<(), PlanError> {
    apply(fields, spec)?;
    if let Some(seconds) = fields.get("statement_timeout") {
        spec.statement_timeout = seconds.small(1..=MAX_SECONDS)?;
    }
    if let Some(steps) = fields.get("steps") {
        spec.steps = steps
            .list()?
            .iter()
            .map(|step| step.text().map(StepId::new))
            .collect::<Result<_, _>>()?;
    }
    Ok(())
}

fn scale(fields: &Fields<'_>) -> Result<InsertScale, PlanError> {
    fields.need("scale")?.word("scale", &SCALES)
}

/// Checks keys, types and ranges of a plan's workload, everything that needs no catalog.
pub(crate) fn check_table(table: &Node) -> Result<(), PlanError> {
    let fields = plan_fields(table)?;
    scale(&fields)?;
    apply_plan(&fields, &mut defaults())
}

/// Checks the table of one scale in the catalog.
pub(crate) fn check_scale(table: &Node) -> Result<(), PlanError> {
    apply(&scale_fields(table)?, &mut defaults())
}

fn scale_fields(table: &Node) -> Result<Fields<'_>, PlanError> {
    let keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    let fields = Fields::new(table, "scale", &keys)?;
    for key in ["rows", "i1_rows", "i2_rows", "query_seconds"] {
        fields.need(key)?;
    }
    Ok(fields)
}

/// The names that a plan may give as `scale`.
pub(crate) fn scale_names() -> [&'static str; 4] {
    SCALES.map(|(name, _)| name)
}

/// The whole spec: the benchmark's defaults, then the scale's, then the plan's own values.
pub(crate) fn resolve(table: &Node, catalog: &Catalog) -> Result<InsertSpec, PlanError> {
    let fields = plan_fields(table)?;
    let mut spec = defaults();
    spec.scale = scale(&fields)?;
    let name = SCALES.iter().find(|(_, scale)| *scale == spec.scale);
    if let Some(sizes) = name.and_then(|(name, _)| catalog.scale(name)) {
        apply(&scale_fields(sizes)?, &mut spec)?;
    }
    apply_plan(&fields, &mut spec)?;
    insert_steps::resolve(&fields, &mut spec)?;
    insert_check::check(&fields, &spec)?;
    Ok(spec)
}
