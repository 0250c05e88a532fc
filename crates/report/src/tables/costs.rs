//! What an operation costs the server, the host and the client.

use model::{Group, Metric, Part, Step, Unit, metrics};

use super::grid::Grid;
use crate::{Header, Report, Table, format};

/// All costs, in the order in which tables list them.
fn all() -> impl Iterator<Item = &'static Metric> {
    metrics().filter(|metric| matches!(metric.part, Part::Cost { .. }))
}

impl Report<'_> {
    /// Cost per operation of one group (server, host, client): a table systems × steps for each metric.
    pub fn costs(&self, group: Group, relative: bool) -> Vec<Table> {
        self.cost_metrics(group).map(|metric| self.cost(metric, relative)).collect()
    }

    /// The costs of a group that were measured, and of which tables list a step.
    pub(crate) fn cost_metrics(&self, group: Group) -> impl Iterator<Item = &'static Metric> {
        let listed = |metric: &str| self.steps.iter().any(|step| self.lists(step, metric));
        all().filter(move |metric| metric.group == group && listed(metric.id))
    }

    pub(crate) fn has_costs(&self) -> bool {
        all().any(|metric| self.has(metric.id))
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
        let measured = all().filter_map(|metric| Some((metric, self.unit(step, metric.id)?)));
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
            let cells = measured.iter();
            cells.map(|(metric, _)| self.cell(system, step, metric.id, is_relative)).collect()
        });
        (!measured.is_empty()).then_some(table)
    }
}
