//! The `workload` table of a plan, and the `[defaults]` of a workload file: the same keys, but for names.

use model::{Distribution, LoadMethod, LoadSpec, Settle, SqlPace, SqlSpec, Statements, WarmUpEnd};

use super::distribution::distribution;
use super::pace::{self, MAX_RATE, QUEUE_KEYS, Queue, RAMP, Ramp};
use super::rules::{self, ERRORS};
use crate::document::{Node, Value};
use crate::fields::{Fields, Item, Mention};
use crate::insert::{SETTLE, settle};
use crate::keys::{self, NEEDED};
use crate::{Place, Result};

pub(crate) const MAX_SECONDS: u32 = 604_800;
pub(crate) const MAX_CLIENTS: u32 = 10_000;
/// More rows than any disk holds, and small enough that no sum of them overflows.
pub(crate) const MAX_ROWS: u64 = 100_000_000_000;
pub(crate) const MAX_COPIES: u32 = 10_000;
/// Each makes a step of every test.
const MAX_SWEEP: usize = 50;
/// Before the name of a set, where a test could stand.
pub(crate) const SET: &str = "set:";
/// Seconds of a warm-up that ends with its time.
const WARMUP_SECONDS: u32 = 5;
/// The most seconds of one that ends when the rate is steady.
const STEADY_SECONDS: u32 = 60;
/// The same for a test that writes, unless the plan says more: noisy rates are seldom called steady.
const STEADY_WRITE_SECONDS: u32 = 30;

/// What a plan may say of a workload of SQL statements, with the usual values where it says nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// Which tests run: names, `group:NAME`, `set:NAME`; `None` for all.
    pub(crate) tests: Option<Vec<Mention>>,
    /// The variable `tables`, where the workload has it.
    pub(crate) tables: Option<u32>,
    /// The variable `rows`, where the workload has it.
    pub(crate) rows: Option<u64>,
    pub(crate) rows_place: Option<Place>,
    /// Clients; every test runs with each of these.
    pub(crate) clients: Vec<u32>,
    pub(crate) read_seconds: u32,
    pub(crate) write_seconds: u32,
    pub(crate) scan_seconds: u32,
    /// Tests, groups and sets with a measured time of their own; of several that mean one test the last counts.
    pub(crate) seconds: Vec<(Mention, u32)>,
    pub(crate) warmup_seconds: u32,
    /// `None` for the usual ends: a time for tests that read, a steady rate for tests that write.
    pub(crate) warmup_end: Option<WarmUpEnd>,
    pub(crate) settle: Settle,
    pub(crate) fresh: bool,
    pub(crate) warm_ups: bool,
    /// Has each table an index in place of its primary key?
    pub(crate) secondary: bool,
    pub(crate) distribution: Distribution,
    pub(crate) rate: Option<u64>,
    pub(crate) ramp: Option<Ramp>,
    pub(crate) open: Queue,
    /// What follows without the workload file.
    pub(crate) spec: SqlSpec,
}

type Key = keys::Key<Options>;

