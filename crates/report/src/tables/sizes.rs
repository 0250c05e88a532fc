//! Sizes on disk and in memory.

use model::{MetricId, StepInfo, describe};

use super::grid::{absolute_cell, grid};
use crate::table::Table;
use crate::view::View;

const SIZES: [&str; 5] = [
    "size.data",
    "size.log",
    "size.total",
    "size.allocated",
    "server.rss",
];

pub(crate) fn sizes(view: &View<'_>) -> Vec<Table> {
    let table = |metric: &'static str| {
        let title = describe(&MetricId::new(metric)).map_or("", |d| d.title);
        grid(
            view,
            format!("{metric}: {title}"),
            "After the step; median over the rounds.",
            |step: &StepInfo| view.unit(step, metric).is_some(),
            |_| "",
            |system, step| absolute_cell(view, system, step, metric),
        )
    };
    SIZES
        .into_iter()
        .filter(|m| view.has(m))
        .map(table)
        .collect()
}
