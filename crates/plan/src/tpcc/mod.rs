//! The `workload` table of the TPC-C-like workload: every key, its range, its default, and what it changes.

mod check;

use model::{
    Isolation, LoadSpec, PaymentOrder, StockLevel, TpccCardinality, TpccForm, TpccHomes,
    TpccIndexes, TpccMix, TpccPace, TpccProfile, TpccSpec, TpccTransaction,
};

use crate::Result;
use crate::document::Node;
use crate::fields::{Fields, Item};
use crate::insert::{SETTLE, settle};
use crate::keys::{self, NEEDED};
use crate::sql::options::{
    LOAD, LOAD_DEFAULT, MAX_CLIENTS, MAX_SECONDS, STATEMENTS, load, statements,
};
use crate::sql::pace::{self, MAX_RATE, QUEUE_KEYS, Queue, RAMP, RAMP_KEYS, Ramp, micros};
use crate::sql::rules::{self, ERRORS};

use check::TERMINALS;
pub(crate) use check::{check_for, remarks};

/// A hundred times as long as the standard's waits.
const MAX_WAIT_PERCENT: u32 = 10_000;
/// More than any disk holds, and small enough that no number of rows overflows.
const MAX_WAREHOUSES: u32 = 1_000_000;
/// A week of hours and some. Each is a row of every table of the report.
const MAX_STEPS: u32 = 200;
const MAX_WEIGHT: u32 = 1_000_000;
const MAX_LIMIT_MILLIS: u64 = 3_600_000;
/// Fewer items or customers than these leave nothing to choose from, or no order that waits for delivery.
const MIN_ROWS: u32 = 10;

type Key = keys::Key<TpccSpec>;

