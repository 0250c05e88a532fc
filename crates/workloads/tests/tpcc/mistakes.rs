//! Each mistake that a transaction can make is told by the conditions that are about it.

use std::sync::Arc;

use drivers::Connector;
use model::{Isolation, TpccMix, TpccSpec};
use testkit::databases::{Backend, behind};

use crate::spec::spec;
use crate::spoiled::{Mistake, Spoiled};
use crate::trial::{Trial, conditions, failed};

/// A mistake: its name, what the statement that it spoils says, how, each which of them, and the conditions
/// that must be offended.
type Case = (&'static str, &'static str, Mistake, u64, &'static [&'static str]);

/// One statement is lost, or done twice. A terminal alone makes all of them.
const CASES: [Case; 12] = [
    ("an update of stock is lost", "UPDATE stock SET", Mistake::Lost(1), 7, &["stock sums"]),
    (
        "a line is skipped",
        "INSERT INTO order_line",
        Mistake::Lost(1),
        7,
        &["condition 4", "condition 6", "stock sums"],
    ),
    (
        "an order is not entered",
        "INSERT INTO orders",
        Mistake::Lost(1),
        5,
        &["condition 5", "condition 6", "order numbers"],
    ),
    (
        "an order does not wait for delivery",
        "INSERT INTO new_order",
        Mistake::Lost(1),
        5,
        &["condition 5", "condition 11"],
    ),
    (
        "an order's number is not taken",
        "UPDATE district SET d_next_o_id",
        Mistake::Lost(1),
        5,
        &["condition 2", "order numbers"],
    ),
    (
        "an order is charged twice",
        "c_delivery_cnt = c_delivery_cnt + 1",
        Mistake::Twice,
        2,
        &["condition 10", "condition 12", "deliveries"],
    ),
    (
        "an order stays in the queue",
        "DELETE FROM new_order",
        Mistake::Lost(1),
        1,
        &["condition 5", "condition 11"],
    ),
    (
        "an order is not given to a carrier",
        "UPDATE orders SET o_carrier_id",
        Mistake::Lost(1),
        3,
        &["condition 5", "condition 7", "condition 11", "deliveries"],
    ),
    (
        "lines are not delivered",
        "UPDATE order_line SET ol_delivery_d",
        Mistake::Lost(10),
        3,
        &["condition 7", "condition 10", "condition 12"],
    ),
    (
        "a warehouse does not get a payment",
        "UPDATE warehouse SET w_ytd",
        Mistake::Lost(1),
        5,
        &["condition 1", "condition 8"],
    ),
    (
        "a payment is not in the history",
        "INSERT INTO history",
        Mistake::Lost(1),
        5,
        &["condition 8", "condition 9", "condition 10", "payments"],
    ),
    (
        "a payment does not reach the customer",
        "c_payment_cnt = c_payment_cnt + 1",
        Mistake::Lost(1),
        5,
        &["condition 10", "payments"],
    ),
];

pub(crate) fn on(backend: &Backend) {
    for (name, part, mistake, every, wanted) in CASES {
        eprintln!("caught: {name}");
        let (offended, _) = spoiled(backend, &spec(1, 1), (part, mistake, every));
        for condition in wanted {
            let is_named = offended.iter().any(|told| told.starts_with(&format!("{condition}:")));
            assert!(is_named, "{name}: {condition} is not among {offended:?}");
        }
    }
    if backend.is_server() {
        stock_is_not_locked(backend);
        queues_are_not_locked(backend);
    }
}

/// Runs the transactions with a mistake; what the last step says of the data, and what the terminals said.
fn spoiled(
    backend: &Backend,
    spec: &TpccSpec,
    (part, mistake, every): (&'static str, Mistake, u64),
) -> (Vec<String>, Vec<String>) {
    let target = backend.database();
    let mut trial = Trial::loaded(spec, &target);
    let spoiled = Arc::new(Spoiled::new(&target.connector, part, mistake, every));
    let connector: Arc<dyn Connector> = Arc::<Spoiled>::clone(&spoiled);
    let run = trial.attempt(&behind(&target, connector)).unwrap();
    assert!(spoiled.count() > 2 * every, "`{part}` was sent {} times", spoiled.count());
    let check = trial.attempt(&target).unwrap();
    assert!(conditions(&check).contains(&"condition 12"));
    (failed(&check), failed(&run))
}

/// Two orders read the same quantity, and one overwrites what the other one left. The sums are right all the
/// same: they are added to.
fn stock_is_not_locked(backend: &Backend) {
    eprintln!("caught: stock is not locked");
    let mut spec = spec(1, 8);
    spec.isolation = Some(Isolation::ReadCommitted);
    spec.cardinality.items = 10;
    spec.mix = TpccMix::Weights([1, 0, 0, 0, 0]);
    spec.seconds = 2;
    let (offended, _) = spoiled(backend, &spec, ("FROM stock", Mistake::Unlocked, 1));
    assert_eq!(offended.len(), 1, "{offended:?}");
    assert!(offended[0].starts_with("stock quantities:"), "{offended:?}");
}

/// Two deliver the same order. The second finds that it is no longer in the queue and undoes what it did, so
/// the data is right; but the terminal tells, and the trial fails.
fn queues_are_not_locked(backend: &Backend) {
    eprintln!("caught: queues are not locked");
    let mut spec = spec(1, 8);
    spec.isolation = Some(Isolation::ReadCommitted);
    spec.mix = TpccMix::Weights([1, 0, 0, 1, 0]);
    spec.seconds = 2;
    let head = "SELECT no_o_id FROM new_order";
    let (offended, told) = spoiled(backend, &spec, (head, Mistake::Unlocked, 1));
    assert!(offended.is_empty(), "{offended:?}");
    assert!(!told.is_empty());
}
