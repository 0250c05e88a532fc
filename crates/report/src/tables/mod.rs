//! The tables of a report, built once for every output.
//!
//! Absolute values are medians over the rounds; ratios come from the comparisons (geometric mean of
//! the paired ratios). So the ratio of two medians need not be the printed ratio to the last digit.

mod before;
mod costs;
mod errors;
mod grid;
mod group_summary;
mod metrics;
mod open_loop;
mod outlying;
mod over_clients;
mod response;
mod sizes;
mod systems;
mod throughput;
mod transactions;
mod trials;
mod verdicts;

use std::collections::HashSet;

use model::{Group, StepInfo};

pub(crate) use before::{left_over as view_left_over, warm_ups as view_warm_ups};
pub(crate) use costs::{
    cost as view_cost, costs as view_costs, has_costs, metrics_of as view_cost_metrics,
    step_costs as view_step_costs,
};
pub(crate) use errors::errors as view_errors;
pub(crate) use grid::relative_cell as view_relative_cell;
pub(crate) use group_summary::group_summary as view_group_summary;
pub(crate) use metrics::metrics as view_metrics;
pub(crate) use open_loop::{open_loop as view_open_loop, tried as view_tried};
pub(crate) use over_clients::{
    absolute_of_test as view_absolute_of_test, crossovers as view_crossovers,
    relative_of_test as view_relative_of_test, relative_over_clients as view_relative_over_clients,
    scale_up as view_scale_up, sign as verdict_sign,
};
pub(crate) use response::{
    buckets as view_buckets, other_kinds as view_other_kinds, percentiles as view_percentiles,
};
pub(crate) use sizes::{has_sizes, sizes as view_sizes};
pub use systems::placement_lines;
pub(crate) use systems::{
    differing as view_differing, each_placement, placements as view_placements,
    settings as view_settings, shared_placement,
};
pub(crate) use throughput::{
    absolute as view_absolute, background as view_background, relative as view_relative,
};
pub(crate) use transactions::{
    Which, audit as view_audit, kinds as view_transaction_kinds, limits as view_limits,
    relative as view_relative_transactions, runs as view_runs, sizes as view_grown,
    transactions as view_transactions,
};
pub(crate) use trials::trials as view_trials;
pub use verdicts::Shown;
pub(crate) use verdicts::{
    moved_with as view_moved_with, movers as view_movers, pairs as view_pairs,
    reason as view_reason, tone as verdict_tone, verdicts as view_verdicts, without_empty_why,
    word as verdict_word,
};

use crate::transactions::Transactions;
use crate::view::View;
use crate::{Input, Table};

/// From which moment a latency counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// From sending.
    Service,
    /// From the intended start of a schedule.
    Response,
}

impl Clock {
    /// The first part of the ids of its metrics, and its name: `service`, `response`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Response => "response",
        }
    }
}

/// Each candidate against the base. Throughput only, or with `all` every metric that was compared.
pub fn verdicts(input: &Input<'_>, shown: &Shown) -> Table {
    view_verdicts(&View::new(input), shown)
}

/// The same for each candidate by itself; those that have nothing to show have no table, and what several notes say
/// stands below the first of them only.
pub fn verdicts_by_system(input: &Input<'_>, shown: &Shown) -> Vec<Table> {
    let view = View::new(input);
    let tables = view.candidates().map(|system| {
        let of_one = Shown {
            system: Some(system.name.to_owned()),
            ..shown.clone()
        };
        view_verdicts(&view, &of_one)
    });
    let tables = tables.filter(|table| !table.rows.is_empty());
    told_once(tables.map(without_empty_why))
}

/// Throughput: systems × steps.
pub fn absolute(input: &Input<'_>) -> Table {
    view_absolute(&View::new(input))
}

/// Throughput as people read it: systems × steps, or in a sweep a table of tests × client counts for each
/// system.
pub fn throughput(input: &Input<'_>) -> Vec<Table> {
    view_throughput(&View::new(input))
}

pub(crate) fn view_throughput(view: &View<'_>) -> Vec<Table> {
    let Some(sweep) = &view.sweep else {
        return vec![view_absolute(view)];
    };
    let others = throughput::absolute_of(view, |step| !sweep.holds(step));
    let swept = view.systems.iter();
    let swept = swept.filter_map(|system| over_clients::absolute_over_clients(view, system));
    told_once(with_rows(others).into_iter().chain(swept))
}

/// Throughput relative to the base likewise; in a sweep a table for each candidate.
pub(crate) fn view_ratios(view: &View<'_>) -> Vec<Table> {
    let Some(sweep) = &view.sweep else {
        return with_rows(view_relative(view)).into_iter().collect();
    };
    let others = throughput::relative_of(view, |step| !sweep.holds(step));
    let swept = view.systems.iter();
    let swept = swept.filter_map(|system| view_relative_over_clients(view, system));
    told_once(with_rows(others).into_iter().chain(swept))
}