pub(crate) static KEYS: [Key; 26] = [
    Key::later("kind", "`\"micro\"`, `\"sql\"`")
        .says(NEEDED, "the microbenchmarks, or a workload file"),
    Key::later("file", "text")
        .says("needed by `sql`", "a workload file: a path with a slash or `.toml`, or one of the catalog"),
    Key::other("set", "text", |o, v| {
        v.text().map(|name| o.tests = Some(vec![v.named(&format!("{SET}{name}"))]))
    })
    .says("the file's, otherwise all", "a set of the file; excludes `tests`"),
    Key::other("tests", "a list of texts", |o, v| tests(v).map(|it| o.tests = Some(it)))
        .says("`set`", "tests, `\"group:point\"`, `\"set:27\"`; none of them twice. The order is the file's"),
    Key::small("tables", 1..=MAX_COPIES, |o, n| o.tables = Some(n))
        .says("the file's", "copies of the table, where the file depends on it"),
    Key::other("rows", "1 to 100,000,000,000", |o, v| {
        o.rows = Some(v.count(1..=MAX_ROWS)?);
        o.rows_place = Some(v.place());
        Ok(())
    })
    .says("the file's", "rows of a table, where the file depends on it"),
    Key::other("clients", "1 to 10,000, or a list of up to 50", |o, v| clients(v).map(|it| o.clients = it))
        .says("1", "a list is a sweep: every test with each number before the next test, called `test@8`"),
    Key::small("read_seconds", 1..=MAX_SECONDS, |o, n| o.read_seconds = n)
        .says(OWN_OR_60, "measured time of a test that reads; micro: 60"),
    Key::small("write_seconds", 1..=MAX_SECONDS, |o, n| o.write_seconds = n)
        .says(OWN_OR_60, "measured time of a test that writes; micro: 90"),
    Key::small("scan_seconds", 1..=MAX_SECONDS, |o, n| o.scan_seconds = n).says(
        OWN_OR_60,
        "measured time of a test that scans; micro: 60, for the scans that warm caches; the test `scan` takes \
         `read_seconds`",
    ),
    Key::other("seconds", "`{ test = 20 }`, 1 to 604,800 each", |o, v| seconds(v).map(|it| o.seconds = it)).says(
        "none",
        "tests with a measured time of their own: `{ \"point-query.pre\" = 20, \"group:range\" = 5 }`; of several that \
         mean one test the last counts",
    ),
    // Before its seconds, of which it decides how many are usual.
    Key::words("warmup", "end of a warm-up", &[
        ("fixed", |o| o.warm_up_to(WarmUpEnd::Fixed)),
        ("steady", |o| o.warm_up_to(WarmUpEnd::Steady)),
    ])
    .says("tests that read: `\"fixed\"`; tests that write: `\"steady\"`", "what ends the warm-up before a test, \
           which is not recorded: its time, or a steady rate ([Warm-up](methodology.md#warm-up))"),
    Key::small("warmup_seconds", 0..=MAX_SECONDS, |o, n| o.warmup_seconds = n).says(
        "5; `\"steady\"`: 60",
        "its time; 0 for no warm-up; with `\"steady\"` the maximum, at least 13. Without `warmup`, tests that write \
         take up to 30 s, or `warmup_seconds` if that is longer",
    ),
    Key::other("settle", SETTLE, |o, v| settle(v).map(|it| o.settle = it)).says(
        "\"formula\"",
        "seconds of a settle phase; the formula is min(1200, 60 + rows of all tables / 1,000,000)",
    ),
    Key::switch("fresh", |o, on| o.fresh = on)
        .says("false", "before each test that writes, except the first, loads the tables again and settles"),
    Key::switch("warm_ups", |o, on| o.warm_ups = on)
        .says("true", "runs the steps that only warm caches"),
    Key::switch("compat", |o, on| o.spec.compat = on).says("false", "the original's behaviour, see below"),
    Key::switch("secondary", |o, on| o.secondary = on)
        .says("false", "an index in place of each primary key (pk0)"),
    Key::other("statements", STATEMENTS, |o, v| statements(v).map(|it| o.spec.statements = it))
        .says("\"prepared\"", "how statements are sent"),
    Key::other("distribution", "[a distribution](#distributions)", |o, v| {
        distribution(v).map(|it| o.distribution = it)
    })
    .says("\"uniform\"", "of every `int` of a statement without a `by`"),
    Key::count("rate", 1..=MAX_RATE, |o, n| (o.rate, o.ramp) = (Some(n), None)).says(
        "none",
        "operations per second of all clients together that arrive whether clients are free or not; excludes `ramp`",
    ),
    Key::other("ramp", RAMP, |o, v| {
        (o.ramp, o.rate) = (Some(pace::ramp(v)?), None);
        Ok(())
    })
    .says("none", "`{ from = 1000, p99 = \"10ms\" }`: looks for the highest rate at which a percentile of response \
           time keeps its limit"),
    Key::other("errors", ERRORS, |o, v| rules::read(v, &mut o.spec.errors))
        .says("the usual codes", "how clients handle errors, by code"),
    Key::other("load", LOAD, |o, v| load(v, &mut o.spec.load)).says(LOAD_DEFAULT, "how rows are loaded"),
    Key::small("statement_timeout", 1..=MAX_SECONDS, |o, n| o.spec.statement_timeout = n)
        .says("600", "seconds after which a statement counts as hung"),
    // Their names are the file's: they are looked at with it.
    Key::other("vars", "`{ name = 10 }`", |_, v| v.table("a table such as { name = 10 }").map(drop))
        .says("the file's", "other values for `[vars]`"),
];

