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

/// What corrects them; what was not measured is left out.
const CORRECTED: [(&str, &str); 7] = [
    ("nopm", "nopm"),
    ("wKB/o", "wKB/o"),
    ("cpu/o", "cpu/o"),
    ("server.cpu/o", "server.cpu/o"),
    ("tables", "size.data"),
    ("grown", "grown.allocated"),
    ("tables grown", "grown.data"),
];

/// The columns of the published tables.
pub(crate) fn published(view: &View<'_>, step: &StepInfo) -> Table {
    let cpus = format::plural(view.input.data.info.host.shape.cpus as usize, "CPU");
    Table {
        title: format!("Run, {}", view.label(step)),
        note: format!(
            "Medians over the rounds; the columns of the published tables: wMB/s, MB of 1,000 KB written per second; wkb/t, KB written per second over tpmc; tpmc, New-Orders per minute, those rolled back on purpose included; cpu/s, busy time of all {cpus}, client included; Mcpu/t, a million times cpu/s over tpmc; size, the instance's allocated blocks after the step."
        ),
        headers: headers(view, step, &PUBLISHED),
        rows: by_engine(view, PUBLISHED.len() + 1, |system| {
            cells(view, system, step, &PUBLISHED)
        }),
    }
}

/// What can be compared between hosts too.
pub(crate) fn corrected(view: &View<'_>, step: &StepInfo) -> Table {
    let columns = CORRECTED.into_iter();
    let columns: Vec<(&str, &str)> = columns
        .filter(|(_, metric)| view.unit(step, metric).is_some())
        .collect();
    let mut headers = headers(view, step, &columns);
    headers.push(Header::numbers("client", "%"));
    let rows = by_engine(view, headers.len(), |system| {
        let mut row = cells(view, system, step, &columns);
        row.push(client(view, system, step));
        row
    });
    Table {
        title: format!("Run, {}, corrected", view.label(step)),
        note: "Medians over the rounds: nopm, New-Orders per minute that were committed; costs per operation (/o), per completed New-Order; tables, with their indexes; grown, KB per committed New-Order; client, its share of the CPU time of client and server.".to_owned(),
        headers,
        rows,
    }
}

fn headers(view: &View<'_>, step: &StepInfo, columns: &[(&str, &str)]) -> Vec<Header> {
    let columns = columns.iter().map(|(head, metric)| {
        let unit = view.unit(step, metric).map_or("", format::header_unit);
        Header::numbers(*head, unit)
    });
    std::iter::once(Header::words("system"))
        .chain(columns)
        .collect()
}

fn cells(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    columns: &[(&str, &str)],
) -> Vec<Cell> {
    let values = columns
        .iter()
        .map(|(_, metric)| cell(view, system, step, metric));
    std::iter::once(name(system)).chain(values).collect()
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