/// Tables that follow each other, without the lines of notes that one before has already.
fn told_once(tables: impl Iterator<Item = Table>) -> Vec<Table> {
    let mut tables: Vec<Table> = tables.collect();
    let mut told = HashSet::new();
    for table in &mut tables {
        let lines = table.note.lines();
        let lines: Vec<&str> = lines
            .filter(|line| told.insert((*line).to_owned()))
            .collect();
        table.note = lines.join("\n");
    }
    tables
}

fn with_rows(table: Table) -> Option<Table> {
    table.has_rows().then_some(table)
}

/// Throughput of one candidate relative to the base: tests × client counts; `None` where the run has
/// no sweep or this is no candidate.
pub fn over_clients(input: &Input<'_>, system: &str) -> Option<Table> {
    let view = View::new(input);
    let system = view.systems.iter().find(|s| s.name == system)?;
    view_relative_over_clients(&view, system)
}

/// The same for every candidate.
pub fn all_over_clients(input: &Input<'_>) -> Vec<Table> {
    let view = View::new(input);
    let tables = view.candidates();
    told_once(tables.filter_map(|system| view_relative_over_clients(&view, system)))
}

/// Throughput of every system over that at the smallest client count; `None` where there is no sweep.
pub fn scale_up(input: &Input<'_>) -> Option<Table> {
    let view = View::new(input);
    view_scale_up(&view, &view.sweep.as_ref()?.tests)
}

/// Where candidates pass the base over the client counts; `None` where none does.
pub fn crossovers(input: &Input<'_>) -> Option<Table> {
    view_crossovers(&View::new(input))
}

/// Smallest, largest, mean and middle ratio of each group of tests; `None` without groups.
pub fn group_summary(input: &Input<'_>) -> Option<Table> {
    view_group_summary(&View::new(input))
}

/// What became of operations that arrive by themselves; `None` where there are none.
pub fn open_loop(input: &Input<'_>) -> Option<Table> {
    view_open_loop(&View::new(input))
}

/// What the published report of the TPC-C-like workload has, for the first and the last step of
/// transactions, and what proves it; none for other workloads.
pub fn transactions(input: &Input<'_>) -> Vec<Table> {
    view_transactions(&View::new(input), Which::Ends)
}

/// Throughput, CPU, writes and size of the TPC-C-like workload relative to the base; `None` for other
/// workloads, and where there is nothing to compare.
pub fn relative_transactions(input: &Input<'_>) -> Option<Table> {
    let view = View::new(input);
    let run = Transactions::of(&view)?;
    view.has_candidates()
        .then(|| view_relative_transactions(&view, &run))
}

/// The rates that were tried where the highest was looked for; `None` where none was.
pub fn tried(input: &Input<'_>) -> Option<Table> {
    view_tried(&View::new(input))
}

/// Throughput relative to the base: systems × steps.
pub fn relative(input: &Input<'_>) -> Table {
    view_relative(&View::new(input))
}

/// Achieved background insert rate against its target; `None` where no step has one.
pub fn background(input: &Input<'_>) -> Option<Table> {
    view_background(&View::new(input))
}

/// Cost per operation of one group (server, host, client): a table systems × steps for each metric.
pub fn costs(input: &Input<'_>, group: Group, relative: bool) -> Vec<Table> {
    view_costs(&View::new(input), group, relative)
}

/// Cost per operation in one step: systems × metrics of all three groups; `None` without any.
pub fn step_costs(input: &Input<'_>, step: &StepInfo, relative: bool) -> Option<Table> {
    view_step_costs(&View::new(input), step, relative)
}

/// The ten buckets of the published response-time tables, in per cent, and the longest; `None`
/// without histograms.
pub fn buckets(input: &Input<'_>, step: &StepInfo, kind: &str, clock: Clock) -> Option<Table> {
    let view = View::new(input);
    let merged = crate::series::histograms(&view, step, kind, clock);
    view_buckets(&view, step, kind, clock, &merged)
}

/// Mean, p50 … p99.9 and the longest of one operation kind; `None` where it was not measured.
pub fn percentiles(input: &Input<'_>, step: &StepInfo, kind: &str, clock: Clock) -> Option<Table> {
    view_percentiles(&View::new(input), step, kind, clock)
}

/// Sizes on disk and memory after each step: a table systems × steps for each metric.
pub fn sizes(input: &Input<'_>) -> Vec<Table> {
    view_sizes(&View::new(input))
}

/// Failed and repeated operations, all rounds together; `None` when there were none.
pub fn errors(input: &Input<'_>) -> Option<Table> {
    view_errors(&View::new(input))
}

/// All trials in the order in which they started, with their outcome.
pub fn trials(input: &Input<'_>) -> Table {
    view_trials(&View::new(input))
}

/// Settings whose values differ between the systems' configs; `None` when there are none.
pub fn settings(input: &Input<'_>) -> Option<Table> {
    view_settings(&View::new(input))
}

/// Server variables that differ between the systems; none where not captured or all alike.
pub fn differing(input: &Input<'_>) -> Vec<Table> {
    view_differing(&View::new(input))
}

/// What each metric of this run is, its unit and its margin.
pub fn metrics(input: &Input<'_>) -> Table {
    view_metrics(&View::new(input))
}
