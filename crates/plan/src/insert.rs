//! The `workload` table of the Insert Benchmark.

use model::{InsertScale, InsertSpec, Pacing, QueryKind, Settle, Statements, StepId, Tables};

use crate::Result;
use crate::document::Node;
use crate::fields::{Fields, Item};
use crate::insert_check;
use crate::keys::{self, NEEDED};

const CONTEXT: &str = "workload";
const SCALES: [(&str, InsertScale); 4] = [
    ("tiny", InsertScale::Tiny),
    ("small", InsertScale::Small),
    ("medium", InsertScale::Medium),
    ("seeds", InsertScale::Seeds),
];

/// More rows than any disk holds, and small enough that no sum of them overflows.
const MAX_ROWS: u64 = 100_000_000_000;
/// Six parameters a row, and SQLite takes at most 32,766 of them in a statement.
const MAX_ROWS_PER_COMMIT: u32 = 5_000;
/// Each makes a pair of steps, which is a column of every table of the report.
const MAX_RATES: usize = 50;
const MAX_SECONDS: u32 = 604_800;
const BY_SCALE: &str = "by the scale";

type Key = keys::Key<InsertSpec>;

pub(crate) static KEYS: [Key; 36] = [
    Key::later("kind", "`\"insert\"`").says("\"insert\"", "the Insert Benchmark"),
    Key::later("scale", "`\"tiny\"`, `\"small\"`, `\"medium\"`, `\"seeds\"`")
        .says(NEEDED, "sets the five values of the table above"),
    Key::small("clients", 1..=10_000, |s, n| s.clients = n)
        .says("1", "clients; each has an inserter, a deleter and query sessions"),
    Key::words("tables", "kind of tables", &[
        ("own", |s| s.tables = Tables::Own),
        ("shared", |s| s.tables = Tables::Shared),
    ])
    .says("\"own\"", "a table a client, or one for all, without deletes"),
    Key::count("rows", 1..=MAX_ROWS, |s, n| s.rows = n)
        .says(BY_SCALE, "rows that a client inserts in `l.i0`"),
    Key::count("i1_rows", 1..=MAX_ROWS, |s, n| s.i1_rows = n).says(BY_SCALE, "the same in `l.i1`"),
    Key::count("i2_rows", 1..=MAX_ROWS, |s, n| s.i2_rows = n).says(BY_SCALE, "the same in `l.i2`"),
    Key::small("i0_rows_per_commit", 1..=MAX_ROWS_PER_COMMIT, |s, n| s.i0_rows_per_commit = n)
        .says("100", "rows of a statement (one transaction) in `l.i0` and `l.x`"),
    Key::small("i1_rows_per_commit", 1..=MAX_ROWS_PER_COMMIT, |s, n| s.i1_rows_per_commit = n)
        .says("50", "the same in `l.i1`"),
    Key::small("i2_rows_per_commit", 1..=MAX_ROWS_PER_COMMIT, |s, n| s.i2_rows_per_commit = n)
        .says("5", "the same in `l.i2`"),
    Key::small("query_rows_per_commit", 1..=MAX_ROWS_PER_COMMIT, |s, n| s.query_rows_per_commit = n)
        .says("50", "the same in the query steps; lowered to the rate where that is less"),
    Key::other("rates", "1 to 50 values of 1 to 10,000,000", |s, v| {
        let rates = v.each(|rate| rate.small(1..=10_000_000))?;
        if rates.len() > MAX_RATES {
            return Err(v.wrong(&format!("a list of at most {MAX_RATES} rates")));
        }
        s.rates = rates;
        Ok(())
    })
    .says("[100, 500, 1000]", "background rows per second and client; query steps for each, none twice"),
    Key::other("queries", "a list of `\"range\"` (`qr…`), `\"point\"` (`qp…`)", |s, v| {
        let words = [("range", QueryKind::Range), ("point", QueryKind::Point)];
        v.each(|query| query.word("kind of query", &words)).map(|it| s.queries = it)
    })
    .says("[\"range\", \"point\"]", "the query steps of each rate, in order"),
    Key::small("query_seconds", 1..=MAX_SECONDS, |s, n| s.query_seconds = n)
        .says(BY_SCALE, "nominal length of a query step: the writers insert this × rate rows"),
    Key::small("query_sessions", 1..=1_000, |s, n| s.query_sessions = n)
        .says("1", "query sessions a client"),
    Key::small("rows_per_query", 1..=10_000, |s, n| s.rows_per_query = n)
        .says("10", "LIMIT of range queries, keys of point queries"),
    Key::small("max_refresh", 1..=1_000_000_000, |s, n| s.max_refresh = n)
        .says("100", "point queries between two reads of MAX(pk)"),
    Key::small("secondary_indexes", 0..=3, |s, n| s.secondary_indexes = n)
        .says("3", "indexes that `l.x` builds; range queries need all 3"),
    Key::switch("deletes", |s, on| s.deletes = on)
        .says("true", "pairs each insert with a delete of as many rows (from `l.i1` on)"),
    Key::small("queue", 1..=100_000, |s, n| s.queue = n)
        .says("8", "statements that inserter and deleter may be ahead of each other"),
    Key::small("min_resync", 0..=1_000_000_000, |s, n| s.min_resync = n)
        .says("1_000", "deletes between two reads of MIN(pk); 0 for the first only"),
    Key::small("data_min", 1..=4_000, |s, n| s.data_min = n)
        .says("10", "fewest characters of `data`"),
    Key::small("data_max", 1..=4_000, |s, n| s.data_max = n).says("20", "most characters of `data`"),
    Key::small("data_random_percent", 0..=100, |s, n| s.data_random_percent = n)
        .says("50", "share of `data` that is random, before base64"),
    Key::other("statements", STATEMENTS, |s, v| {
        statements(v).map(|it| (s.writes, s.reads) = (it, it))
    })
    .says("\"usual\"", "sets `writes` and `reads`"),
    Key::other("writes", STATEMENTS, |s, v| statements(v).map(|it| s.writes = it))
    .says("\"usual\"", "inserts and deletes; usual: text"),
    Key::other("reads", STATEMENTS, |s, v| statements(v).map(|it| s.reads = it))
    .says("\"usual\"", "queries; usual: prepared on PostgreSQL and SQLite, otherwise text. With `compat`, \
           usual queries on PostgreSQL send `PREPARE` and `execute` as text"),
    Key::switch("compat", |s, on| {
        s.compat = on;
        if on {
            s.pacing = Pacing::Burst;
        }
    })
    .says("false", "the original's behaviour; see [compat](insert-benchmark.md#compat)"),
    Key::words("pacing", "pacing", &[
        ("even", |s| s.pacing = Pacing::Even),
        ("burst", |s| s.pacing = Pacing::Burst),
    ])
    .says("\"even\"", "how background rows arrive within a second; `\"burst\"` with `compat`"),
    Key::other("settle", SETTLE, |s, v| settle(v).map(|it| s.settle = it))
        .says(BY_SCALE, "least seconds of the settle phase; the formula is min(1200, 60 + loaded rows / 10^6)"),
    Key::small("htap_seconds", 0..=MAX_SECONDS, |s, n| s.htap_seconds = n)
        .says("0", "each client repeatedly holds a transaction open this long during the steps; 0 for none"),
    Key::small("partitions", 0..=8_000, |s, n| s.partitions = n)
        .says("0", "range partitions of each table; 0 for none. PostgreSQL from 11 on; not SQLite"),
    Key::small("sequence_cache", 1..=1_000_000_000, |s, n| s.sequence_cache = n)
        .says("1_000", "values that a PostgreSQL session takes from the sequence at once"),
    Key::small("sla_percent", 1..=100, |s, n| s.sla_percent = n)
        .says("95", "share of the background rate that meets the SLA"),
    Key::small("statement_timeout", 1..=MAX_SECONDS, |s, n| s.statement_timeout = n)
        .says("600", "seconds after which a statement counts as hung; index builds and settling get 24 times as long"),
    Key::other("steps", "names of steps", |s, v| {
        v.each(|step| step.text().map(StepId::new)).map(|it| s.steps = it)
    })
    .says("all", "the steps to run, in their order; `l.i0` is always needed, and `l.x` by those after it"),
];

