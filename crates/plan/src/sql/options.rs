//! The `workload` table of a plan, and the `[defaults]` of a workload file: the same keys, but for names.

use model::{
    Arrivals, Distribution, ErrorRules, LoadMethod, LoadSpec, Settle, SqlPace, Statements,
    WarmUpEnd,
};

use super::distribution::distribution;
use super::names::mention;
use super::pace::{self, Ramp};
use super::rules;
use crate::config::Mention;
use crate::document::{Node, Value};
use crate::fields::{Fields, Item};
use crate::insert::settle;
use crate::{Place, PlanError};

/// A week.
pub(crate) const MAX_SECONDS: u32 = 604_800;
pub(crate) const MAX_CLIENTS: u32 = 10_000;
/// More rows than any disk holds, and small enough that no sum of them overflows.
pub(crate) const MAX_ROWS: u64 = 100_000_000_000;
pub(crate) const MAX_COPIES: u32 = 10_000;
/// Each makes a step of every test.
const MAX_SWEEP: usize = 50;
/// Seconds of a warm-up that ends with its time.
const WARMUP_SECONDS: u32 = 5;
/// The most seconds of one that ends when the rate is steady.
const STEADY_SECONDS: u32 = 60;
/// The same for a test that writes, unless the plan says more: noisy rates are seldom called steady.
const STEADY_WRITE_SECONDS: u32 = 30;

/// What a plan may say of a workload of SQL statements, with the usual values where it says nothing.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the table by itself"
)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// Which tests run: names, `group:NAME`, `set:NAME`; `None` for all.
    pub(crate) tests: Option<Vec<Mention>>,
    /// The variable `tables`, where the workload has it.
    pub(crate) tables: Option<u32>,
    /// The variable `rows`, where the workload has it.
    pub(crate) rows: Option<u64>,
    /// Where the plan says how many rows there are.
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
    /// Do tests that write begin with the data of the first?
    pub(crate) fresh: bool,
    /// Do the steps run that only warm caches?
    pub(crate) warm_ups: bool,
    pub(crate) compat: bool,
    /// Has each table an index in place of its primary key?
    pub(crate) secondary: bool,
    pub(crate) statements: Statements,
    pub(crate) distribution: Distribution,
    pub(crate) rate: Option<u64>,
    pub(crate) ramp: Option<Ramp>,
    pub(crate) arrivals: Option<Arrivals>,
    pub(crate) queue: Option<u32>,
    pub(crate) errors: ErrorRules,
    pub(crate) load: LoadSpec,
    pub(crate) statement_timeout: u32,
}

/// A key of the table, and what its value changes.
type Key = (
    &'static str,
    fn(&mut Options, Item<'_>) -> Result<(), PlanError>,
);

const KEYS: [Key; 26] = [
    ("set", |o, v| {
        let name = v.text()?;
        o.tests = Some(vec![mention(&v, &format!("set:{name}"))]);
        Ok(())
    }),
    ("tests", |o, v| tests(v).map(|it| o.tests = Some(it))),
    ("tables", |o, v| {
        v.small(1..=MAX_COPIES).map(|it| o.tables = Some(it))
    }),
    ("rows", |o, v| {
        o.rows = Some(v.count(1..=MAX_ROWS)?);
        o.rows_place = Some(v.place());
        Ok(())
    }),
    ("clients", |o, v| clients(v).map(|it| o.clients = it)),
    ("read_seconds", |o, v| {
        v.small(1..=MAX_SECONDS).map(|it| o.read_seconds = it)
    }),
    ("write_seconds", |o, v| {
        v.small(1..=MAX_SECONDS).map(|it| o.write_seconds = it)
    }),
    ("scan_seconds", |o, v| {
        v.small(1..=MAX_SECONDS).map(|it| o.scan_seconds = it)
    }),
    ("seconds", |o, v| seconds(&v).map(|it| o.seconds = it)),
    // Before its seconds, of which it decides how many are usual.
    ("warmup", |o, v| warmup(v).map(|it| o.warm_up_to(it))),
    ("warmup_seconds", |o, v| {
        v.small(0..=MAX_SECONDS).map(|it| o.warmup_seconds = it)
    }),
    ("settle", |o, v| settle(v).map(|it| o.settle = it)),
    ("fresh", |o, v| v.switch().map(|it| o.fresh = it)),
    ("warm_ups", |o, v| v.switch().map(|it| o.warm_ups = it)),
    ("compat", |o, v| v.switch().map(|it| o.compat = it)),
    ("secondary", |o, v| v.switch().map(|it| o.secondary = it)),
    ("statements", |o, v| {
        statements(v).map(|it| o.statements = it)
    }),
    ("distribution", |o, v| {
        distribution(&v).map(|it| o.distribution = it)
    }),
    ("rate", |o, v| {
        o.rate = Some(pace::rate(v)?);
        o.ramp = None;
        Ok(())
    }),
    ("ramp", |o, v| {
        o.ramp = Some(pace::ramp(v)?);
        o.rate = None;
        Ok(())
    }),
    ("arrivals", |o, v| {
        pace::arrivals(v).map(|it| o.arrivals = Some(it))
    }),
    ("queue", |o, v| pace::queue(v).map(|it| o.queue = Some(it))),
    ("errors", |o, v| rules::read(v, &mut o.errors)),
    ("load", |o, v| load(v, &mut o.load)),
    ("statement_timeout", |o, v| {
        v.small(1..=MAX_SECONDS).map(|it| o.statement_timeout = it)
    }),
    ("vars", |_, v| match v.node.value {
        // Their names are the file's: they are looked at with it.
        Value::Table(_) => Ok(()),
        _ => Err(v.wrong("a table such as { name = 10 }")),
    }),
];

/// Keys of a plan's table that say which workload is meant.
const NAMING: [&str; 2] = ["kind", "file"];

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
            compat: false,
            secondary: false,
            statements: Statements::Prepared,
            distribution: Distribution::Uniform,
            rate: None,
            ramp: None,
            arrivals: None,
            queue: None,
            errors: ErrorRules::usual(),
            load: LoadSpec::usual(load_clients),
            statement_timeout: 600,
        }
    }

    /// Takes over all that the table says.
    pub(crate) fn apply(&mut self, fields: &Fields<'_>) -> Result<(), PlanError> {
        fields.only_one(&["rate", "ramp"])?;
        fields.only_one(&["set", "tests"])?;
        KEYS.iter()
            .try_for_each(|(key, set)| match fields.get(key) {
                Some(value) => set(self, value),
                None => Ok(()),
            })?;
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
    fn check_warmup(&self, fields: &Fields<'_>) -> Result<(), PlanError> {
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

    /// When the operations of a test start.
    pub(crate) fn pace(&self) -> SqlPace {
        pace::pace(self.rate, self.ramp.as_ref(), self.arrivals, self.queue)
    }

    /// The most clients that a test has.
    pub(crate) fn most_clients(&self) -> u32 {
        self.clients.iter().copied().max().unwrap_or(1)
    }
}

/// The `workload` table of a plan.
pub(crate) fn plan_fields(table: &Node) -> Result<Fields<'_>, PlanError> {
    let keys = KEYS.iter().map(|(key, _)| *key);
    Fields::new(table, "workload", &keys.chain(NAMING).collect::<Vec<_>>())
}

