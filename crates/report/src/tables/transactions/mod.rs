//! The tables of the TPC-C-like workload: those of the published report, and what proves them.

mod audit;
mod families;
mod kinds;
mod limits;
mod relative;
mod run;
mod sizes;

use model::StepInfo;

pub(crate) use audit::audit;
pub(crate) use kinds::kinds;
pub(crate) use limits::limits;
pub(crate) use relative::relative;
pub(crate) use sizes::sizes;

use super::told_once;
use crate::Table;
use crate::transactions::Transactions;
use crate::view::View;

/// Of which steps tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The first and the last one, as in the published report; each kind of transaction in the last.
    Ends,
    /// All.
    All,
}

/// All tables in the order in which they are read; none for other workloads. Where nothing was compared there
/// are no ratios.
pub(crate) fn transactions(view: &View<'_>, which: Which) -> Vec<Table> {
    let Some(run) = Transactions::of(view) else {
        return Vec::new();
    };
    let (steps, of_kinds) = match which {
        Which::Ends => (run.ends(), vec![run.last]),
        Which::All => (run.steps.clone(), run.steps.clone()),
    };
    let mut all = vec![sizes(view, &run)];
    if view.has_candidates() && !view.input.comparisons.is_empty() {
        all.push(relative(view, &run));
    }
    all.extend(runs(view, &steps));
    all.push(limits(view, &run, &steps));
    all.push(audit(view, &run, &steps));
    let of_kinds = of_kinds.into_iter().filter_map(|step| kinds(view, step));
    all.extend(told_once(of_kinds));
    all
}

/// The published table of each step, then what corrects them.
pub(crate) fn runs(view: &View<'_>, steps: &[&StepInfo]) -> Vec<Table> {
    let mut runs = told_once(steps.iter().map(|step| run::published(view, step)));
    runs.extend(told_once(
        steps.iter().map(|step| run::corrected(view, step)),
    ));
    runs
}
