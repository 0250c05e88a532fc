//! What an operation costs the server, the host and the client, what grew, and what failed.

use model::{Group, Metric, Part, Step, Unit, metrics};

use super::grid::Grid;
use crate::report::At;
use crate::{Cell, Header, Report, Table, Tone, format};

/// All costs, in the order in which tables list them.
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

    /// One cost: a table systems × steps.
    pub(crate) fn cost(&self, metric: &Metric, is_relative: bool) -> Table {
        let (relative, note) = if is_relative {
            (", relative", "Relative to the base; below 1 is cheaper.".to_owned())
        } else {
            ("", self.note_of_cost(metric))
        };
        let title = format!("{}: {}{relative}", metric.id, metric.title);
        let what = Grid { title, note: &note, is_relative };
        self.grid_of_metric(metric.id, what, |step| self.lists(step, metric.id))
    }

    /// How to get from microseconds of the whole host to the unit of the published microbenchmarks, which is per
    /// cent of the whole machine times seconds: 1 µs is 10⁻⁶ s of one of n CPUs, so 10⁻⁴ / n per cent of all.
    fn note_of_cost(&self, metric: &Metric) -> String {
        let cpus = u64::from(self.input.data.info.host.shape.cpus);
        let is_cpu_of_host = metric.group == Group::Host && metric.unit == Some(Unit::MicrosPerOp);
        if !is_cpu_of_host || !self.is_by_step() || cpus == 0 {
            return "Median over the rounds.".to_owned();
        }
        format!(
            "Median over the rounds. Divided by {} (10,000 × {}) it is the cpu/o of the published tables, per cent of the machine times seconds.",
            format::count(10_000 * cpus),
            format::plural(cpus as usize, "CPU")
        )
    }

    /// Cost per operation in one step: systems × metrics of all three groups; `None` without any.
    pub fn step_costs(&self, step: &Step, is_relative: bool) -> Option<Table> {
        let measured = all_costs().filter_map(|metric| Some((metric, self.unit(step, metric.id)?)));
        let measured: Vec<(&Metric, Unit)> = measured.collect();
        let columns = measured.iter().map(|(metric, unit)| {
            let unit = if is_relative { "" } else { format::header_unit(*unit) };
            Header::numbers(metric.head, unit)
        });
        let title = if is_relative {
            "Cost per operation, relative to the base"
        } else {
            "Cost per operation"
        };
        let table = self.by_system(title, "", columns, |system| {
            let at = self.at(system, step);
            measured.iter().map(|(metric, _)| at.cell(metric.id, is_relative)).collect()
        });
        (!measured.is_empty()).then_some(table)
    }
    pub(crate) fn has_sizes(&self) -> bool {
        all_sizes().any(|metric| self.has(metric.id))
    }

    /// Sizes on disk and memory after each step: a table systems × steps for each metric.
    pub fn sizes(&self) -> Vec<Table> {
        let table = |metric: &Metric| {
            let what = Grid {
                title: format!("{}: {}", metric.id, metric.title),
                note: "After the step; median over the rounds.",
                is_relative: false,
            };
            self.grid_of_metric(metric.id, what, |step| self.lists(step, metric.id))
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
        let title = "Failed and repeated operations";
        Table::new(title, note, headers.collect(), rows).unless_empty()
    }
}

impl At<'_> {
    /// The sum over the rounds, marked where operations were lost.
    pub(super) fn tally(self, metric: &Metric, kind: &str) -> Cell {
        let Some(sum) = self.over_rounds(&metric.of_kind(kind).0) else {
            return Cell::absent();
        };
        let is_lost = metric.part == Part::Errors { lost: true } && sum > 0.0;
        Cell::count(sum).with_tone(if is_lost { Tone::Missed } else { Tone::Plain })
    }
}
