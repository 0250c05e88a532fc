//! The `workload` table of the Insert Benchmark; its steps: their names, their order, and what each needs before it.

use model::{
    Build, InsertScale, InsertSpec, InsertStage, Pacing, QueryKind, Settle, StepId, Tables, Words,
    from_word, set_word,
};

use crate::Result;
use crate::document::Node;
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::keys::Takes::{Count, Later, Other, Small, Switch, Word};
use crate::keys::{self, Key};

pub(crate) const SCALES: [&str; 4] = ["tiny", "small", "medium", "seeds"];

/// More rows than any disk holds, and small enough that no sum of them overflows.
const MAX_ROWS: u64 = 100_000_000_000;
/// Six parameters a row, and SQLite takes at most 32,766 of them in a statement.
const MAX_PER_COMMIT: u32 = 5_000;
/// Each makes a pair of steps, which is a column of every table of the report.
const MAX_RATES: usize = 50;
const MAX_SECONDS: u32 = 604_800;
/// More rows in one table would take weeks to load, and sums with their ids must stay within 63 bits.
const MAX_TOTAL_ROWS: u64 = 1_000_000_000_000;

pub(crate) static KEYS: &[Key<InsertSpec>] = &[
    Key("kind", Later),
    Key("scale", Later),
    Key("clients", Small(1..=10_000, |s, n| s.clients = n)),
    Key("tables", Word("kind of tables", |s, w| set_word(&mut s.tables, w))),
    Key("rows", Count(1..=MAX_ROWS, |s, n| s.rows = n)),
    Key("i1_rows", Count(1..=MAX_ROWS, |s, n| s.i1_rows = n)),
    Key("i2_rows", Count(1..=MAX_ROWS, |s, n| s.i2_rows = n)),
    Key("i0_rows_per_commit", Small(1..=MAX_PER_COMMIT, |s, n| s.i0_rows_per_commit = n)),
    Key("i1_rows_per_commit", Small(1..=MAX_PER_COMMIT, |s, n| s.i1_rows_per_commit = n)),
    Key("i2_rows_per_commit", Small(1..=MAX_PER_COMMIT, |s, n| s.i2_rows_per_commit = n)),
    Key("query_rows_per_commit", Small(1..=MAX_PER_COMMIT, |s, n| s.query_rows_per_commit = n)),
    Key("rates", Other(|s, v| rates(v).map(|it| s.rates = it))),
    Key("queries", Other(|s, v| v.each(query).map(|it| s.queries = it))),
    Key("query_seconds", Small(1..=MAX_SECONDS, |s, n| s.query_seconds = n)),
    Key("query_sessions", Small(1..=1_000, |s, n| s.query_sessions = n)),
    Key("rows_per_query", Small(1..=10_000, |s, n| s.rows_per_query = n)),
    Key("max_refresh", Small(1..=1_000_000_000, |s, n| s.max_refresh = n)),
    Key("secondary_indexes", Small(0..=3, |s, n| s.secondary_indexes = n)),
    Key("deletes", Switch(|s, on| s.deletes = on)),
    Key("queue", Small(1..=100_000, |s, n| s.queue = n)),
    Key("min_resync", Small(0..=1_000_000_000, |s, n| s.min_resync = n)),
    Key("data_min", Small(1..=4_000, |s, n| s.data_min = n)),
    Key("data_max", Small(1..=4_000, |s, n| s.data_max = n)),
    Key("data_random_percent", Small(0..=100, |s, n| s.data_random_percent = n)),
    Key("statements", Word("kind of statements", statements)),
    Key("writes", Word("kind of statements", |s, w| set_word(&mut s.writes, w))),
    Key("reads", Word("kind of statements", |s, w| set_word(&mut s.reads, w))),
    Key("compat", Switch(compat)),
    Key("pacing", Word("pacing", |s, w| set_word(&mut s.pacing, w))),
    Key("settle", Other(|s, v| settle(v).map(|it| s.settle = it))),
    Key("htap_seconds", Small(0..=MAX_SECONDS, |s, n| s.htap_seconds = n)),
    Key("partitions", Small(0..=8_000, |s, n| s.partitions = n)),
    Key("sequence_cache", Small(1..=1_000_000_000, |s, n| s.sequence_cache = n)),
    Key("sla_percent", Small(1..=100, |s, n| s.sla_percent = n)),
    Key("statement_timeout", Small(1..=MAX_SECONDS, |s, n| s.statement_timeout = n)),
    Key("steps", Other(|s, v| v.each(step).map(|it| s.steps = it))),
];

