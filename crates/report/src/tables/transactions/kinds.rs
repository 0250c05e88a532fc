//! Each kind of transaction in one step.

use model::{Clock, MetricId, ROLLBACK, Step, TpccTransaction};

use super::super::errors;
use super::super::grid::{headers, named, under_headings};
use crate::transactions::spec;
use crate::{Cell, Header, Report, Seen, Table};

impl Report<'_> {
    /// A row a system under the heading of each kind; `None` for steps that run no transactions, and for other
    /// workloads.
    pub(crate) fn transaction_kinds(&self, step: &Step) -> Option<Table> {
        spec(self).filter(|_| step.subject.kind == TpccTransaction::NewOrder.name())?;
        let clock = clock(self, step);
        let errors = errors::columns().map(|metric| Header::numbers(metric.head, "count"));
        let times = clock.metrics().map(|metric| Header::numbers(metric.head, ""));
        let rate = [Header::numbers("rate", "ops/s")].into_iter();
        let headers =
            headers(rate.chain(errors).chain(times).chain([Header::numbers("in limit", "%")]));
        let kinds = TpccTransaction::ALL.map(TpccTransaction::name).into_iter().chain([ROLLBACK]);
        let ran = kinds.filter(|kind| self.unit(step, &format!("rate.{kind}")).is_some());
        let parts = ran.map(|kind| {
            let rows = self.systems.iter().map(|system| row(self, system, step, (kind, clock)));
            (heading(kind).to_owned(), rows.collect())
        });
        let rows = under_headings(parts, headers.len());
        let note = format!(
            "Rates, {} times and shares that kept their limit are medians over the rounds, max is the longest of all rounds; failed and repeated are of all rounds together. New-Orders that are rolled back on purpose are New-Orders too.",
            clock.word()
        );
        let title = format!("{}: each kind of transaction", self.label(step));
        Table::new(title, note, headers, rows).unless_empty()
    }
}

/// Where transactions have an intended start, from that.
fn clock(report: &Report<'_>, step: &Step) -> Clock {
    let scheduled = Clock::Response.metric("p50").map(|metric| metric.of_kind(&step.subject.kind));
    match scheduled.and_then(|metric| report.unit(step, &metric.0)) {
        Some(_) => Clock::Response,
        None => Clock::Service,
    }
}

fn heading(kind: &str) -> &str {
    if kind == ROLLBACK { "new-order, rolled back on purpose" } else { kind }
}

fn row(
    report: &Report<'_>,
    system: &Seen<'_>,
    step: &Step,
    (kind, clock): (&str, Clock),
) -> Vec<Cell> {
    let mut cells = vec![report.absolute_cell(system, step, &format!("rate.{kind}"))];
    cells.extend(errors::columns().map(|metric| report.tally(system, step, metric, kind)));
    cells.extend(report.times(system, step, kind, clock));
    cells.push(report.absolute_cell(system, step, &MetricId::within_limit(kind).0));
    named(system, cells)
}
