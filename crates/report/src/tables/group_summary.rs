//! Each group of tests in a few numbers, as the published summaries have them.

use model::{Comparison, MetricId};
use stats::{GroupSummary, summarise};

use super::grid::under_headings;
use crate::{Cell, Columns, Report, StepGroup, Table, format};

/// A system, a client count where there are several, and a group of tests.
type Summarised<'r> = (&'r str, Option<u32>, GroupSummary);

impl Report<'_> {
    /// A row a candidate, in a sweep a row a candidate and client count, under the heading of each group;
    /// `None` where the workload has no groups or nothing was compared.
    pub fn group_summary(&self) -> Option<Table> {
        let counts: Vec<Option<u32>> = match &self.sweep {
            Some(sweep) => sweep.clients.iter().map(|count| Some(*count)).collect(),
            None => vec![None],
        };
        let mut columns =
            Columns::new().words("system", |(name, ..): &Summarised<'_>| Cell::text(*name));
        if self.sweep.is_some() {
            let clients = |(_, count, _): &Summarised<'_>| Cell::count(count.unwrap_or(0).into());
            columns = columns.numbers("clients", "", clients);
        }
        let ratio = |ratio: f64| Cell::number(ratio, format::ratio(ratio));
        let columns = columns
            .numbers("tests", "", |(.., of)| Cell::count(of.tests.into()))
            .numbers("min", "", move |(.., of)| ratio(of.min))
            .numbers("max", "", move |(.., of)| ratio(of.max))
            .numbers("average", "", move |(.., of)| ratio(of.average))
            .numbers("median", "", move |(.., of)| ratio(of.median))
            .numbers("geometric mean", "", move |(.., of)| ratio(of.geometric_mean))
            .numbers("95 % interval", "", |(.., of)| {
                let text =
                    |(low, high)| format!("[{}, {}]", format::ratio(low), format::ratio(high));
                of.ends.map(text).map_or_else(Cell::absent, Cell::text)
            });
        let headers = columns.headers();
        let groups = self.groups.iter().filter(|group| !group.title.is_empty());
        let parts = groups.map(|group| {
            let rows = summaries(self, group, &counts);
            (group.title.clone(), rows.iter().map(|row| columns.row(row)).collect())
        });
        let rows = under_headings(parts, headers.len());
        let note = "Ratios of throughput over the tests of a group: smallest, largest, arithmetic mean (average), middle one (median), and geometric mean with the 95 % interval that the rounds give it. Above 1 is faster than the base.";
        let title = format!("Groups of tests relative to {}", self.base);
        Table::new(title, note, headers, rows).unless_empty()
    }
}

fn summaries<'r>(
    report: &'r Report<'_>,
    group: &StepGroup,
    counts: &[Option<u32>],
) -> Vec<Summarised<'r>> {
    let mut summaries = Vec::new();
    for system in report.candidates() {
        for count in counts {
            let steps = report.steps_of(group).iter().filter(|step| step.is_of_throughput());
            let compared: Vec<&Comparison> = steps
                .filter(|step| count.is_none_or(|count| step.clients == count))
                .filter_map(|step| report.at(system, step).comparison(MetricId::RATE))
                .collect();
            summaries.extend(summarise(&compared).map(|of| (system.name, *count, of)));
        }
    }
    summaries
}