const OWN_OR_60: &str = "the file's, otherwise 60";
pub(crate) const STATEMENTS: &str = "`\"prepared\"`, `\"text\"`";

type LoadKey = keys::Key<LoadSpec>;

pub(crate) static LOAD_KEYS: [LoadKey; 4] = [
    LoadKey::small("clients", 1..=1_000, |l, n| l.clients = n)
        .says("one for each CPU, at most 8", "clients that load at the same time"),
    LoadKey::words(
        "method",
        "way to load",
        &[
            ("fastest", |l| l.method = LoadMethod::Fastest),
            ("bulk", |l| l.method = LoadMethod::Bulk),
            ("insert", |l| l.method = LoadMethod::Insert),
        ],
    )
    .says("\"fastest\"", "the fastest way of the Dbms, its bulk load, or INSERT statements"),
    LoadKey::small("rows_per_commit", 1..=10_000_000, |l, n| l.rows_per_commit = n)
        .says("10_000", "rows of a transaction"),
    LoadKey::switch("indexes_first", |l, on| l.indexes_first = on)
        .says("false", "builds secondary indexes before the rows are there"),
];

pub(crate) const LOAD: &str = "a table with keys of [`load`](workload-files.md#load)";
pub(crate) const LOAD_DEFAULT: &str = "the fastest way";

impl Options {
    /// What is usual, with so many clients for the load.
    pub(crate) fn usual(load_clients: u32) -> Self {
        Self {
            tests: None,
            tables: None,
            rows: None,
            rows_place: None,
            clients: vec![1],
            read_seconds: 60,
            write_seconds: 60,
            scan_seconds: 60,
            seconds: Vec::new(),
            warmup_seconds: WARMUP_SECONDS,
            warmup_end: None,
            settle: Settle::Formula,
            fresh: false,
            warm_ups: true,
            secondary: false,
            distribution: Distribution::Uniform,
            rate: None,
            ramp: None,
            open: Queue::default(),
            spec: SqlSpec {
                load: LoadSpec::usual(load_clients),
                ..SqlSpec::usual("", Vec::new(), Vec::new())
            },
        }
    }

    pub(crate) fn apply(&mut self, fields: &Fields<'_>) -> Result<()> {
        fields.only_one(&["rate", "ramp"])?;
        fields.only_one(&["set", "tests"])?;
        keys::apply(&KEYS, fields, self)?;
        keys::apply(&QUEUE_KEYS, fields, &mut self.open)?;
        self.check_warmup(fields)?;
        pace::check(fields, self.rate.is_some() || self.ramp.is_some())
    }

    /// Another end of the warm-up brings its usual seconds along.
    fn warm_up_to(&mut self, end: WarmUpEnd) {
        let before = self.warmup_end.replace(end);
        if before.unwrap_or(WarmUpEnd::Fixed) != end {
            self.warmup_seconds = match end {
                WarmUpEnd::Fixed => WARMUP_SECONDS,
                WarmUpEnd::Steady => STEADY_SECONDS,
            };
        }
    }

