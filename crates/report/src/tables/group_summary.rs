//! Each group of tests in a few numbers, as the published summaries have them.

use model::{Comparison, MetricId, Step};
use stats::{GroupSummary, summarise};

use super::grid::under_headings;
use crate::{Cell, Header, Report, StepGroup, Table, format};

impl Report<'_> {
    /// A row a candidate, in a sweep a row a candidate and client count, under the heading of each group;
    /// `None` where the workload has no groups or nothing was compared.
    pub fn group_summary(&self) -> Option<Table> {
        let counts: Vec<Option<u32>> = match &self.sweep {
            Some(sweep) => sweep.clients.iter().map(|count| Some(*count)).collect(),
            None => vec![None],
        };
        let headers = headers(self.sweep.is_some());
        let groups = self.groups.iter().filter(|group| !group.title.is_empty());
        let parts = groups.map(|group| (group.title.clone(), rows_of(self, group, &counts)));
        let rows = under_headings(parts, headers.len());
        let note = "Ratios of throughput over the tests of a group: smallest, largest, arithmetic mean (average), middle one (median), and geometric mean with the 95 % interval that the rounds give it. Above 1 is faster than the base.";
        let title = format!("Groups of tests relative to {}", self.base);
        Table::new(title, note, headers, rows).unless_empty()
    }
}

fn headers(has_clients: bool) -> Vec<Header> {
    let mut headers = vec![Header::words("system")];
    headers.extend(has_clients.then(|| Header::numbers("clients", "")));
    let numbers = ["tests", "min", "max", "average", "median", "geometric mean", "95 % interval"];
    headers.extend(numbers.map(|text| Header::numbers(text, "")));
    headers
}

fn rows_of(report: &Report<'_>, group: &StepGroup, counts: &[Option<u32>]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for system in report.candidates() {
        for count in counts {
            let compared: Vec<&Comparison> = report
                .steps_of(group)
                .iter()
                .filter(|step: &&Step| count.is_none_or(|count| step.clients == count))
                .filter(|step| step.is_of_throughput())
                .filter_map(|step| report.at(system, step).comparison(MetricId::RATE))
                .collect();
            let Some(summary) = summarise(&compared) else {
                continue;
            };
            let mut cells = vec![Cell::text(system.name)];
            cells.extend(count.map(|n| Cell::count(n.into())));
            cells.extend(numbers(&summary));
            rows.push(cells);
        }
    }
    rows
}

fn numbers(summary: &GroupSummary) -> Vec<Cell> {
    let tests = Cell::count(summary.tests.into());
    let ratios =
        [summary.min, summary.max, summary.average, summary.median, summary.geometric_mean];
    let ratios = ratios.map(|ratio| Cell::number(ratio, format::ratio(ratio)));
    let ends = summary.ends.map_or_else(Cell::absent, |(low, high)| {
        Cell::text(format!("[{}, {}]", format::ratio(low), format::ratio(high)))
    });
    std::iter::once(tests).chain(ratios).chain([ends]).collect()
}
