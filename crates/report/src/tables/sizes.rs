//! Sizes on disk and in memory.

use model::{Metric, Part, metrics};

use super::grid::Grid;
use crate::{Report, Table};

fn all() -> impl Iterator<Item = &'static Metric> {
    metrics().filter(|metric| metric.part == Part::Size)
}

impl Report<'_> {
    pub(crate) fn has_sizes(&self) -> bool {
        all().any(|metric| self.has(metric.id))
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
        let tables = all().filter(|metric| self.has(metric.id)).map(table);
        tables.filter(|table| !self.differing_only || table.has_rows()).collect()
    }
}
