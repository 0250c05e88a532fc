//! What an operation costs the server, the host and the client, what grew, what failed, and what each metric is.

use std::collections::BTreeMap;

use model::{Direction, Group, Metric, Part, Step, Unit, describe, metrics};

use super::grid::systems_in_step;
use crate::report::At;
use crate::{Cell, Columns, Header, Report, Table, Tone, format};

fn all_costs() -> impl Iterator<Item = &'static Metric> {
    metrics().filter(|metric| matches!(metric.part, Part::Cost { .. }))
}

fn all_sizes() -> impl Iterator<Item = &'static Metric> {
    metrics().filter(|metric| metric.part == Part::Size)
}

/// What can go wrong with operations: the columns of every table of them.
pub(super) fn error_columns() -> impl Iterator<Item = &'static Metric> {
    metrics().filter(|metric| matches!(metric.part, Part::Errors { .. }))
}

impl Report<'_> {
    /// Cost per operation of one group (server, host, client): a table systems × steps for each metric.
    pub fn costs(&self, group: Group, relative: bool) -> Vec<Table> {
        self.cost_metrics(group).map(|metric| self.cost(metric, relative)).collect()
    }

    /// The costs of a group that were measured, and of which tables list a step.
    pub(crate) fn cost_metrics(&self, group: Group) -> impl Iterator<Item = &'static Metric> {
        let listed = |metric: &str| self.steps.iter().any(|step| self.lists(step, metric));
        all_costs().filter(move |metric| metric.group == group && listed(metric.id))
    }

    pub(crate) fn has_costs(&self) -> bool {
        all_costs().any(|metric| self.has(metric.id))
    }

    pub(crate) fn cost(&self, metric: &Metric, is_relative: bool) -> Table {
        let (relative, note) = if is_relative {
            (", relative", "Relative to the base; below 1 is cheaper.")
        } else {
            ("", self.note_of_cost(metric))
        };
        let title = format!("{}: {}{relative}", metric.id, metric.title);
        self.grid_of_metric(metric.id, (title, note), is_relative, |step| {
            self.lists(step, metric.id)
        })
    }

    /// How to get from microseconds of the whole host to the unit of the published microbenchmarks, which is per
    /// cent of the whole machine times seconds: 1 µs is 10⁻⁶ s of one of n CPUs, so 10⁻⁴ / n per cent of all.
    fn note_of_cost(&self, metric: &Metric) -> &'static str {
        let is_cpu_of_host = metric.group == Group::Host && metric.unit == Some(Unit::MicrosPerOp);
        if !is_cpu_of_host || !self.is_by_step() {
            return "Median over the rounds.";
        }
        "Median over the rounds, of all CPUs that the host has online. Divided by 10,000 × their number it is the cpu/o of the published tables, per cent of the machine times seconds."
    }

    /// Cost per operation in one step: systems × metrics of all three groups; `None` without any.
    pub fn step_costs(&self, step: &Step, is_relative: bool) -> Option<Table> {
        let measured = all_costs().filter_map(|metric| Some((metric, self.unit(step, metric.id)?)));
        let measured: Vec<(&Metric, Unit)> = measured.collect();
        let columns = measured.iter().map(|(metric, unit)| {
            let unit = if is_relative { "" } else { format::header_unit(*unit) };
            (Header::numbers(metric.head, unit), move |at: &At<'_>| at.cell(metric.id, is_relative))
        });
        let title = if is_relative {
            "Cost per operation, relative to the base"
        } else {
            "Cost per operation"
        };
        let table = systems_in_step().each(columns).table(title, "", self.each_at(step));
        (!measured.is_empty()).then_some(table)
    }

    pub(crate) fn has_sizes(&self) -> bool {
        all_sizes().any(|metric| self.has(metric.id))
    }

    /// Sizes on disk and memory after each step: a table systems × steps for each metric.
    pub fn sizes(&self) -> Vec<Table> {
        let table = |metric: &Metric| {
            let title = format!("{}: {}", metric.id, metric.title);
            let what = (title, "After the step; median over the rounds.");
            self.grid_of_metric(metric.id, what, false, |step| self.lists(step, metric.id))
        };
        let tables = all_sizes().filter(|metric| self.has(metric.id)).map(table);
        tables.filter(|table| !self.differing_only || table.has_rows()).collect()
    }

    /// Failed and repeated operations, all rounds together; `None` when there were none.
    pub fn errors(&self) -> Option<Table> {
        let mut rows = Vec::new();
        for step in self.steps.iter() {
            for kind in self.kinds(step) {
                for at in self.each_at(step) {
                    let cells: Vec<Cell> =
                        error_columns().map(|metric| at.tally(metric, &kind)).collect();
                    if cells.iter().any(|cell| cell.value.is_some_and(|sum| sum > 0.0)) {
                        let names = [at.system.name, &self.label(step), &kind].map(Cell::text);
                        let none = |cell: Cell| {
                            if cell.value.is_some() { cell } else { Cell::count(0.0) }
                        };
                        rows.push(names.into_iter().chain(cells.into_iter().map(none)).collect());
                    }
                }
            }
        }
        let words = ["system", "step", "operation"].map(Header::words).into_iter();
        let headers =
            words.chain(error_columns().map(|metric| Header::numbers(metric.head, "count")));
        let note = "All rounds together. Failed operations are in no rate and no latency.";
        Table::new("Failed and repeated operations", note, headers.collect(), rows).unless_empty()
    }
}

