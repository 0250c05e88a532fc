//! The `workload` table of the TPC-C-like workload: every key, its range, its default, what it changes, and what must hold together.

use model::{
    Build, Engine, Isolation, LoadSpec, Since, StockLevel, TpccCardinality, TpccForm, TpccHomes,
    TpccMix, TpccPace, TpccProfile, TpccSpec, TpccTransaction, Words, from_word, set_word,
};

use crate::document::Node;
use crate::error::grouped;
use crate::fields::{Fields, Item};
use crate::insert::{no_partitions, settle};
use crate::keys::Takes::{Count, Later, Other, Small, Switch, Word};
use crate::keys::{self, Key};
use crate::sql::options::{MAX_CLIENTS, MAX_SECONDS, errors, load, statements};
use crate::sql::pace::{self, MAX_RATE, QUEUE_KEYS, Queue, RAMP_KEYS, Ramp, micros};
use crate::{Place, Result};

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
/// Terminals of a warehouse that wait as people do.
const TERMINALS: u32 = 10;
const STANDARD: TpccCardinality = TpccCardinality::STANDARD;

/// They apply in this order: the profile decides the defaults of others. Paces have [`PACE_KEYS`].
pub(crate) static KEYS: &[Key<TpccSpec>] = &[
    Key("kind", Later),
    Key("warehouses", Later),
    Key("profile", Word("profile", profile)),
    Key("clients", Small(1..=MAX_CLIENTS, |s, n| s.clients = n)),
    Key("homes", Word("kind of homes", |s, w| set_word(&mut s.homes, w))),
    Key("mix", Other(|s, v| mix(v).map(|it| s.mix = it))),
    Key("form", Word("form", |s, w| set_word(&mut s.form, w))),
    Key("statements", Other(|s, v| statements(v).map(|it| s.statements = it))),
    Key("isolation", Word("isolation", |s, w| from_word(w).map(|it| s.isolation = Some(it)))),
    Key("stock_level", Word("form of Stock-Level", |s, w| set_word(&mut s.stock_level, w))),
    Key("payment_order", Word("order of a Payment", |s, w| set_word(&mut s.payment_order, w))),
    Key("delivery", Other(|s, v| delivery(v).map(|it| s.delivery_by_district = it))),
    Key("foreign_keys", Switch(|s, on| s.schema.foreign_keys = on)),
    Key("indexes", Word("set of indexes", |s, w| set_word(&mut s.schema.indexes, w))),
    Key("history_key", Switch(|s, on| s.schema.history_key = on)),
    Key("partitions", Small(0..=8_000, |s, n| s.schema.partitions = n)),
    Key("items", Small(MIN_ROWS..=STANDARD.items, |s, n| s.cardinality.items = n)),
    Key("customers", Small(MIN_ROWS..=STANDARD.customers, |s, n| s.cardinality.customers = n)),
    Key("load", Other(|s, v| load(v, &mut s.load))),
    Key("settle", Other(|s, v| settle(v).map(|it| s.settle = it))),
    Key("steps", Small(1..=MAX_STEPS, |s, n| s.steps = n)),
    Key("seconds", Small(1..=MAX_SECONDS, |s, n| s.seconds = n)),
    Key("warmup_seconds", Small(0..=MAX_SECONDS, |s, n| s.warmup_seconds = n)),
    Key("limits", Other(|s, v| limits(v, &mut s.limits_millis))),
    Key("errors", Other(|s, v| errors(v, &mut s.errors))),
    Key("statement_timeout", Small(1..=MAX_SECONDS, |s, n| s.statement_timeout = n)),
];

/// What starts transactions; one of these at most.
#[derive(Default)]
pub(crate) struct Paces {
    wait: Option<u32>,
    rate: Option<u64>,
    ramp: Option<Ramp>,
}

pub(crate) static PACE_KEYS: &[Key<Paces>] = &[
    Key("wait", Small(1..=MAX_WAIT_PERCENT, |p, n| p.wait = Some(n))),
    Key("rate", Count(1..=MAX_RATE, |p, n| p.rate = Some(n))),
    Key("ramp", Other(|p, v| pace::search(v, &RAMP_KEYS[..2]).map(|it| p.ramp = Some(it)))),
];

/// Checks the whole table: none of it needs the catalog or a host.
pub(crate) fn check_table(table: &Node) -> Result<()> {
    resolve(table, 1).map(drop)
}

pub(crate) fn key_names() -> Vec<&'static str> {
    [keys::names(KEYS), keys::names(PACE_KEYS), keys::names(QUEUE_KEYS)].concat()
}

/// The whole spec. `load_clients` is how many load at the same time where nobody says.
pub(crate) fn resolve(table: &Node, load_clients: u32) -> Result<TpccSpec> {
    let fields = Fields::new(table, "workload", &key_names())?;
    let warehouses = fields.need("warehouses")?.small(1..=MAX_WAREHOUSES)?;
    let mut spec = usual(warehouses, pace(&fields)?, load_clients);
    keys::apply(KEYS, &fields, &mut spec)?;
    check(&fields, &spec)?;
    Ok(spec)
}

