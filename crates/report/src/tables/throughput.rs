//! The summary tables that readers of the published reports know.

use model::{Comparison, MetricId, Step};
use stats::{GroupSummary, summarise};

use crate::report::At;
use crate::{Cell, Columns, Report, StepGroup, Table, Tone, format};

impl Report<'_> {
    /// Throughput: systems × steps.
    pub fn absolute(&self) -> Table {
        self.absolute_of(|_| true)
    }

    pub(super) fn absolute_of(&self, has: impl Fn(&Step) -> bool) -> Table {
        let what = ("Throughput".to_owned(), absolute_note(self));
        self.grid(what, false, has, |step| self.rate_unit_name(step), rate_cell)
    }

    /// Throughput relative to the base: systems × steps.
    pub fn relative(&self) -> Table {
        self.relative_of(|_| true)
    }

    /// Of the steps for which `has` says yes, as far as throughput decides them: where operations arrive by
    /// themselves, it is the plan's.
    pub(super) fn relative_of(&self, has: impl Fn(&Step) -> bool) -> Table {
        let what = (
            format!("Throughput relative to {}", self.base),
            "Above 1 is faster than the base. Geometric mean of the paired ratios of all rounds; marked where the verdict is certain and large enough to matter.",
        );
        let has = |step: &Step| has(step) && step.is_of_throughput();
        self.grid_of_metric(MetricId::RATE, what, true, has)
    }

    /// Achieved background insert rate against its target; `None` where no step has one.
    pub fn background(&self) -> Option<Table> {
        let least = sla_percent(self).filter(|_| self.steps.iter().any(has_background))?;
        let note = format!(
            "Rows per second that the background writers inserted, all clients together, median over the rounds. Missed: rounds whose mean is below {least} % of the target."
        );
        let what = ("Background insert rate against its target".to_owned(), note.as_str());
        let cell = |at: At<'_>| at.absolute("rows.insert").missed_in(missed_rounds(at));
        let mut table = self.grid(what, false, has_background, |_| "rows/s", cell);
        let targets = self.steps.iter().filter(|step| has_background(step));
        let cells = targets.map(|step| Cell::count(step.target_rate.unwrap_or_default() as f64));
        let row = std::iter::once(Cell::text("target")).chain(cells);
        table.rows.push(row.map(|cell| cell.with_tone(Tone::Muted)).collect());
        Some(table)
    }
}

pub(super) fn absolute_note(report: &Report<'_>) -> &'static str {
    let workload = &report.input.data.info.plan.workload;
    if workload.insert().is_some() {
        "Median over the rounds of inserted or indexed rows per second (l.*) and queries per second (q*)."
    } else if workload.tpcc().is_none() {
        "Median over the rounds. Steps of one operation count its statements, including BEGIN and COMMIT. Steps that mix several count whole operations. Steps that load, index or scan tables count rows."
    } else {
        "Median over the rounds of rows per second where tables are loaded and indexed, and of completed New-Orders per second (60 times that is tpmc) where transactions run."
    }
}

/// The throughput of a system in a step, and whether it fell short of what was asked.
pub(super) fn rate_cell(at: At<'_>) -> Cell {
    let cell = at.absolute(MetricId::RATE);
    if missed_rounds(at).is_some_and(|(missed, _)| missed > 0) {
        cell.marked(Tone::Missed, "SLA missed")
    } else if at.is_unsustained() {
        cell.marked(Tone::Missed, "not sustained")
    } else {
        cell
    }
}

/// Has this step paced writers beside what it is about?
fn has_background(step: &Step) -> bool {
    step.target_rate.is_some() && step.subject.kind != "insert"
}

/// Rounds in which the background writers missed the target, and all; `None` where there is none.
fn missed_rounds(at: At<'_>) -> Option<(usize, usize)> {
    let least = sla_percent(at.report).filter(|_| has_background(at.step))?;
    let share = &at.values("sla.insert")?.rounds;
    Some((share.iter().filter(|(_, v)| *v < f64::from(least)).count(), share.len()))
}

/// `None` where steps have no background writers: open loops have a judgement of their own.
fn sla_percent(report: &Report<'_>) -> Option<u32> {
    report.input.data.info.plan.workload.insert().map(|spec| spec.sla_percent)
}

/// A system, a client count where there are several, and a group of tests.
type Summarised<'r> = (&'r str, Option<u32>, GroupSummary);

impl Report<'_> {
    /// A row a candidate (and client count) under the heading of each group; `None` without groups or comparisons.
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
        let groups = self.groups.iter().filter(|group| !group.title.is_empty());
        let parts = groups.map(|group| (group.title.clone(), summaries(self, group, &counts)));
        let note = "Ratios of throughput over the tests of a group: smallest, largest, arithmetic mean (average), middle one (median), and geometric mean with the 95 % interval that the rounds give it. It is narrower than each test's interval where the tests scatter independently. Above 1 is faster than the base.";
        let title = format!("Groups of tests relative to {}", self.base);
        columns.in_parts(title, note, parts).unless_empty()
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
            // Of a single test the other tables say more.
            let several =
                summarise(&compared, &report.input.data.info.hosts).filter(|of| of.tests > 1);
            summaries.extend(several.map(|of| (system.name, *count, of)));
        }
    }
    summaries
}