/// The `[defaults]` of a workload file.
pub(crate) fn default_fields(item: Item<'_>) -> Result<Fields<'_>, PlanError> {
    let keys = KEYS.iter().map(|(key, _)| *key);
    // A file's own variables stand in `[vars]`, and its steps have `seconds` of their own.
    let keys: Vec<&str> = keys
        .filter(|key| !["vars", "seconds"].contains(key))
        .collect();
    Fields::new(item.node, "defaults", &keys)
}

/// Tests, groups and sets by their names, none of them twice.
fn tests(item: Item<'_>) -> Result<Vec<Mention>, PlanError> {
    let mut tests: Vec<Mention> = Vec::new();
    for test in item.list()? {
        let name = test.text()?;
        if tests.iter().any(|one| one.name == name) {
            return Err(test.conflict(format!("`tests` has `{name}` twice")));
        }
        tests.push(mention(&test, name));
    }
    Ok(tests)
}

/// Tests, groups and sets with their seconds.
fn seconds(item: &Item<'_>) -> Result<Vec<(Mention, u32)>, PlanError> {
    let fields = Fields::named(item, "seconds")?;
    let each = fields.all().map(|one| {
        let seconds = one.small(1..=MAX_SECONDS)?;
        Ok((mention(&one, one.key), seconds))
    });
    each.collect()
}

/// A number of clients, or several: then every test runs with each.
fn clients(item: Item<'_>) -> Result<Vec<u32>, PlanError> {
    let Value::List(_) = item.node.value else {
        return Ok(vec![item.small(1..=MAX_CLIENTS)?]);
    };
    let list = item.list()?;
    if list.len() > MAX_SWEEP {
        return Err(item.wrong(&format!(
            "a number or a list of at most {MAX_SWEEP} numbers"
        )));
    }
    let mut numbers = Vec::with_capacity(list.len());
    for one in list {
        let number = one.small(1..=MAX_CLIENTS)?;
        if numbers.contains(&number) {
            return Err(one.conflict(format!("`clients` has {number} twice")));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// What ends a warm-up.
fn warmup(item: Item<'_>) -> Result<WarmUpEnd, PlanError> {
    let words = [WarmUpEnd::Fixed, WarmUpEnd::Steady].map(|end| (end.word(), end));
    item.word("end of a warm-up", &words)
}

/// Literal text or prepared.
pub(crate) fn statements(item: Item<'_>) -> Result<Statements, PlanError> {
    let words = [
        ("prepared", Statements::Prepared),
        ("text", Statements::Text),
    ];
    item.word("kind of statements", &words)
}

/// Takes over what a table such as `{ clients = 4, method = "bulk" }` says of the load.
pub(crate) fn load(item: Item<'_>, load: &mut LoadSpec) -> Result<(), PlanError> {
    let keys = ["clients", "method", "rows_per_commit", "indexes_first"];
    let fields = Fields::new(item.node, "load", &keys)?;
    if let Some(clients) = fields.get("clients") {
        load.clients = clients.small(1..=1_000)?;
    }
    if let Some(method) = fields.get("method") {
        let words = [
            ("fastest", LoadMethod::Fastest),
            ("bulk", LoadMethod::Bulk),
            ("insert", LoadMethod::Insert),
        ];
        load.method = method.word("way to load", &words)?;
    }
    if let Some(rows) = fields.get("rows_per_commit") {
        load.rows_per_commit = rows.small(1..=10_000_000)?;
    }
    if let Some(first) = fields.get("indexes_first") {
        load.indexes_first = first.switch()?;
    }
    Ok(())
}
