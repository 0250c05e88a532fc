//! Sizes on disk and in memory.

use model::{MetricId, StepInfo, describe};

use super::grid::{Grid, absolute_cell, grid};
use crate::table::Table;
use crate::view::View;

const SIZES: [&str; 5] = [
    "size.data",
    "size.log",
    "size.total",
    "size.allocated",
    "server.rss",
];

/// Was any size measured?
pub(crate) fn has_sizes(view: &View<'_>) -> bool {
    SIZES.iter().any(|metric| view.has(metric))
}

pub(crate) fn sizes(view: &View<'_>) -> Vec<Table> {
    let table = |metric: &'static str| {
        let title = describe(&MetricId::new(metric)).map_or("", |d| d.title);
        grid(
            view,
            Grid {
                title: format!("{metric}: {title}"),
                note: "After the step; median over the rounds.",
                is_relative: false,
            },
            |step: &StepInfo| view.lists(step, metric),
            |_| "",
            |system, step| absolute_cell(view, system, step, metric),
        )
    };
    SIZES
        .into_iter()
        .filter(|m| view.has(m))
        .map(table)
        .filter(|table| !view.differing_only || table.has_rows())
        .collect()
}