fn rates(item: Item<'_>) -> Result<Vec<u32>> {
    let rates = item.each(|rate| rate.small(1..=10_000_000))?;
    if rates.len() > MAX_RATES {
        return Err(item.wrong(&format!("a list of at most {MAX_RATES} rates")));
    }
    Ok(rates)
}

fn query(item: Item<'_>) -> Result<QueryKind> {
    item.variant("kind of query", from_word)
}

fn step(item: Item<'_>) -> Result<StepId> {
    item.text().map(StepId::new)
}

fn statements(spec: &mut InsertSpec, word: &str) -> Result<(), Words> {
    set_word(&mut spec.writes, word)?;
    spec.reads = spec.writes;
    Ok(())
}

fn compat(spec: &mut InsertSpec, on: bool) {
    spec.compat = on;
    if on {
        spec.pacing = Pacing::Burst;
    }
}

/// Keys that a scale does not have: they name it, or are not a matter of size.
const NOT_OF_SCALES: [&str; 4] = ["kind", "scale", "statement_timeout", "steps"];

/// `"formula"`, or a number of seconds.
pub(crate) fn settle(value: Item<'_>) -> Result<Settle> {
    match value.text() {
        Ok("formula") => Ok(Settle::Formula),
        _ => value
            .small(0..=MAX_SECONDS)
            .map(Settle::Seconds)
            .map_err(|_| value.wrong("\"formula\", or a whole number of seconds up to a week")),
    }
}

fn scale(fields: &Fields<'_>) -> Result<InsertScale> {
    fields.need("scale")?.variant("scale", from_word)
}

/// Checks keys, types and ranges of a plan's workload, everything that needs no catalog.
pub(crate) fn check_table(table: &Node) -> Result<()> {
    let fields = plan_fields(table)?;
    scale(&fields)?;
    keys::apply(KEYS, &fields, &mut InsertSpec::usual())
}

fn plan_fields(table: &Node) -> Result<Fields<'_>> {
    Fields::new(table, "workload", &keys::names(KEYS))
}

pub(crate) fn apply_scale(table: &Node, spec: &mut InsertSpec) -> Result<()> {
    let mut names = keys::names(KEYS);
    names.retain(|name| !NOT_OF_SCALES.contains(name));
    let fields = Fields::new(table, "scale", &names)?;
    for key in ["rows", "i1_rows", "i2_rows", "query_seconds"] {
        fields.need(key)?;
    }
    keys::apply(KEYS, &fields, spec)
}

/// The whole spec: the benchmark's defaults, then the scale's, then the plan's own values.
pub(crate) fn resolve<'a>(
    table: &Node,
    sizes_of: impl Fn(&str) -> Option<&'a Node>,
) -> Result<InsertSpec> {
    let fields = plan_fields(table)?;
    let mut spec = InsertSpec::usual();
    spec.scale = scale(&fields)?;
    if let Some(sizes) = sizes_of(fields.text("scale")?) {
        apply_scale(sizes, &mut spec)?;
    }
    keys::apply(KEYS, &fields, &mut spec)?;
    steps(&fields, &mut spec)?;
    check(&fields, &spec)?;
    Ok(spec)
}

/// Checks values that are fine by themselves and do not go together.
fn check(fields: &Fields<'_>, spec: &InsertSpec) -> Result<()> {
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
fn steps(fields: &Fields<'_>, spec: &mut InsertSpec) -> Result<()> {
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

/// What the step needs and the plan leaves out. The order has been checked: in the list means before it.
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
