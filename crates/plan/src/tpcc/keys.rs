//! Every key of the table: its range, its default, and what it changes.

use model::{
    Isolation, LoadSpec, PaymentOrder, StockLevel, TpccCardinality, TpccForm, TpccHomes,
    TpccIndexes, TpccMix, TpccPace, TpccProfile, TpccSpec, TpccTransaction,
};

use super::{check, pace};
use crate::PlanError;
use crate::document::{Node, Value};
use crate::fields::{Fields, Item};
use crate::insert::settle;
use crate::sql::options::{MAX_CLIENTS, MAX_SECONDS, load, statements};
use crate::sql::pace::micros;
use crate::sql::rules;

/// More than any disk holds, and small enough that no number of rows overflows.
const MAX_WAREHOUSES: u32 = 1_000_000;
/// A week of hours and some. Each is a row of every table of the report.
const MAX_STEPS: u32 = 200;
const MAX_PARTITIONS: u32 = 8_000;
const MAX_WEIGHT: u32 = 1_000_000;
/// An hour.
const MAX_LIMIT_MILLIS: u64 = 3_600_000;
/// Fewer items or customers than these leave nothing to choose from, or no order that waits for delivery.
const MIN_ROWS: u32 = 10;

/// The isolations, as plans write them.
pub(super) const ISOLATIONS: [(&str, Isolation); 3] = [
    ("read-committed", Isolation::ReadCommitted),
    ("repeatable-read", Isolation::RepeatableRead),
    ("serializable", Isolation::Serializable),
];