impl At<'_> {
    /// The sum over the rounds, marked where operations were lost.
    pub(super) fn tally(self, metric: &Metric, kind: &str) -> Cell {
        let Some(sum) = self.over_rounds(&metric.of_kind(kind).0) else { return Cell::absent() };
        let is_lost = metric.part == Part::Errors { lost: true } && sum > 0.0;
        Cell::count(sum).with_tone(if is_lost { Tone::Missed } else { Tone::Plain })
    }
}

impl Report<'_> {
    /// What each metric of this run is, its unit and its margin.
    pub fn metrics(&self) -> Table {
        let mut measured: BTreeMap<(Group, &str), (Unit, &Metric)> = BTreeMap::new();
        for cell in &self.input.data.cells {
            if let Some(is) = describe(&cell.metric) {
                measured.entry((is.group, is.id)).or_insert((cell.unit, is));
            }
        }
        let used = margins_used(self);
        let unit = |is: &Metric, unit: Unit| {
            if is.unit.is_some() { unit.name() } else { "rows/s, ops/s or statements/s" }
        };
        let note = format!(
            "Per operation means {}. The margin is the smallest change worth reporting.",
            per_operation(self),
        );
        Columns::new()
            .words("metric", |(_, is): &(Unit, &Metric)| {
                Cell::text(is.id.replace("{kind}", "<kind>"))
            })
            .words("what it is", |(_, is)| Cell::text(is.title))
            .words("unit", |(of, is)| Cell::text(unit(is, *of)))
            .words("better is", |(_, is)| {
                Cell::text(match is.direction {
                    Direction::Higher => "higher",
                    Direction::Lower => "lower",
                    Direction::Neither => "not judged",
                })
            })
            .numbers("margin", "%", |(_, is)| {
                let (least, most) = used.get(is.id).copied().unwrap_or((is.margin, is.margin));
                margin(100.0 * least, 100.0 * most)
            })
            .table("Metrics", note, measured.into_values())
    }
}

fn per_operation(report: &Report<'_>) -> &'static str {
    let workload = &report.input.data.info.plan.workload;
    if workload.insert().is_some() {
        "per inserted or indexed row in the load steps and per query in the query steps"
    } else if workload.tpcc().is_some() {
        "per completed New-Order where transactions run, and per row where tables are loaded or indexed"
    } else {
        "per statement, BEGIN and COMMIT among them, in steps of one operation, per whole operation in steps that mix several, and per row where tables are loaded, indexed or scanned"
    }
}

/// By metric, the smallest and the largest that verdicts had: a plan may set one for each operation kind.
fn margins_used(report: &Report<'_>) -> BTreeMap<&'static str, (f64, f64)> {
    let mut margins: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for one in report.input.comparisons {
        if let (Some(evidence), Some(is)) = (&one.evidence, describe(&one.metric)) {
            let (least, most) = margins.entry(is.id).or_insert((evidence.margin, evidence.margin));
            (*least, *most) = (least.min(evidence.margin), most.max(evidence.margin));
        }
    }
    margins
}

/// The margins of a family, in per cent: `2.0`, or `1.0 to 5.0`.
fn margin(least: f64, most: f64) -> Cell {
    let [from, to] = [least, most].map(format::percent);
    let text = if from == to { from } else { format!("{from} to {to}") };
    Cell::number(least, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_of_a_family_that_differ_are_a_range() {
        assert_eq!(margin(2.0, 2.0).text, "2.0");
        assert_eq!(margin(1.0, 5.0).text, "1.0 to 5.0");
    }
}
