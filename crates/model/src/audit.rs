//! The standard's ranges for the inputs of the transactions.

use crate::TpccAudit;

/// Transactions from which on inputs are held against the ranges; of fewer, chance decides too much.
pub const AUDIT_FROM: u64 = 10_000;

/// A share of the clients' inputs, and the standard's range for it.
#[derive(Clone, Copy, Debug)]
pub struct AuditRange {
    /// The id of its metric: `audit.rollbacks`.
    pub metric: &'static str,
    pub title: &'static str,
    /// Is it per cent (or a number per order)?
    pub is_percent: bool,
    /// Does it need a second warehouse?
    pub needs_others: bool,
    pub low: f64,
    pub high: f64,
    /// The share in these inputs; `None` where nothing was asked that it could be of.
    pub of: fn(&TpccAudit) -> Option<f64>,
}

/// All shares, in the order of every list of them.
pub const AUDIT: [AuditRange; 6] = [
    AuditRange {
        metric: "audit.rollbacks",
        title: "New-Orders that are rolled back on purpose",
        is_percent: true,
        needs_others: false,
        low: 0.9,
        high: 1.1,
        of: |asked| percent(asked.rollbacks, asked.new_orders),
    },
    AuditRange {
        metric: "audit.lines",
        title: "lines of a New-Order",
        is_percent: false,
        needs_others: false,
        low: 9.5,
        high: 10.5,
        of: |asked| share(asked.lines, asked.new_orders),
    },
    AuditRange {
        metric: "audit.remote_lines",
        title: "lines that another warehouse supplies",
        is_percent: true,
        needs_others: true,
        low: 0.95,
        high: 1.05,
        of: |asked| percent(asked.remote_lines, asked.lines),
    },
    AuditRange {
        metric: "audit.remote_payments",
        title: "Payments by a customer of another warehouse",
        is_percent: true,
        needs_others: true,
        low: 14.0,
        high: 16.0,
        of: |asked| percent(asked.remote_payments, asked.payments),
    },
    AuditRange {
        metric: "audit.payments_by_name",
        title: "Payments by last name",
        is_percent: true,
        needs_others: false,
        low: 57.0,
        high: 63.0,
        of: |asked| percent(asked.payments_by_name, asked.payments),
    },
    AuditRange {
        metric: "audit.order_statuses_by_name",
        title: "Order-Status transactions by last name",
        is_percent: true,
        needs_others: false,
        low: 57.0,
        high: 63.0,
        of: |asked| percent(asked.order_statuses_by_name, asked.order_statuses),
    },
];

fn percent(part: u64, all: u64) -> Option<f64> {
    share(part, all).map(|share| 100.0 * share)
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_ranges() {
        for range in &AUDIT {
            assert!(range.low < range.high, "{}", range.metric);
            assert!(range.metric.starts_with("audit."), "{}", range.metric);
        }
    }

    #[test]
    fn shares_are_of_what_was_asked() {
        let asked = TpccAudit {
            new_orders: 10_000,
            rollbacks: 101,
            lines: 100_300,
            remote_lines: 1_003,
            payments: 10_000,
            remote_payments: 1_500,
            payments_by_name: 6_000,
            order_statuses: 0,
            order_statuses_by_name: 0,
        };
        let shares = AUDIT.map(|range| (range.of)(&asked));
        let expected = [Some(1.01), Some(10.03), Some(1.0), Some(15.0), Some(60.0), None];
        for (found, expected) in shares.into_iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            let apart = found.unwrap_or_default() - expected.unwrap_or_default();
            assert!(apart.abs() < 1e-9, "{found:?} {expected:?}");
        }
    }
}