    /// An error where no rate could be called steady in time.
    fn check_warmup(&self, fields: &Fields<'_>) -> Result<()> {
        let (seconds, least) = (self.warmup_seconds, WarmUpEnd::LEAST_SECONDS);
        if let Some(item) = fields.get("warmup_seconds")
            && self.warmup_end == Some(WarmUpEnd::Steady)
            && seconds < least
        {
            return Err(item.conflict(format!(
                "`warmup_seconds` ({seconds}) is the most that `warmup = \"steady\"` may take: it takes \
                 {least} seconds at least to see that a rate is steady"
            )));
        }
        Ok(())
    }

    /// What ends the warm-up of a measured test, and its seconds; no seconds, no warm-up. Writes begin with transients
    /// that outlast a few seconds: pages to split, purge and flushing that have yet to start.
    pub(crate) fn warm_up(&self, writes: bool) -> (WarmUpEnd, u32) {
        match self.warmup_end {
            None if writes && self.warmup_seconds > 0 => {
                let at_most = self.warmup_seconds.max(STEADY_WRITE_SECONDS);
                (WarmUpEnd::Steady, at_most)
            }
            end => (end.unwrap_or(WarmUpEnd::Fixed), self.warmup_seconds),
        }
    }

    pub(crate) fn pace(&self) -> SqlPace {
        pace::pace(self.rate, self.ramp.as_ref(), self.open)
    }

    pub(crate) fn most_clients(&self) -> u32 {
        self.clients.iter().copied().max().unwrap_or(1)
    }
}

fn names() -> Vec<&'static str> {
    [keys::names(&KEYS), keys::names(&QUEUE_KEYS)].concat()
}

/// The `workload` table of a plan.
pub(crate) fn plan_fields(table: &Node) -> Result<Fields<'_>> {
    Fields::new(table, "workload", &names())
}

/// The `[defaults]` of a workload file.
pub(crate) fn default_fields(item: Item<'_>) -> Result<Fields<'_>> {
    let mut names = names();
    // A file's own variables stand in `[vars]`, and its steps have `seconds` of their own.
    names.retain(|name| !["kind", "file", "vars", "seconds"].contains(name));
    Fields::new(item.node, "defaults", &names)
}

fn tests(item: Item<'_>) -> Result<Vec<Mention>> {
    let mut tests: Vec<Mention> = Vec::new();
    for test in item.list()? {
        let name = test.text()?;
        if tests.iter().any(|one| one.name == name) {
            return Err(test.conflict(format!("`tests` has `{name}` twice")));
        }
        tests.push(test.named(name));
    }
    Ok(tests)
}

fn seconds(item: Item<'_>) -> Result<Vec<(Mention, u32)>> {
    let each = Fields::named(item)?.all();
    each.map(|one| Ok((one.named(one.key), one.small(1..=MAX_SECONDS)?))).collect()
}

/// A number of clients, or several: then every test runs with each.
fn clients(item: Item<'_>) -> Result<Vec<u32>> {
    if !matches!(item.node.value, Value::List(_)) {
        return Ok(vec![item.small(1..=MAX_CLIENTS)?]);
    }
    let list = item.list()?;
    if list.len() > MAX_SWEEP {
        return Err(item.wrong(&format!("a number or a list of at most {MAX_SWEEP} numbers")));
    }
    let mut numbers = Vec::new();
    for one in list {
        let number = one.small(1..=MAX_CLIENTS)?;
        if numbers.contains(&number) {
            return Err(one.conflict(format!("`clients` has {number} twice")));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

pub(crate) fn statements(item: Item<'_>) -> Result<Statements> {
    let words = [("prepared", Statements::Prepared), ("text", Statements::Text)];
    item.word("kind of statements", &words)
}

/// Takes over what a table such as `{ clients = 4, method = "bulk" }` says of the load.
pub(crate) fn load(item: Item<'_>, load: &mut LoadSpec) -> Result<()> {
    keys::read(&LOAD_KEYS, item.node, "load", load).map(drop)
}
