//! Throughput, writes, CPU and size of one step: the columns of the published tables, and what corrects
//! them.

use model::{Metric, MetricId, RunTable, Step, metrics};

use super::super::grid::{self, named};
use super::families::by_engine;
use crate::transactions::{all_missed, client_share};
use crate::{Cell, Header, Report, Seen, Table, Tone, format};

/// A metric and the head of its column.
type Column = (&'static Metric, &'static str);

/// The columns of a table, in their order.
fn columns(table: RunTable) -> Vec<Column> {
    let of_table = metrics().filter_map(|metric| {
        let column = metric.run.filter(|column| column.table == table)?;
        Some((column.place, (metric, column.head)))
    });
    let mut columns: Vec<(u8, Column)> = of_table.collect();
    columns.sort_by_key(|(place, _)| *place);
    columns.into_iter().map(|(_, column)| column).collect()
}

/// The columns of the published tables.
pub(crate) fn published(report: &Report<'_>, step: &Step) -> Table {
    let cpus = format::plural(report.input.data.info.host.shape.cpus as usize, "CPU");
    let columns = columns(RunTable::Published);
    let headers = headers(report, step, &columns);
    let rows = by_engine(report, headers.len(), |system| cells(report, system, step, &columns));
    let note = format!(
        "Medians over the rounds; the columns of the published tables: wMB/s, MB of 1,000 KB written per second; wkb/t, KB written per second over tpmc; tpmc, New-Orders per minute, those rolled back on purpose included; cpu/s, busy time of all {cpus}, client included; Mcpu/t, a million times cpu/s over tpmc; size, the instance's allocated blocks after the step."
    );
    Table::new(format!("Run, {}", report.label(step)), note, headers, rows)
}

/// What can be compared between hosts too; what was not measured is left out.
pub(crate) fn corrected(report: &Report<'_>, step: &Step) -> Table {
    let mut columns = columns(RunTable::Corrected);
    columns.retain(|(metric, _)| report.unit(step, metric.id).is_some());
    let mut headers = headers(report, step, &columns);
    headers.push(Header::numbers("client", "%"));
    let rows = by_engine(report, headers.len(), |system| {
        let mut row = cells(report, system, step, &columns);
        let share = client_share(report, system.name, step).map(|share| 100.0 * share);
        row.push(Cell::of(share, format::percent));
        row
    });
    let note = "Medians over the rounds: nopm, New-Orders per minute that were committed; costs per operation (/o), per completed New-Order; tables, with their indexes; grown, KB per committed New-Order; client, its share of the CPU time of client and server.";
    Table::new(format!("Run, {}, corrected", report.label(step)), note, headers, rows)
}

fn headers(report: &Report<'_>, step: &Step, columns: &[Column]) -> Vec<Header> {
    grid::headers(columns.iter().map(|(metric, head)| {
        let unit = report.unit(step, metric.id).map_or("", format::header_unit);
        Header::numbers(*head, unit)
    }))
}

fn cells(report: &Report<'_>, system: &Seen<'_>, step: &Step, columns: &[Column]) -> Vec<Cell> {
    let values = columns.iter().map(|(metric, _)| cell(report, system, step, metric.id));
    named(system, values.collect())
}

fn cell(report: &Report<'_>, system: &Seen<'_>, step: &Step, metric: &str) -> Cell {
    let cell = report.absolute_cell(system, step, metric);
    if metric == MetricId::TPMC && !all_missed(report, system.name, step).is_empty() {
        cell.marked(Tone::Missed, "limit missed")
    } else {
        cell
    }
}
