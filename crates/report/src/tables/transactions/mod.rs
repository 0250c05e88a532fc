//! The tables of the TPC-C-like workload: those of the published report, and what proves them.

mod audit;
mod families;
mod kinds;
mod limits;
mod relative;
mod run;
mod sizes;

use model::Step;

use super::told_once;
use crate::{Report, Table, Transactions};

/// Of which steps tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The first and the last one, as in the published report; each kind of transaction in the last.
    Ends,
    All,
}

impl Report<'_> {
    /// All tables in the order in which they are read; none for other workloads. Where nothing was compared there
    /// are no ratios.
    pub(crate) fn transaction_tables(&self, which: Which) -> Vec<Table> {
        let Some(run) = Transactions::of(self) else {
            return Vec::new();
        };
        let (steps, of_kinds) = match which {
            Which::Ends => (run.ends(), vec![run.last]),
            Which::All => (run.steps.clone(), run.steps.clone()),
        };
        let mut all = vec![self.grown(&run)];
        if self.has_candidates() && !self.input.comparisons.is_empty() {
            all.push(self.relative_of_run(&run));
        }
        all.extend(self.runs(&steps));
        all.push(self.limits(&run, &steps));
        all.push(self.audit(&run, &steps));
        let of_kinds = of_kinds.into_iter().filter_map(|step| self.transaction_kinds(step));
        all.extend(told_once(of_kinds));
        all
    }

    /// The published table of each step, then what corrects them.
    pub(crate) fn runs(&self, steps: &[&Step]) -> Vec<Table> {
        let mut runs = told_once(steps.iter().map(|step| run::published(self, step)));
        runs.extend(told_once(steps.iter().map(|step| run::corrected(self, step))));
        runs
    }
}