const STATEMENTS: &str = "`\"text\"`, `\"prepared\"`, `\"usual\"`";

fn statements(item: Item<'_>) -> Result<Statements> {
    let words = [
        ("text", Statements::Text),
        ("prepared", Statements::Prepared),
        ("usual", Statements::Usual),
    ];
    item.word("kind of statements", &words)
}

/// Keys that a scale does not have: they name it, or are not a matter of size.
const NOT_OF_SCALES: [&str; 4] = ["kind", "scale", "statement_timeout", "steps"];

pub(crate) const SETTLE: &str = "`\"formula\"`, or 0 to 604,800 seconds";

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
    fields.need("scale")?.word("scale", &SCALES)
}

/// Checks keys, types and ranges of a plan's workload, everything that needs no catalog.
pub(crate) fn check_table(table: &Node) -> Result<()> {
    let fields = plan_fields(table)?;
    scale(&fields)?;
    keys::apply(&KEYS, &fields, &mut InsertSpec::usual())
}

fn plan_fields(table: &Node) -> Result<Fields<'_>> {
    Fields::new(table, CONTEXT, &keys::names(&KEYS))
}

/// Takes over what the catalog says of one scale.
pub(crate) fn apply_scale(table: &Node, spec: &mut InsertSpec) -> Result<()> {
    let mut names = keys::names(&KEYS);
    names.retain(|name| !NOT_OF_SCALES.contains(name));
    let fields = Fields::new(table, "scale", &names)?;
    for key in ["rows", "i1_rows", "i2_rows", "query_seconds"] {
        fields.need(key)?;
    }
    keys::apply(&KEYS, &fields, spec)
}

/// The names that a plan may give as `scale`.
pub(crate) fn scale_names() -> [&'static str; 4] {
    SCALES.map(|(name, _)| name)
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
    keys::apply(&KEYS, &fields, &mut spec)?;
    insert_check::steps(&fields, &mut spec)?;
    insert_check::check(&fields, &spec)?;
    Ok(spec)
}