/// A key of the table, and how its value changes the spec.
type Key = (
    &'static str,
    fn(&mut TpccSpec, Item<'_>) -> Result<(), PlanError>,
);

/// The keys that [`apply`] reads. They apply in this order: the profile decides the defaults of others.
const KEYS: [Key; 24] = [
    ("profile", |s, v| profile(v, s)),
    ("clients", |s, v| {
        v.small(1..=MAX_CLIENTS).map(|it| s.clients = it)
    }),
    ("homes", |s, v| {
        let words = [("random", TpccHomes::Random), ("fixed", TpccHomes::Fixed)];
        v.word("kind of homes", &words).map(|it| s.homes = it)
    }),
    ("mix", |s, v| mix(&v).map(|it| s.mix = it)),
    ("form", |s, v| form(v).map(|it| s.form = it)),
    ("statements", |s, v| {
        statements(v).map(|it| s.statements = it)
    }),
    ("isolation", |s, v| {
        v.word("isolation", &ISOLATIONS)
            .map(|it| s.isolation = Some(it))
    }),
    ("stock_level", |s, v| {
        let words = [("join", StockLevel::Join), ("loop", StockLevel::Loop)];
        v.word("form of Stock-Level", &words)
            .map(|it| s.stock_level = it)
    }),
    ("payment_order", |s, v| {
        let words = [
            ("warehouse", PaymentOrder::Warehouse),
            ("district", PaymentOrder::District),
        ];
        v.word("order of a Payment", &words)
            .map(|it| s.payment_order = it)
    }),
    ("delivery", |s, v| {
        let words = [("together", false), ("district", true)];
        v.word("form of Delivery", &words)
            .map(|it| s.delivery_by_district = it)
    }),
    ("foreign_keys", |s, v| {
        v.switch().map(|it| s.schema.foreign_keys = it)
    }),
    ("indexes", |s, v| {
        let words = [
            ("minimum", TpccIndexes::Minimum),
            ("percona", TpccIndexes::Percona),
        ];
        v.word("set of indexes", &words)
            .map(|it| s.schema.indexes = it)
    }),
    ("history_key", |s, v| {
        v.switch().map(|it| s.schema.history_key = it)
    }),
    ("partitions", |s, v| {
        v.small(0..=MAX_PARTITIONS)
            .map(|it| s.schema.partitions = it)
    }),
    ("items", |s, v| {
        v.small(MIN_ROWS..=TpccCardinality::STANDARD.items)
            .map(|it| s.cardinality.items = it)
    }),
    ("customers", |s, v| {
        v.small(MIN_ROWS..=TpccCardinality::STANDARD.customers)
            .map(|it| s.cardinality.customers = it)
    }),
    ("load", |s, v| load(v, &mut s.load)),
    ("settle", |s, v| settle(v).map(|it| s.settle = it)),
    ("steps", |s, v| {
        v.small(1..=MAX_STEPS).map(|it| s.steps = it)
    }),
    ("seconds", |s, v| {
        v.small(1..=MAX_SECONDS).map(|it| s.seconds = it)
    }),
    ("warmup_seconds", |s, v| {
        v.small(0..=MAX_SECONDS).map(|it| s.warmup_seconds = it)
    }),
    ("limits", |s, v| limits(&v, &mut s.limits_millis)),
    ("errors", |s, v| rules::read(v, &mut s.errors)),
    ("statement_timeout", |s, v| {
        v.small(1..=MAX_SECONDS).map(|it| s.statement_timeout = it)
    }),
];

/// Keys that the others depend on: they are read before them.
const FIRST: [&str; 2] = ["kind", "warehouses"];

/// The whole spec. `load_clients` is how many load at the same time where nobody says.
pub(crate) fn resolve(table: &Node, load_clients: u32) -> Result<TpccSpec, PlanError> {
    let keys = FIRST.into_iter().chain(pace::KEYS);
    let keys = keys.chain(KEYS.iter().map(|(key, _)| *key));
    let fields = Fields::new(table, "workload", &keys.collect::<Vec<_>>())?;
    let warehouses = fields.need("warehouses")?.small(1..=MAX_WAREHOUSES)?;
    let mut spec = usual(warehouses, pace::read(&fields)?, load_clients);
    apply(&fields, &mut spec)?;
    check::check(&fields, &spec)?;
    Ok(spec)
}

fn apply(fields: &Fields<'_>, spec: &mut TpccSpec) -> Result<(), PlanError> {
    KEYS.iter()
        .try_for_each(|(key, set)| match fields.get(key) {
            Some(value) => set(spec, value),
            None => Ok(()),
        })
}

/// What is usual. Terminals that wait are people at their desks: ten in each warehouse, who stay there.
fn usual(warehouses: u32, pace: TpccPace, load_clients: u32) -> TpccSpec {
    let (clients, homes) = match pace {
        TpccPace::Wait { .. } => (
            warehouses.saturating_mul(super::TERMINALS),
            TpccHomes::Fixed,
        ),
        TpccPace::NoWait | TpccPace::Rate { .. } | TpccPace::Ramp { .. } => (1, TpccHomes::Random),
    };
    TpccSpec {
        clients,
        homes,
        pace,
        ..TpccSpec::usual(warehouses, LoadSpec::usual(load_clients))
    }
}

/// The profile, and what tpcc-mysql does where the standard allows more than one way.
fn profile(item: Item<'_>, spec: &mut TpccSpec) -> Result<(), PlanError> {
    let words = [
        ("standard", TpccProfile::Standard),
        ("percona", TpccProfile::Percona),
    ];
    spec.profile = item.word("profile", &words)?;
    if spec.profile == TpccProfile::Percona {
        spec.stock_level = StockLevel::Loop;
        spec.delivery_by_district = true;
    }
    Ok(())
}

fn form(item: Item<'_>) -> Result<TpccForm, PlanError> {
    let words = [
        ("single", TpccForm::Single),
        ("batched", TpccForm::Batched),
        ("procedures", TpccForm::Procedures),
    ];
    item.word("form", &words)
}

/// `"deck"`, or weights by transaction; one that is not named does not run.
fn mix(item: &Item<'_>) -> Result<TpccMix, PlanError> {
    let Value::Table(_) = item.node.value else {
        return match item.text() {
            Ok("deck") => Ok(TpccMix::Deck),
            _ => Err(item
                .wrong("\"deck\", or a table of weights such as { new-order = 45, payment = 43 }")),
        };
    };
    let fields = transactions(item, "mix")?;
    let mut weights = [0; 5];
    for (weight, transaction) in weights.iter_mut().zip(TpccTransaction::ALL) {
        if let Some(given) = fields.get(transaction.name()) {
            *weight = given.small(0..=MAX_WEIGHT)?;
        }
    }
    if weights[0] == 0 {
        return Err(item.conflict(
            "`mix` without `new-order`: throughput and costs are given per New-Order; give it a \
             weight",
        ));
    }
    Ok(TpccMix::Weights(weights))
}

/// One time for all transactions, or some by transaction; the others keep theirs.
fn limits(item: &Item<'_>, limits: &mut [u32; 5]) -> Result<(), PlanError> {
    let Value::Table(_) = item.node.value else {
        *limits = [millis(item)?; 5];
        return Ok(());
    };
    let fields = transactions(item, "limits")?;
    for (limit, transaction) in limits.iter_mut().zip(TpccTransaction::ALL) {
        if let Some(given) = fields.get(transaction.name()) {
            *limit = millis(&given)?;
        }
    }
    Ok(())
}

/// A table whose keys are transactions.
fn transactions<'a>(item: &Item<'a>, context: &'static str) -> Result<Fields<'a>, PlanError> {
    Fields::new(
        item.node,
        context,
        &TpccTransaction::ALL.map(TpccTransaction::name),
    )
}

/// A time such as `"500ms"` or `"5s"`, in milliseconds.
fn millis(item: &Item<'_>) -> Result<u32, PlanError> {
    let micros = item.text().ok().and_then(micros);
    micros
        .filter(|micros| micros.is_multiple_of(1_000))
        .map(|micros| micros / 1_000)
        .filter(|millis| (1..=MAX_LIMIT_MILLIS).contains(millis))
        .map(|millis| millis as u32)
        .ok_or_else(|| {
            item.wrong("a time up to an hour in whole milliseconds such as \"500ms\" or \"5s\"")
        })
}
