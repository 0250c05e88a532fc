//! The `workload` table of a plan, and the `[defaults]` of a workload file: the same keys, but for names.

use model::{
    Distribution, ErrorRules, LoadSpec, Settle, SqlPace, SqlSpec, Statements, WarmUpEnd, from_word,
    set_word,
};

use super::draw::distribution;
use super::pace::{self, MAX_RATE, QUEUE_KEYS, Queue, Ramp};
use super::scan::is_word;
use crate::document::{Node, Value};
use crate::fields::{Fields, Item, Mention};
use crate::insert::settle;
use crate::keys::Takes::{Count, Later, Other, Small, Switch, Word};
use crate::keys::{self, Key};
use crate::{Place, Result};

pub(crate) const MAX_SECONDS: u32 = model::LuaSpec::MOST_SECONDS;
pub(crate) const MAX_CLIENTS: u32 = 10_000;
/// More rows than any disk holds, and small enough that no sum of them overflows.
pub(crate) const MAX_ROWS: u64 = 100_000_000_000;
pub(crate) const MAX_COPIES: u32 = 10_000;
/// Each makes a step of every test.
const MAX_SWEEP: usize = 50;
/// Codes are short in every Dbms: `1213`, `40P01`, `SQLITE_BUSY_SNAPSHOT`.
const MAX_CODE: usize = 40;
/// Before the name of a set, where a test could stand.
pub(crate) const SET: &str = "set:";
/// Seconds of a window.
const USUAL_SECONDS: u32 = 60;
/// Tests that write with shorter windows do not wait for a steady rate, which takes longer than this to see.
const LEAST_STEADY_SECONDS: u32 = 10;
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

pub(crate) static KEYS: &[Key<Options>] = &[
    Key("kind", Later),
    Key("file", Later),
    Key("set", Other(|o, v| set(v).map(|it| o.tests = Some(vec![it])))),
    Key("tests", Other(|o, v| tests(v).map(|it| o.tests = Some(it)))),
    Key("tables", Small(1..=MAX_COPIES, |o, n| o.tables = Some(n))),
    Key("rows", Other(rows)),
    Key("clients", Other(|o, v| clients(v).map(|it| o.clients = it))),
    Key("read_seconds", Small(1..=MAX_SECONDS, |o, n| o.read_seconds = n)),
    Key("write_seconds", Small(1..=MAX_SECONDS, |o, n| o.write_seconds = n)),
    Key("scan_seconds", Small(1..=MAX_SECONDS, |o, n| o.scan_seconds = n)),
    Key("seconds", Other(|o, v| seconds(v).map(|it| o.seconds = it))),
    // Before its seconds, of which it decides how many are usual.
    Key("warmup", Word("end of a warm-up", |o, w| from_word(w).map(|end| o.warm_up_to(end)))),
    Key("warmup_seconds", Small(0..=MAX_SECONDS, |o, n| o.warmup_seconds = n)),
    Key("settle", Other(|o, v| settle(v).map(|it| o.settle = it))),
    Key("fresh", Switch(|o, on| o.fresh = on)),
    Key("warm_ups", Switch(|o, on| o.warm_ups = on)),
    Key("compat", Switch(|o, on| o.spec.compat = on)),
    Key("secondary", Switch(|o, on| o.secondary = on)),
    Key("statements", Other(|o, v| statements(v).map(|it| o.spec.statements = it))),
    Key("distribution", Other(|o, v| distribution(v).map(|it| o.distribution = it))),
    Key("rate", Count(1..=MAX_RATE, |o, n| (o.rate, o.ramp) = (Some(n), None))),
    Key("ramp", Other(|o, v| pace::ramp(v).map(|it| (o.ramp, o.rate) = (Some(it), None)))),
    Key("errors", Other(|o, v| errors(v, &mut o.spec.errors))),
    Key("load", Other(|o, v| load(v, &mut o.spec.load))),
    Key("statement_timeout", Small(1..=MAX_SECONDS, |o, n| o.spec.statement_timeout = n)),
    // Their names are the file's: they are looked at with it.
    Key("vars", Other(|_, v| v.table("a table such as { name = 10 }").map(drop))),
];

pub(crate) static LOAD_KEYS: &[Key<LoadSpec>] = &[
    Key("clients", Small(1..=1_000, |l, n| l.clients = n)),
    Key("method", Word("way to load", |l, w| set_word(&mut l.method, w))),
    Key("rows_per_commit", Small(1..=10_000_000, |l, n| l.rows_per_commit = n)),
    Key("indexes_first", Switch(|l, on| l.indexes_first = on)),
];

pub(crate) static ERROR_KEYS: &[Key<ErrorRules>] = &[
    Key("ignore", Other(|r, v| v.each(code).map(|it| r.ignore = it))),
    Key("retry", Other(|r, v| v.each(code).map(|it| r.retry = it))),
    Key("fatal", Other(|r, v| v.each(code).map(|it| r.fatal = it))),
    Key("tries", Small(1..=1_000_000, |r, n| r.tries = n)),
    Key("reconnect_seconds", Small(0..=86_400, |r, n| r.reconnect_seconds = n)),
];

