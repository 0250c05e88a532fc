//! After the load and after transactions by eight terminals, everything holds.

use model::{
    Isolation, PaymentOrder, Statements, StepRecord, StockLevel, TpccForm, TpccIndexes,
    TpccProfile, TpccSpec,
};
use testkit::databases::{Backend, number};

use crate::spec::spec;
use crate::trial::{Trial, conditions, ops};

/// Terminals.
const CLIENTS: u32 = 8;

/// All isolations, forms, profiles and options, each with one and with two warehouses somewhere.
pub(crate) fn on(backend: &Backend) {
    for (name, spec) in specs(backend.is_server()) {
        eprintln!("everything holds: {name}");
        holds(backend, &spec);
    }
}

fn specs(is_server: bool) -> Vec<(String, TpccSpec)> {
    let mut specs = Vec::new();
    let isolations: &[Option<Isolation>] = if is_server {
        &[Some(Isolation::ReadCommitted), Some(Isolation::RepeatableRead)]
    } else {
        &[None]
    };
    let forms: &[TpccForm] = if is_server {
        &[TpccForm::Single, TpccForm::Batched, TpccForm::Procedures]
    } else {
        &[TpccForm::Single, TpccForm::Batched]
    };
    for isolation in isolations {
        for form in forms {
            for warehouses in [1, 2] {
                let mut spec = spec(warehouses, CLIENTS);
                (spec.isolation, spec.form) = (*isolation, *form);
                // Every option comes with every form.
                if warehouses == 2 {
                    spec.delivery_by_district = true;
                    spec.payment_order = PaymentOrder::District;
                    spec.stock_level = StockLevel::Loop;
                }
                specs.push((format!("{form:?}, {isolation:?}, {warehouses}"), spec));
            }
        }
    }
    for form in forms {
        let mut percona = spec(2, CLIENTS);
        (percona.profile, percona.form) = (TpccProfile::Percona, *form);
        specs.push((format!("{form:?}, as tpcc-mysql"), percona));
    }
    let mut text = spec(2, CLIENTS);
    text.statements = Statements::Text;
    specs.push(("as text".to_owned(), text));
    if is_server {
        let mut keys = spec(2, CLIENTS);
        keys.schema.foreign_keys = true;
        keys.schema.indexes = TpccIndexes::Percona;
        keys.schema.history_key = true;
        specs.push(("with foreign keys".to_owned(), keys));
        let mut parts = spec(2, CLIENTS);
        parts.schema.partitions = 2;
        parts.load.indexes_first = true;
        specs.push(("in partitions".to_owned(), parts));
    }
    specs
}

fn holds(backend: &Backend, spec: &TpccSpec) {
    let target = backend.database();
    let mut trial = Trial::loaded(spec, &target);
    let run = trial.step(&target);
    for kind in ["new-order", "payment", "order-status", "delivery", "stock-level"] {
        assert!(ops(&run, kind) > 0, "{kind}");
    }
    no_error_was_ignored(&run);
    let check = trial.step(&target);
    every_condition_was_asked(spec, &check);
    // They were asked of something: orders and payments of this run.
    let warehouses = i64::from(spec.warehouses);
    let loaded = warehouses * 10 * i64::from(spec.cardinality.customers);
    assert!(number(&target, "SELECT COUNT(*) FROM orders") > loaded);
    assert!(number(&target, "SELECT COUNT(*) FROM history") > loaded);
}

/// Only what is repeated may fail: a duplicate key would mean that two had taken the same number.
fn no_error_was_ignored(run: &StepRecord) {
    let ignored = run.errors.iter().filter(|error| !error.retried);
    let ignored: Vec<_> = ignored.collect();
    assert!(ignored.is_empty(), "{ignored:?}");
}

fn every_condition_was_asked(spec: &TpccSpec, check: &StepRecord) {
    let asked = conditions(check);
    let not_asked: Vec<String> = (1..=12)
        .map(|number| format!("condition {number}"))
        .filter(|name| !asked.contains(&name.as_str()))
        .collect();
    let note = check.notes.iter().find(|note| note.what.word() == "not applicable");
    match spec.profile {
        TpccProfile::Standard => {
            assert!(not_asked.is_empty() && note.is_none(), "{not_asked:?} {note:?}");
            assert!(asked.contains(&"stock quantities"));
        }
        TpccProfile::Percona => {
            assert_eq!(not_asked, ["condition 12"]);
            assert!(note.unwrap().text.starts_with("condition 12, "));
        }
    }
    // Each warehouse by each of them, but for those that read a table without a key.
    let queries = check.kinds[0].sums.ops;
    assert!(queries >= 12 * u64::from(spec.warehouses), "{queries}");
}
