//! What terminals did, counted; and what they asked for, held against the ranges of the standard.

use std::sync::Mutex;

use model::{AUDIT, AUDIT_FROM, AuditRange, Check, TpccAudit};
use serde::{Deserialize, Serialize};

use super::input::{Customer, Input};
use super::receipts::Receipts;
use load::lock;

/// A share may be this many standard errors outside of its range before that is no chance.
const ERRORS: f64 = 5.0;

/// Variance of the number of lines of an order: uniform over eleven numbers.
const VARIANCE_OF_LINES: f64 = 10.0;

/// What one terminal did in one window, or all did in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub(super) transactions: u64,
    /// New-Orders that were committed, as far as is known.
    pub(super) committed: u64,
    /// New-Orders with unknown outcome: their session was lost before the COMMIT was answered.
    pub(super) unknown: u64,
    /// Districts that Deliveries found without an order.
    pub(super) skipped: u64,
    pub(super) audit: TpccAudit,
    pub(super) receipts: Receipts,
}

/// The sum of all terminals and windows.
#[derive(Debug, Default)]
pub(super) struct Tallies(Mutex<Tally>);

impl Tallies {
    pub(super) fn add(&self, tally: &Tally) {
        let mut all = lock(&self.0);
        all.transactions += tally.transactions;
        all.committed += tally.committed;
        all.unknown += tally.unknown;
        all.skipped += tally.skipped;
        add(&mut all.audit, &tally.audit);
        all.receipts.add(&tally.receipts);
    }

    /// The measured window opens: what was skipped before does not count.
    pub(super) fn open(&self) {
        lock(&self.0).skipped = 0;
    }

    /// The sum; skipped districts are those of the measured window.
    pub(super) fn sum(&self) -> Tally {
        *lock(&self.0)
    }
}

pub(super) fn count(audit: &mut TpccAudit, input: &Input) {
    match input {
        Input::NewOrder(order) => {
            audit.new_orders += 1;
            audit.rollbacks += u64::from(order.rolls_back);
            audit.lines += order.lines().len() as u64;
            let remote = order.lines().iter().filter(|line| line.supply != order.warehouse);
            audit.remote_lines += remote.count() as u64;
        }
        Input::Payment(payment) => {
            audit.payments += 1;
            audit.remote_payments += u64::from(payment.customer_warehouse != payment.warehouse);
            audit.payments_by_name += by_name(&payment.customer);
        }
        Input::OrderStatus(status) => {
            audit.order_statuses += 1;
            audit.order_statuses_by_name += by_name(&status.customer);
        }
        Input::Delivery(_) | Input::StockLevel(_) => {}
    }
}

fn by_name(customer: &Customer) -> u64 {
    u64::from(matches!(customer, Customer::Name(_)))
}

fn add(all: &mut TpccAudit, other: &TpccAudit) {
    *all = TpccAudit {
        new_orders: all.new_orders + other.new_orders,
        rollbacks: all.rollbacks + other.rollbacks,
        lines: all.lines + other.lines,
        remote_lines: all.remote_lines + other.remote_lines,
        payments: all.payments + other.payments,
        remote_payments: all.remote_payments + other.remote_payments,
        payments_by_name: all.payments_by_name + other.payments_by_name,
        order_statuses: all.order_statuses + other.order_statuses,
        order_statuses_by_name: all.order_statuses_by_name + other.order_statuses_by_name,
    };
}

/// A check for each range of the standard, where `transactions` are enough for it. With one warehouse
/// nothing is remote. A range is wider by what chance alone may do with so few inputs: for 4,348
/// New-Orders the standard error of the share that is rolled back is larger than its range.
pub(super) fn checks(audit: &TpccAudit, transactions: u64, warehouses: u32) -> Vec<Check> {
    if transactions < AUDIT_FROM {
        return Vec::new();
    }
    let ranges = AUDIT.iter();
    let judged = ranges.filter(|range| warehouses > 1 || !range.needs_others);
    judged.filter_map(|range| check(range, audit)).collect()
}