/// The keys that say when transactions start are [`PACE_KEYS`]. They apply in this order: the profile
/// decides the defaults of others.
pub(crate) static KEYS: [Key; 26] = [
    Key::later("kind", "`\"tpcc\"`").says(NEEDED, "the TPC-C-like workload"),
    Key::later("warehouses", "1 to 1,000,000").says(
        NEEDED,
        "the scale: about 100 MB each, with 100,000 stock rows, 30,000 customers and 30,000 orders",
    ),
    Key::words("profile", "profile", &[
        ("standard", |s| s.profile = TpccProfile::Standard),
        // What tpcc-mysql does where the standard allows more than one way.
        ("percona", |s| {
            s.profile = TpccProfile::Percona;
            s.stock_level = StockLevel::Loop;
            s.delivery_by_district = true;
        }),
    ])
    .says("\"standard\"", "`\"percona\"`: what tpcc-mysql intends to do. Do not compare numbers of the two"),
    Key::small("clients", 1..=MAX_CLIENTS, |s, n| s.clients = n)
        .says("1; with `wait` 10 a warehouse", "terminals, a session each"),
    Key::words("homes", "kind of homes", &[
        ("random", |s| s.homes = TpccHomes::Random),
        ("fixed", |s| s.homes = TpccHomes::Fixed),
    ])
    .says("`\"random\"`; with `wait` `\"fixed\"`", "the warehouse of a terminal: random for each transaction; or \
           fixed: terminal `n` (from 0) has `n` mod `warehouses` + 1"),
    Key::other("mix", "`\"deck\"`, or weights of 0 to 1,000,000", |s, v| mix(v).map(|it| s.mix = it))
        .says("\"deck\"", "of 23 cards, 10 New-Order, 10 Payment, one each of the others, shuffled by each terminal; \
               or weights: `{ new-order = 45, payment = 43, order-status = 4, delivery = 4, stock-level = 4 }`. \
               Transactions left out do not run; `new-order` must"),
    Key::words("form", "form", &[
        ("single", |s| s.form = TpccForm::Single),
        ("batched", |s| s.form = TpccForm::Batched),
        ("procedures", |s| s.form = TpccForm::Procedures),
    ])
    .says("\"single\"", "statement by statement; lines and districts as lists; a stored procedure a transaction, \
           not on SQLite"),
    Key::other("statements", STATEMENTS, |s, v| statements(v).map(|it| s.statements = it))
        .says("\"prepared\"", "how statements are sent; not with procedures"),
    Key::words("isolation", "isolation", &[
        ("read-committed", |s| s.isolation = Some(Isolation::ReadCommitted)),
        ("repeatable-read", |s| s.isolation = Some(Isolation::RepeatableRead)),
        ("serializable", |s| s.isolation = Some(Isolation::Serializable)),
    ])
    .says("the server's default", "SQLite has the last only, MyRocks the first two"),
    Key::words("stock_level", "form of Stock-Level", &[
        ("join", |s| s.stock_level = StockLevel::Join),
        ("loop", |s| s.stock_level = StockLevel::Loop),
    ])
    .says("`\"join\"`; `\"loop\"` with `percona`", "one query; or the items, then the stock of each"),
    Key::words("payment_order", "order of a Payment", &[
        ("warehouse", |s| s.payment_order = PaymentOrder::Warehouse),
        ("district", |s| s.payment_order = PaymentOrder::District),
    ])
    .says("\"warehouse\"", "the row that a Payment changes first"),
    Key::words("delivery", "form of Delivery", &[
        ("together", |s| s.delivery_by_district = false),
        ("district", |s| s.delivery_by_district = true),
    ])
    .says("`\"together\"`; `\"district\"` with `percona`", "the ten districts in one database transaction, or each \
           in its own"),
    Key::switch("foreign_keys", |s, on| s.schema.foreign_keys = on)
        .says("false", "the ten of the standard; not on SQLite, nor with MyRocks or TokuDB, nor with `partitions` on \
               MySQL, MariaDB and PostgreSQL before 12"),
    Key::words("indexes", "set of indexes", &[
        ("minimum", |s| s.schema.indexes = TpccIndexes::Minimum),
        ("percona", |s| s.schema.indexes = TpccIndexes::Percona),
    ])
    .says("\"percona\"", "minimum: customers by name and orders by customer; percona: also stock by item and lines \
           by supplying warehouse"),
    Key::switch("history_key", |s, on| s.schema.history_key = on)
        .says("false", "a key by number for `history`, which has none"),
    Key::small("partitions", 0..=8_000, |s, n| s.schema.partitions = n)
        .says("0", "hash partitions by warehouse; 0 for none. PostgreSQL from 11 on; not SQLite"),
    Key::small("items", MIN_ROWS..=TpccCardinality::STANDARD.items, |s, n| s.cardinality.items = n)
        .says("100_000", "items; for tests only"),
    Key::small("customers", MIN_ROWS..=TpccCardinality::STANDARD.customers, |s, n| {
        s.cardinality.customers = n;
    })
    .says("3_000", "customers of a district; for tests only"),
    Key::other("load", LOAD, |s, v| load(v, &mut s.load)).says(LOAD_DEFAULT, "how rows are loaded"),
    Key::other("settle", SETTLE, |s, v| settle(v).map(|it| s.settle = it)).says(
        "\"formula\"",
        "least seconds of the settle phase; the formula is min(1200, 60 + loaded rows / 10^6)",
    ),
    Key::small("steps", 1..=MAX_STEPS, |s, n| s.steps = n)
        .says("12", "measured steps `h1 … hN`, one after the other on the same database"),
    Key::small("seconds", 1..=MAX_SECONDS, |s, n| s.seconds = n).says("3_600", "measured time of each"),
    Key::small("warmup_seconds", 0..=MAX_SECONDS, |s, n| s.warmup_seconds = n)
        .says("5", "warm-up before each, not measured"),
    Key::other("limits", "1 ms to an hour", |s, v| limits(v, &mut s.limits_millis)).says(
        "5, 5, 5, 80 and 20 s",
        "response times that nine in ten must keep: `\"1s\"` for all, or `{ new-order = \"500ms\", delivery = \"80s\" }` \
         for some",
    ),
    Key::other("errors", ERRORS, |s, v| rules::read(v, &mut s.errors)).says(
        "retries what every Dbms asks to retry",
        "how clients handle errors",
    ),
    Key::small("statement_timeout", 1..=MAX_SECONDS, |s, n| s.statement_timeout = n)
        .says("600", "seconds after which a statement counts as hung"),
];

type PaceKey = keys::Key<Paces>;

/// What starts transactions; one of these at most.
#[derive(Default)]
pub(crate) struct Paces {
    wait: Option<u32>,
    rate: Option<u64>,
    ramp: Option<Ramp>,
}

pub(crate) static PACE_KEYS: [PaceKey; 3] = [
    PaceKey::small("wait", 1..=MAX_WAIT_PERCENT, |p, n| p.wait = Some(n)).says(
        "none",
        "keying and think times, in per cent of the standard's. Without it each terminal starts the next transaction \
         when the last has ended. Excludes `rate` and `ramp`; fixed homes have room for 10 terminals a warehouse",
    ),
    PaceKey::count("rate", 1..=MAX_RATE, |p, n| p.rate = Some(n))
        .says("none", "transactions that arrive per second, for all terminals together; excludes `ramp`"),
    PaceKey::other("ramp", RAMP, |p, v| {
        pace::search(v, &RAMP_KEYS[..2]).map(|it| p.ramp = Some(it))
    })
    .says("none", "`{ from = 100 }`: looks for the highest rate at which nine in ten of each transaction keep their \
           limit, from this one on, and measures it"),
];

