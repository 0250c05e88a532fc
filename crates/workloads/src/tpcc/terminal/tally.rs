//! What terminals did, counted.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::TpccAudit;

use crate::tpcc::audit;
use crate::tpcc::receipts::Receipts;

/// What one terminal did in one window, or all did in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) transactions: u64,
    /// New-Orders that were committed, as far as is known.
    pub(crate) committed: u64,
    /// New-Orders with unknown outcome: their session was lost before the COMMIT was answered.
    pub(crate) unknown: u64,
    /// Districts that Deliveries found without an order.
    pub(crate) skipped: u64,
    pub(crate) audit: TpccAudit,
    pub(crate) receipts: Receipts,
}

/// The sum of all terminals and windows.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Mutex<Tally>);

impl Tallies {
    pub(super) fn add(&self, tally: &Tally) {
        let mut all = self.all();
        all.transactions += tally.transactions;
        all.committed += tally.committed;
        all.unknown += tally.unknown;
        all.skipped += tally.skipped;
        audit::add(&mut all.audit, &tally.audit);
        all.receipts.add(&tally.receipts);
    }

    /// The measured window opens: what was skipped before does not count.
    pub(crate) fn open(&self) {
        self.all().skipped = 0;
    }

    /// The sum; skipped districts are those of the measured window.
    pub(crate) fn sum(&self) -> Tally {
        *self.all()
    }

    fn all(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
