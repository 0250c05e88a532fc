pub(in crate::tpcc) mod fixture;

use std::collections::BTreeSet;

use model::TpccCardinality;

use self::fixture::spec;
use super::*;

/// Inputs of terminal `number` with a seed.
fn inputs(spec: &TpccSpec, number: u32, seed: u64) -> Inputs {
    Inputs::new(spec, Constants::of_run(7, seed), number, Rng::new(seed))
}

/// So many inputs of one transaction.
fn drawn(spec: &TpccSpec, transaction: TpccTransaction, count: usize) -> Vec<Input> {
    let mut inputs = inputs(spec, 0, 42);
    (0..count).map(|_| inputs.draw(transaction)).collect()
}

fn orders(spec: &TpccSpec, count: usize) -> Vec<NewOrder> {
    let drawn = drawn(spec, TpccTransaction::NewOrder, count).into_iter();
    let orders = drawn.filter_map(|input| match input {
        Input::NewOrder(order) => Some(order),
        _ => None,
    });
    orders.collect()
}

fn payments(spec: &TpccSpec, count: usize) -> Vec<Payment> {
    let drawn = drawn(spec, TpccTransaction::Payment, count).into_iter();
    let payments = drawn.filter_map(|input| match input {
        Input::Payment(payment) => Some(payment),
        _ => None,
    });
    payments.collect()
}

/// Is `part` of `all` the share `percent`, but for chance (five standard errors)?
fn is_about(part: usize, all: usize, percent: f64) -> bool {
    let (found, share) = (part as f64 / all as f64, percent / 100.0);
    (found - share).abs() < 5.0 * (share * (1.0 - share) / all as f64).sqrt()
}

#[test]
fn the_same_seed_asks_for_the_same() {
    let spec = spec(3);
    for transaction in TpccTransaction::ALL {
        let one = drawn(&spec, transaction, 100);
        assert_eq!(one, drawn(&spec, transaction, 100));
        assert!(one.iter().all(|input| input.transaction() == transaction));
        let mut other = inputs(&spec, 0, 43);
        assert_ne!(one[..20], [(); 20].map(|()| other.draw(transaction)));
    }
}

#[test]
fn orders_keep_the_ranges_and_shares_of_the_standard() {
    let spec = spec(4);
    let orders = orders(&spec, 40_000);
    let mut counts = [0; MOST_LINES + 1];
    for order in &orders {
        assert!((1..=4).contains(&order.warehouse));
        assert!((1..=10).contains(&order.district));
        assert!((1..=3_000).contains(&order.customer));
        counts[order.lines().len()] += 1;
        for line in order.valid() {
            assert!((1..=100_000).contains(&line.item));
            assert!((1..=4).contains(&line.supply));
            assert!((1..=10).contains(&line.quantity));
        }
    }
    assert!(counts[..FEWEST_LINES].iter().all(|count| *count == 0));
    for count in &counts[FEWEST_LINES..] {
        assert!(is_about(*count, orders.len(), 100.0 / 11.0), "{counts:?}");
    }
    let rolled_back = orders.iter().filter(|order| order.rolls_back).count();
    assert!(is_about(rolled_back, orders.len(), 1.0));
    let lines: usize = orders.iter().map(|order| order.lines().len()).sum();
    let remote: usize = orders.iter().map(remote_lines).sum();
    assert!(is_about(remote, lines, 1.0));
    assert!(orders.iter().all(|o| o.is_local() == (remote_lines(o) == 0)));
}

fn remote_lines(order: &NewOrder) -> usize {
    let lines = order.lines().iter();
    lines.filter(|line| line.supply != order.warehouse).count()
}

#[test]
fn lines_are_sorted_and_what_there_is_not_comes_last() {
    for order in orders(&spec(3), 20_000) {
        let keys = order.valid().iter().map(|line| (line.supply, line.item));
        assert!(keys.is_sorted());
        let last = order.lines().last().map(|line| line.item);
        assert_eq!(order.rolls_back, last == Some(100_001));
        assert_eq!(order.valid().len() + usize::from(order.rolls_back), order.lines().len());
    }
}