/// Checks the whole table: none of it needs the catalog or a host.
pub(crate) fn check_table(table: &Node) -> Result<()> {
    resolve(table, 1).map(drop)
}

/// The whole spec. `load_clients` is how many load at the same time where nobody says.
pub(crate) fn resolve(table: &Node, load_clients: u32) -> Result<TpccSpec> {
    let names = [keys::names(&KEYS), keys::names(&PACE_KEYS), keys::names(&QUEUE_KEYS)].concat();
    let fields = Fields::new(table, "workload", &names)?;
    let warehouses = fields.need("warehouses")?.small(1..=MAX_WAREHOUSES)?;
    let mut spec = usual(warehouses, pace(&fields)?, load_clients);
    keys::apply(&KEYS, &fields, &mut spec)?;
    check::check(&fields, &spec)?;
    Ok(spec)
}

fn pace(fields: &Fields<'_>) -> Result<TpccPace> {
    fields.only_one(&["wait", "rate", "ramp"])?;
    let mut paces = Paces::default();
    keys::apply(&PACE_KEYS, fields, &mut paces)?;
    let mut open = Queue::default();
    keys::apply(&QUEUE_KEYS, fields, &mut open)?;
    pace::check(fields, paces.rate.is_some() || paces.ramp.is_some())?;
    let Queue { arrivals, queue } = open;
    Ok(match (paces.rate, paces.ramp, paces.wait) {
        (Some(per_second), _, _) => TpccPace::Rate { per_second, arrivals, queue },
        (None, Some(Ramp { from, attempt_seconds, .. }), _) => {
            TpccPace::Ramp { from, arrivals, queue, attempt_seconds }
        }
        (None, None, Some(percent)) => TpccPace::Wait { percent },
        (None, None, None) => TpccPace::NoWait,
    })
}

/// What is usual. Terminals that wait are people at their desks: ten in each warehouse, who stay there.
fn usual(warehouses: u32, pace: TpccPace, load_clients: u32) -> TpccSpec {
    let (clients, homes) = match pace {
        TpccPace::Wait { .. } => (warehouses.saturating_mul(TERMINALS), TpccHomes::Fixed),
        TpccPace::NoWait | TpccPace::Rate { .. } | TpccPace::Ramp { .. } => (1, TpccHomes::Random),
    };
    TpccSpec { clients, homes, pace, ..TpccSpec::usual(warehouses, LoadSpec::usual(load_clients)) }
}

/// `"deck"`, or weights by transaction; one that is not named does not run.
fn mix(item: Item<'_>) -> Result<TpccMix> {
    if !item.is_table() {
        return match item.text() {
            Ok("deck") => Ok(TpccMix::Deck),
            _ => Err(item
                .wrong("\"deck\", or a table of weights such as { new-order = 45, payment = 43 }")),
        };
    }
    let mut weights = [0; 5];
    by_transaction(item, "mix", &mut weights, |weight| weight.small(0..=MAX_WEIGHT))?;
    if weights[0] > 0 {
        return Ok(TpccMix::Weights(weights));
    }
    Err(item.conflict(
        "`mix` without `new-order`: throughput and costs are given per New-Order; give it a \
         weight",
    ))
}

/// One time for all transactions, or some by transaction; the others keep theirs.
fn limits(item: Item<'_>, limits: &mut [u32; 5]) -> Result<()> {
    if item.is_table() {
        return by_transaction(item, "limits", limits, millis);
    }
    *limits = [millis(item)?; 5];
    Ok(())
}

fn by_transaction(
    item: Item<'_>,
    context: &'static str,
    values: &mut [u32; 5],
    read: impl Fn(Item<'_>) -> Result<u32>,
) -> Result<()> {
    let names = TpccTransaction::ALL.map(TpccTransaction::name);
    let fields = Fields::new(item.node, context, &names)?;
    for (value, name) in values.iter_mut().zip(names) {
        if let Some(given) = fields.get(name) {
            *value = read(given)?;
        }
    }
    Ok(())
}

/// A time such as `"500ms"` or `"5s"`, in milliseconds.
fn millis(item: Item<'_>) -> Result<u32> {
    let micros = item.text().ok().and_then(micros).filter(|micros| micros.is_multiple_of(1_000));
    let millis = micros.map(|micros| micros / 1_000);
    millis.filter(|millis| (1..=MAX_LIMIT_MILLIS).contains(millis)).map(|n| n as u32).ok_or_else(
        || item.wrong("a time up to an hour in whole milliseconds such as \"500ms\" or \"5s\""),
    )
}