fn pace(fields: &Fields<'_>) -> Result<TpccPace> {
    fields.only_one(&["wait", "rate", "ramp"])?;
    let mut paces = Paces::default();
    keys::apply(PACE_KEYS, fields, &mut paces)?;
    let mut open = Queue::default();
    keys::apply(QUEUE_KEYS, fields, &mut open)?;
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

fn profile(spec: &mut TpccSpec, word: &str) -> Result<(), Words> {
    set_word(&mut spec.profile, word)?;
    if spec.profile == TpccProfile::Percona {
        // What tpcc-mysql does where the standard allows more than one way.
        spec.stock_level = StockLevel::Loop;
        spec.delivery_by_district = true;
    }
    Ok(())
}

fn delivery(item: Item<'_>) -> Result<bool> {
    item.word("form of Delivery", &[("together", false), ("district", true)])
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

/// Checks values that are fine by themselves and do not go together.
fn check(fields: &Fields<'_>, spec: &TpccSpec) -> Result<()> {
    let broken = |keys: &[&str], message: String| Err(fields.place_of(keys).conflict(message));
    let (clients, warehouses) = (grouped(spec.clients), grouped(spec.warehouses));
    if spec.clients > MAX_CLIENTS {
        let most = grouped(MAX_CLIENTS);
        let message = format!(
            "`wait` means {TERMINALS} clients for each of {warehouses} warehouses, and there can be {most}: give \
             `clients`, or fewer `warehouses`"
        );
        return broken(&["wait"], message);
    }
    let waits = matches!(spec.pace, TpccPace::Wait { .. });
    let desks = spec.warehouses.saturating_mul(TERMINALS);
    if waits && spec.homes == TpccHomes::Fixed && spec.clients > desks {
        let message = format!(
            "`clients` = {clients} with `wait` and fixed homes: {warehouses} `warehouses` have {TERMINALS} terminals \
             each, {} in all; use fewer clients, more warehouses, or `homes = \"random\"`",
            grouped(desks)
        );
        return broken(&["clients", "warehouses"], message);
    }
    if spec.form == TpccForm::Procedures && fields.get("statements").is_some() {
        let message = "`statements` and `form = \"procedures\"`: the statements are the procedures' own; leave \
                       one of them out";
        return broken(&["statements"], message.to_owned());
    }
    Ok(())
}

type Rule = fn(&TpccSpec, &Build, Engine) -> Option<String>;

const RULES: [Rule; 4] = [
    |spec, build, _| no_partitions(spec.schema.partitions, "hash", build),
    no_foreign_keys,
    no_procedures,
    no_isolation,
];

/// Checks what a system must be able to do. `place` is where the plan has the system.
pub(crate) fn check_for(
    spec: &TpccSpec,
    build: &Build,
    engine: Engine,
    place: &Place,
) -> Result<()> {
    place.refuse(RULES.iter().find_map(|rule| rule(spec, build, engine)))
}

fn no_foreign_keys(spec: &TpccSpec, build: &Build, engine: Engine) -> Option<String> {
    if !spec.schema.foreign_keys {
        return None;
    }
    let has = &build.dbms.product().features;
    let engines = &has.foreign_key_engines;
    let partitions = spec.schema.partitions;
    let on_partitions = &has.foreign_keys_on_partitions;
    let without = if !has.foreign_keys.holds(&build.version) {
        format!("`build`: {} cannot add foreign keys to tables that are there", build.id())
    } else if !engines.is_empty() && !engines.contains(&engine) {
        format!("`engine`: {engine} has no foreign keys")
    } else if partitions > 0 && !on_partitions.holds(&build.version) {
        let where_to = if *on_partitions == Since::Never { "on" } else { "to" };
        format!(
            "`partitions` = {partitions}: {} has no foreign keys {where_to} partitioned tables",
            build.id()
        )
    } else {
        return None;
    };
    Some(format!("`foreign_keys = true` and {without}; leave one of them out"))
}

fn no_procedures(spec: &TpccSpec, build: &Build, _: Engine) -> Option<String> {
    (spec.form == TpccForm::Procedures && !build.dbms.product().features.procedures).then(|| {
        format!(
            "`form = \"procedures\"` and `build`: {} has no stored procedures; leave one of them out",
            build.id()
        )
    })
}

/// SQLite has one, and MyRocks refuses the strictest.
fn no_isolation(spec: &TpccSpec, build: &Build, engine: Engine) -> Option<String> {
    let isolation = spec.isolation?;
    let is_strict = isolation == Isolation::Serializable;
    let levels = &build.dbms.product().features.isolations;
    let without = if !levels.is_empty() && !levels.contains(&isolation) {
        format!("`build`: {} knows \"serializable\" and nothing else", build.id())
    } else if engine == Engine::Myrocks && is_strict {
        format!("`engine`: {engine} knows \"read-committed\" and \"repeatable-read\" only")
    } else {
        return None;
    };
    let word = isolation.sql().to_ascii_lowercase().replace(' ', "-");
    Some(format!("`isolation = \"{word}\"` and {without}; leave one of them out"))
}

/// What is allowed and may not be meant: one sentence each, for people who look at the plan.
pub(crate) fn remarks(spec: &TpccSpec) -> Vec<String> {
    let left = spec.warehouses.saturating_sub(spec.clients);
    let empty = (spec.homes == TpccHomes::Fixed && left > 0).then(|| {
        format!(
            "`homes = \"fixed\"` and {} clients: {} of {} warehouses have no terminal, and hardly any \
             work; use more clients, or `homes = \"random\"`",
            grouped(spec.clients),
            grouped(left),
            grouped(spec.warehouses)
        )
    });
    let others = (spec.cardinality != STANDARD).then(|| {
        format!(
            "`items` = {} and `customers` = {} are for tests, their numbers for nothing else: the standard \
             has {} and {}",
            grouped(spec.cardinality.items),
            grouped(spec.cardinality.customers),
            grouped(STANDARD.items),
            grouped(STANDARD.customers)
        )
    });
    empty.into_iter().chain(others).collect()
}