#[test]
fn payments_keep_the_ranges_and_shares_of_the_standard() {
    let payments = payments(&spec(5), 40_000);
    let remote: Vec<&Payment> =
        payments.iter().filter(|payment| payment.customer_warehouse != payment.warehouse).collect();
    assert!(is_about(remote.len(), payments.len(), 15.0));
    // Of each warehouse a quarter goes to each of the other four.
    for (home, other) in [(1, 2), (1, 5), (3, 2), (3, 4), (5, 1), (5, 4)] {
        let from: Vec<_> = remote.iter().filter(|p| p.warehouse == home).collect();
        let to = from.iter().filter(|p| p.customer_warehouse == other);
        assert!(is_about(to.count(), from.len(), 25.0), "{home} to {other}");
    }
    for payment in &payments {
        assert!((100..=500_000).contains(&payment.cents));
        assert!((1..=5).contains(&payment.customer_warehouse));
        assert!((1..=10).contains(&payment.customer_district));
        if payment.customer_warehouse == payment.warehouse {
            assert_eq!(payment.customer_district, payment.district);
        }
    }
    let named = payments.iter().map(|payment| &payment.customer);
    let named = named.filter(|customer| matches!(customer, Customer::Name(_)));
    assert!(is_about(named.count(), payments.len(), 60.0));
}

#[test]
fn the_other_transactions_keep_their_ranges() {
    let spec = spec(2);
    let mut named = 0;
    for input in drawn(&spec, TpccTransaction::OrderStatus, 10_000) {
        if let Input::OrderStatus(status) = input {
            assert!((1..=2).contains(&status.warehouse) && (1..=10).contains(&status.district));
            named += usize::from(matches!(status.customer, Customer::Name(_)));
        }
    }
    assert!(is_about(named, 10_000, 60.0));
    let (mut carriers, mut thresholds) = (BTreeSet::new(), BTreeSet::new());
    for transaction in [TpccTransaction::Delivery, TpccTransaction::StockLevel] {
        for input in drawn(&spec, transaction, 10_000) {
            match input {
                Input::Delivery(delivery) => _ = carriers.insert(delivery.carrier),
                Input::StockLevel(level) => _ = thresholds.insert(level.threshold),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(carriers, (1..=10).collect());
    assert_eq!(thresholds, (10..=20).collect());
}

#[test]
fn with_one_warehouse_nothing_is_remote() {
    let spec = spec(1);
    assert!(orders(&spec, 5_000).iter().all(NewOrder::is_local));
    let payments = payments(&spec, 5_000);
    assert!(payments.iter().all(|p| p.customer_warehouse == 1));
}

#[test]
fn a_terminal_may_stand_for_one_warehouse() {
    let spec = TpccSpec { homes: TpccHomes::Fixed, ..spec(3) };
    let homes: Vec<(u32, u32)> = (0..7).map(|number| home(number, 3)).collect();
    assert_eq!(homes, [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2), (1, 3)]);
    assert_eq!(home(30, 3), (1, 1), "districts begin anew");
    let mut inputs = inputs(&spec, 4, 1);
    for _ in 0..100 {
        match inputs.draw(TpccTransaction::StockLevel) {
            Input::StockLevel(level) => assert_eq!((level.warehouse, level.district), (2, 2)),
            other => panic!("{other:?}"),
        }
        match inputs.draw(TpccTransaction::NewOrder) {
            Input::NewOrder(order) => assert_eq!(order.warehouse, 2),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_small_population_is_asked_for_nothing_that_it_has_not() {
    let spec = TpccSpec { cardinality: TpccCardinality { items: 100, customers: 30 }, ..spec(1) };
    let mut names = BTreeSet::new();
    for number in 0..30 {
        let mut name = String::new();
        last_name(number, &mut name);
        names.insert(name);
    }
    for payment in payments(&spec, 5_000) {
        match payment.customer {
            Customer::Id(id) => assert!((1..=30).contains(&id)),
            Customer::Name(name) => assert!(names.contains(name), "{name:?}"),
        }
    }
    for order in orders(&spec, 5_000) {
        assert!((1..=30).contains(&order.customer));
        assert!(order.valid().iter().all(|line| line.item <= 100));
        let unused = order.lines().iter().filter(|line| line.item == 101);
        assert_eq!(unused.count(), usize::from(order.rolls_back));
    }
}
