//! Whole reports of made-up runs, in one binary: a crate of tests links once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod before;
mod charts;
mod for_ci;
mod hosts;
mod metrics;
mod micro;
mod outputs;
mod overview;
mod page;
mod placement;
mod rounds;
mod tpcc;
mod turns;
mod verdicts;
mod why;

use model::{Comparison, RunData, System};
use report::{Differing, Input, Report};

/// What a report of these has, and nothing besides.
const fn input<'a>(data: &'a RunData, comparisons: &'a [Comparison]) -> Input<'a> {
    Input::new(data, comparisons)
}

/// The text of the first finding with this in its title.
fn finding(data: &RunData, title: &str) -> Option<String> {
    let mut findings = Report::new(&input(data, &[])).findings().into_iter();
    findings.find(|finding| finding.title.contains(title)).map(|finding| finding.text)
}

fn differing() -> Differing {
    let (variables, unequal) = testkit::made_up::differing();
    Differing { variables, unequal, durability: None }
}

/// The run with copies of its second system under other names. They have no histograms: making these up takes longer
/// than all else, and pages of many systems show none.
fn with_copies(mut data: RunData, names: &[String]) -> RunData {
    let copied = data.info.plan.systems[1].clone();
    let of = |system: &String| *system == copied.name;
    let trials: Vec<_> = data.trials.iter().filter(|one| of(&one.system)).cloned().collect();
    let cells: Vec<_> = data.cells.iter().filter(|one| of(&one.system)).cloned().collect();
    let series: Vec<_> = data.series.iter().filter(|one| of(&one.system)).cloned().collect();
    for name in names {
        let first = (data.trials.len(), data.cells.len(), data.series.len());
        data.info.plan.systems.push(System { name: name.clone(), ..copied.clone() });
        data.trials.extend_from_slice(&trials);
        data.cells.extend_from_slice(&cells);
        data.series.extend_from_slice(&series);
        data.trials[first.0..].iter_mut().for_each(|one| one.system.clone_from(name));
        data.cells[first.1..].iter_mut().for_each(|one| one.system.clone_from(name));
        data.series[first.2..].iter_mut().for_each(|one| one.system.clone_from(name));
    }
    data
}