fn check(range: &AuditRange, audit: &TpccAudit) -> Option<Check> {
    let share = range.share(audit)?;
    // The standard error of a share, in its own unit, if it were in the middle of its range.
    let middle = f64::midpoint(range.low, range.high);
    let variance = if range.is_percent() { middle * (100.0 - middle) } else { VARIANCE_OF_LINES };
    let slack = ERRORS * (variance / (range.of)(audit).1.max(1) as f64).sqrt();
    let unit = if range.is_percent() { " %" } else { "" };
    let (low, high) = (range.low, range.high);
    Some(Check {
        what: format!("audit: {}", range.title()),
        expected: format!("{low} to {high}{unit}, give or take {slack:.2} for chance"),
        actual: format!("{share:.2}{unit}"),
        holds: (low - slack..=high + slack).contains(&share),
    })
}

#[cfg(test)]
mod tests {
    use model::{Rng, TpccMix};

    use super::super::deck::Deck;
    use super::super::input::Inputs;
    use super::super::input::tests::fixture::spec;
    use super::super::random::Constants;
    use super::*;

    /// What a terminal of so many warehouses asks for in so many transactions.
    fn asked(warehouses: u32, transactions: u64, seed: u64) -> TpccAudit {
        let spec = spec(warehouses);
        let constants = Constants::of_run(1, seed);
        let mut inputs = Inputs::new(&spec, constants, 0, Rng::new(seed));
        let mut deck = Deck::new(TpccMix::Deck);
        let mut rng = Rng::new(seed + 1);
        let mut audit = TpccAudit::default();
        for _ in 0..transactions {
            count(&mut audit, &inputs.draw(deck.draw(&mut rng)));
        }
        audit
    }

    #[test]
    fn what_terminals_ask_for_is_what_the_standard_wants() {
        for seed in 1..20 {
            let audit = asked(2, 10_000, seed);
            let checks = checks(&audit, 10_000, 2);
            assert_eq!(checks.len(), AUDIT.len());
            assert!(checks.iter().all(|check| check.holds), "{checks:?}");
        }
        // With many inputs the ranges are all but the standard's own.
        let audit = asked(2, 400_000, 1);
        let percent = 100.0 * audit.rollbacks as f64 / audit.new_orders as f64;
        assert!((0.9..=1.1).contains(&percent), "{percent}");
    }

    #[test]
    fn other_shares_are_told() {
        let right = asked(2, 20_000, 1);
        let wrong = [
            TpccAudit { rollbacks: 0, ..right },
            TpccAudit { lines: right.new_orders * 11, ..right },
            TpccAudit { remote_lines: right.lines / 50, ..right },
            TpccAudit { remote_payments: 0, ..right },
            TpccAudit { payments_by_name: right.payments / 2, ..right },
            TpccAudit { order_statuses_by_name: 0, ..right },
        ];
        for (audit, index) in wrong.iter().zip(0..) {
            let checks = checks(audit, 20_000, 2);
            let failed: Vec<usize> = (0..checks.len()).filter(|n| !checks[*n].holds).collect();
            assert!(failed.contains(&index), "{index}: {checks:?}");
        }
    }

    #[test]
    fn few_inputs_are_not_judged_and_one_warehouse_has_no_others() {
        let audit = asked(1, 10_000, 1);
        assert!(checks(&audit, AUDIT_FROM - 1, 1).is_empty());
        let judged = checks(&audit, 10_000, 1);
        assert_eq!(judged.len(), AUDIT.len() - 2);
        assert!(judged.iter().all(|check| check.holds), "{judged:?}");
        assert_eq!((audit.remote_lines, audit.remote_payments), (0, 0));
    }

    #[test]
    fn sums_are_of_everybody() {
        let (one, other) = (asked(2, 500, 1), asked(2, 700, 2));
        let mut all = one;
        add(&mut all, &other);
        assert_eq!(all.lines, one.lines + other.lines);
        assert_eq!(all.order_statuses, one.order_statuses + other.order_statuses);
        let mut both = TpccAudit::default();
        add(&mut both, &other);
        add(&mut both, &one);
        assert_eq!(all, both);
    }

    #[test]
    fn skipped_districts_are_those_of_the_measured_window() {
        let tallies = Tallies::default();
        let one = Tally {
            transactions: 10,
            committed: 4,
            unknown: 1,
            skipped: 2,
            audit: TpccAudit { lines: 50, ..TpccAudit::default() },
            receipts: Receipts::default(),
        };
        tallies.add(&one);
        tallies.open();
        tallies.add(&one);
        tallies.add(&Tally::default());
        let sum = tallies.sum();
        assert_eq!((sum.transactions, sum.committed), (20, 8));
        assert_eq!((sum.unknown, sum.skipped, sum.audit.lines), (2, 2, 100));
    }
}
