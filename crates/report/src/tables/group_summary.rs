//! Each group of tests in a few numbers, as the published summaries have them.

use model::{Comparison, MetricId, StepInfo};
use stats::{GroupSummary, summarise};

use crate::format;
use crate::groups::StepGroup;
use crate::table::{Cell, Header, Table};
use crate::view::View;

/// A row a candidate, in a sweep a row a candidate and client count, under the heading of each group;
/// `None` where the workload has no groups or nothing was compared.
pub(crate) fn group_summary(view: &View<'_>) -> Option<Table> {
    let counts: Vec<Option<u32>> = match &view.sweep {
        Some(sweep) => sweep.clients.iter().map(|count| Some(*count)).collect(),
        None => vec![None],
    };
    let headers = headers(view.sweep.is_some());
    let mut rows = Vec::new();
    for group in view.groups.iter().filter(|g| !g.title.is_empty()) {
        let of_group = rows_of(view, group, &counts);
        if !of_group.is_empty() {
            rows.push(Table::heading(&group.title, headers.len()));
            rows.extend(of_group);
        }
    }
    (!rows.is_empty()).then(|| Table {
        title: format!("Groups of tests relative to {}", view.base),
        note: "Ratios of throughput over the tests of a group: smallest, largest, arithmetic mean (average), middle one (median), and geometric mean with the 95 % interval that the rounds give it. Above 1 is faster than the base.".to_owned(),
        headers,
        rows,
    })
}

fn headers(has_clients: bool) -> Vec<Header> {
    let mut headers = vec![Header::words("system")];
    headers.extend(has_clients.then(|| Header::numbers("clients", "")));
    let numbers = [
        "tests",
        "min",
        "max",
        "average",
        "median",
        "geometric mean",
        "95 % interval",
    ];
    headers.extend(numbers.map(|text| Header::numbers(text, "")));
    headers
}

fn rows_of(view: &View<'_>, group: &StepGroup, counts: &[Option<u32>]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for system in view.candidates() {
        for count in counts {
            let steps = group.places.clone();
            let steps = steps.filter_map(|place| view.steps.get(place));
            let compared: Vec<&Comparison> = steps
                .filter(|step: &&StepInfo| count.is_none_or(|count| step.clients == count))
                .filter(|step| view.is_of_throughput(step))
                .filter_map(|step| view.comparison(system.name, step, MetricId::RATE))
                .collect();
            let Some(summary) = summarise(&compared) else {
                continue;
            };
            let mut cells = vec![Cell::text(system.name)];
            cells.extend(count.map(|n| Cell::number(f64::from(n), n.to_string())));
            cells.extend(numbers(&summary));
            rows.push(cells);
        }
    }
    rows
}

fn numbers(summary: &GroupSummary) -> Vec<Cell> {
    let tests = Cell::number(f64::from(summary.tests), summary.tests.to_string());
    let ratios = [
        summary.min,
        summary.max,
        summary.average,
        summary.median,
        summary.geometric_mean,
    ];
    let ratios = ratios.map(|ratio| Cell::number(ratio, format::ratio(ratio)));
    let ends = summary.ends.map_or_else(Cell::absent, |(low, high)| {
        Cell::text(format!("[{}, {}]", format::ratio(low), format::ratio(high)))
    });
    std::iter::once(tests).chain(ratios).chain([ends]).collect()
}