impl Options {
    pub(crate) fn usual(load_clients: u32) -> Self {
        Self {
            tests: None,
            tables: None,
            rows: None,
            rows_place: None,
            clients: vec![1],
            read_seconds: USUAL_SECONDS,
            write_seconds: USUAL_SECONDS,
            scan_seconds: USUAL_SECONDS,
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
        keys::apply(KEYS, fields, self)?;
        keys::apply(QUEUE_KEYS, fields, &mut self.open)?;
        self.follow_windows(fields);
        self.check_warmup(fields)?;
        pace::check(fields, self.rate.is_some() || self.ramp.is_some())
    }

    /// Whoever asks for short windows does not want to wait for long phases between them: those that the table does not
    /// name are no longer than the longest window that it names.
    fn follow_windows(&mut self, fields: &Fields<'_>) {
        let says = |key: &str| fields.get(key).is_some();
        let windows = [("read_seconds", self.read_seconds), ("write_seconds", self.write_seconds)];
        let named = windows.into_iter().filter(|(key, _)| says(key)).map(|(_, seconds)| seconds);
        let Some(longest) = named.max() else { return };
        if !says("scan_seconds") {
            self.scan_seconds = self.scan_seconds.min(longest);
        }
        if !says("warmup_seconds") && self.warmup_end != Some(WarmUpEnd::Steady) {
            self.warmup_seconds = self.warmup_seconds.min(longest);
        }
        if !says("settle") {
            self.settle = match self.settle {
                Settle::Seconds(seconds) => Settle::Seconds(seconds.min(longest)),
                Settle::Formula if longest < USUAL_SECONDS => Settle::Seconds(longest),
                Settle::Formula => Settle::Formula,
            };
        }
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
            None if writes
                && self.warmup_seconds > 0
                && self.write_seconds >= LEAST_STEADY_SECONDS =>
            {
                let at_most = self.warmup_seconds.max(STEADY_WRITE_SECONDS);
                (WarmUpEnd::Steady, at_most)
            }
            end => (end.unwrap_or(WarmUpEnd::Fixed), self.warmup_seconds),
        }
    }

    pub(crate) fn pace(&self) -> SqlPace {
        let Queue { arrivals, queue } = self.open;
        match (self.rate, &self.ramp) {
            (_, Some(ramp)) => ramp.pace(self.open),
            (Some(per_second), None) => SqlPace::Rate { per_second, arrivals, queue },
            (None, None) => SqlPace::Unlimited,
        }
    }

    pub(crate) fn most_clients(&self) -> u32 {
        self.clients.iter().copied().max().unwrap_or(1)
    }
}

pub(crate) fn names() -> Vec<&'static str> {
    [keys::names(KEYS), keys::names(QUEUE_KEYS)].concat()
}

pub(crate) fn plan_fields(table: &Node) -> Result<Fields<'_>> {
    Fields::new(table, "workload", &names())
}

pub(crate) fn default_fields(item: Item<'_>) -> Result<Fields<'_>> {
    let mut names = names();
    // A file's own variables stand in `[vars]`, and its steps have `seconds` of their own.
    names.retain(|name| !["kind", "file", "vars", "seconds"].contains(name));
    Fields::new(item.node, "defaults", &names)
}

fn set(item: Item<'_>) -> Result<Mention> {
    Ok(item.named(&format!("{SET}{}", item.text()?)))
}

fn rows(options: &mut Options, item: Item<'_>) -> Result<()> {
    options.rows = Some(item.count(1..=MAX_ROWS)?);
    options.rows_place = Some(item.place());
    Ok(())
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
    item.table(
        "a table of tests such as { scan = 10 } (for all tests: read_seconds, write_seconds, scan_seconds)",
    )?;
    let each = Fields::named(item)?.all();
    each.map(|one| Ok((one.named(one.key), one.small(1..=MAX_SECONDS)?))).collect()
}

/// A number of clients, or several: then every test runs with each.
pub(crate) fn clients(item: Item<'_>) -> Result<Vec<u32>> {
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
    keys::read(LOAD_KEYS, item.node, "load", load).map(drop)
}

/// Takes over what a table such as `{ ignore = ["1062"], reconnect_seconds = 60 }` says of errors.
pub(crate) fn errors(item: Item<'_>, rules: &mut ErrorRules) -> Result<()> {
    let fields = keys::read(ERROR_KEYS, item.node, "errors", rules)?;
    let mut seen: Vec<String> = Vec::new();
    for list in ["ignore", "retry", "fatal"].iter().filter_map(|key| fields.get(key)) {
        for item in list.list()? {
            let code = code(item)?;
            if seen.contains(&code) {
                return Err(item.conflict(format!("`errors` has the code `{code}` twice")));
            }
            seen.push(code);
        }
    }
    Ok(())
}

fn code(item: Item<'_>) -> Result<String> {
    let expected = "a list of codes in quotes such as \"1213\", \"40P01\" or \"08*\"";
    let text = item.text().map_err(|_| item.wrong(expected))?;
    // A star at the end stands for any rest.
    let begin = text.strip_suffix('*').unwrap_or(text);
    if text.len() > MAX_CODE || !begin.chars().all(is_word) {
        return Err(item.wrong(expected));
    }
    Ok(text.to_owned())
}
