//! Throughput, writes, CPU and size of one step: the columns of the published tables, and what corrects
//! them.

use model::{MetricId, StepInfo};

use super::super::grid::{absolute_cell, name};
use super::families::by_engine;
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::transactions::all_missed;
use crate::view::{Seen, View};

/// The published columns and their metrics.
const PUBLISHED: [(&str, &str); 6] = [
    ("wMB/s", "wMB/s"),
    ("wkb/t", "wkb/t"),
    (MetricId::TPMC, MetricId::TPMC),
    ("cpu/s", "cpu/s"),
    ("Mcpu/t", "Mcpu/t"),
    ("size", "size.allocated"),
];

/// Ours; those that were not measured are left out.
const OURS: [(&str, &str); 7] = [
    ("nopm", "nopm"),
    ("wKB/o", "wKB/o"),
    ("cpu/o", "cpu/o"),
    ("server.cpu/o", "server.cpu/o"),
    ("tables", "size.data"),
    ("grown", "grown.allocated"),
    ("tables grown", "grown.data"),
];

pub(crate) fn run(view: &View<'_>, step: &StepInfo) -> Table {
    let ours = OURS
        .into_iter()
        .filter(|(_, metric)| view.unit(step, metric).is_some());
    let columns: Vec<(&str, &str)> = PUBLISHED.into_iter().chain(ours).collect();
    let mut headers = vec![Header::words("system")];
    headers.extend(columns.iter().map(|(head, metric)| {
        let unit = view.unit(step, metric).map_or("", format::header_unit);
        Header::numbers(*head, unit)
    }));
    headers.push(Header::numbers("client", "%"));
    let rows = by_engine(view, headers.len(), |system| {
        let values = columns
            .iter()
            .map(|(_, metric)| cell(view, system, step, metric));
        std::iter::once(name(system))
            .chain(values)
            .chain([client(view, system, step)])
            .collect()
    });
    Table {
        title: format!("Run, {}", view.label(step)),
        note: note(view),
        headers,
        rows,
    }
}

fn note(view: &View<'_>) -> String {
    format!(
        "Medians over the rounds. As published tables have them: wMB/s, MB of 1,000 KB written per second; wkb/t, KB written per second over tpmc; tpmc, New-Orders per minute, those rolled back on purpose included; cpu/s, busy time of all {}, client included; Mcpu/t, a million times cpu/s over tpmc; size, the instance's allocated blocks after the step. Beside them: nopm, New-Orders that were committed; costs per operation (/o), per completed New-Order; tables, with their indexes; grown, KB per committed New-Order; client, its share of the CPU time of client and server.",
        format::plural(view.input.data.info.host.shape.cpus as usize, "CPU")
    )
}

fn cell(view: &View<'_>, system: &Seen<'_>, step: &StepInfo, metric: &str) -> Cell {
    let cell = absolute_cell(view, system, step, metric);
    if metric == MetricId::TPMC && !all_missed(view, system.name, step).is_empty() {
        cell.marked(Tone::Missed, "limit missed")
    } else {
        cell
    }
}

/// The client's share of the CPU time of client and server; absent where there is no server to watch.
fn client(view: &View<'_>, system: &Seen<'_>, step: &StepInfo) -> Cell {
    let share = || {
        let client = view.median(system.name, step, "client.cpu/o")?;
        let server = view.median(system.name, step, "server.cpu/o")?;
        Some(100.0 * client / (client + server)).filter(|share| share.is_finite())
    };
    share().map_or_else(Cell::absent, |share| {
        Cell::number(share, format::percent(share))
    })
}
