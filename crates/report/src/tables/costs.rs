//! What an operation costs the server, the host and the client.

use model::{Group, MetricId, StepInfo, Unit, describe};

use super::grid::{Grid, absolute_cell, grid, name, relative_cell};
use crate::format;
use crate::table::{Header, Table};
use crate::view::View;

/// The metrics of each group, in the order in which tables list them.
const COSTS: [&str; 20] = [
    "server.cpu/o",
    "server.user/o",
    "server.sys/o",
    "server.cs/o",
    "server.ics/o",
    "server.minflt/o",
    "server.majflt/o",
    "cpu/o",
    "compat.cpu/o",
    "cs/o",
    "r/o",
    "rKB/o",
    "w/o",
    "wKB/o",
    "d/o",
    "steal",
    "foreign",
    "client.cpu/o",
    "client.cpu",
    "client.rss",
];

pub(crate) fn costs(view: &View<'_>, group: Group, relative: bool) -> Vec<Table> {
    metrics_of(view, group)
        .map(|metric| cost(view, metric, relative))
        .collect()
}

/// The metrics of a group that were measured, and of which tables list a step.
pub(crate) fn metrics_of(view: &View<'_>, group: Group) -> impl Iterator<Item = &'static str> {
    COSTS.into_iter().filter(move |metric| {
        group_of(metric) == Some(group) && view.steps.iter().any(|step| view.lists(step, metric))
    })
}

/// Was any cost measured?
pub(crate) fn has_costs(view: &View<'_>) -> bool {
    COSTS.iter().any(|metric| view.has(metric))
}

/// One metric: a table systems × steps.
pub(crate) fn cost(view: &View<'_>, metric: &'static str, relative: bool) -> Table {
    let title = describe(&MetricId::new(metric)).map_or("", |d| d.title);
    let has = |step: &StepInfo| view.lists(step, metric);
    if relative {
        let what = Grid {
            title: format!("{metric}: {title}, relative"),
            note: "Relative to the base; below 1 is cheaper.",
            is_relative: true,
        };
        return grid(
            view,
            what,
            has,
            |_| "",
            |system, step| relative_cell(view, system, step, metric),
        );
    }
    let note = if metric == "cpu/o" && view.is_by_step() {
        field_unit(view)
    } else {
        "Median over the rounds.".to_owned()
    };
    let what = Grid {
        title: format!("{metric}: {title}"),
        note: &note,
        is_relative: false,
    };
    grid(
        view,
        what,
        has,
        |step| view.unit(step, metric).map_or("", format::header_unit),
        |system, step| absolute_cell(view, system, step, metric),
    )
}

/// How to get from microseconds to the unit of the published microbenchmarks, which is per cent of the
/// whole machine times seconds: 1 µs is 10⁻⁶ s of one of n CPUs, so 10⁻⁴ / n per cent of all.
fn field_unit(view: &View<'_>) -> String {
    let cpus = u64::from(view.input.data.info.host.shape.cpus);
    if cpus == 0 {
        return "Median over the rounds.".to_owned();
    }
    format!(
        "Median over the rounds. Divided by {} (10,000 × {}) it is the cpu/o of the published tables, per cent of the machine times seconds.",
        format::count(10_000 * cpus),
        format::plural(cpus as usize, "CPU")
    )
}

pub(crate) fn step_costs(view: &View<'_>, step: &StepInfo, relative: bool) -> Option<Table> {
    let metrics: Vec<(&str, Unit)> = COSTS
        .into_iter()
        .filter_map(|metric| Some((metric, view.unit(step, metric)?)))
        .collect();
    if metrics.is_empty() {
        return None;
    }
    let columns = metrics.iter().map(|(metric, unit)| {
        let unit = if relative {
            ""
        } else {
            format::header_unit(*unit)
        };
        Header::numbers(*metric, unit)
    });
    let rows = view.systems.iter().map(|system| {
        let values = metrics.iter().map(|(metric, _)| {
            if relative {
                relative_cell(view, system, step, metric)
            } else {
                absolute_cell(view, system, step, metric)
            }
        });
        std::iter::once(name(system)).chain(values).collect()
    });
    Some(Table {
        title: if relative {
            "Cost per operation, relative to the base".to_owned()
        } else {
            "Cost per operation".to_owned()
        },
        note: String::new(),
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    })
}

fn group_of(metric: &str) -> Option<Group> {
    describe(&MetricId::new(metric)).map(|d| d.group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_cost_is_a_metric_of_a_cost_group() {
        for metric in COSTS {
            let group = group_of(metric);
            assert!(
                matches!(group, Some(Group::Server | Group::Host | Group::Client)),
                "{metric}: {group:?}"
            );
        }
    }
}
