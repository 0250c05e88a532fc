//! The tables of the TPC-C-like workload: those of the published report, and what proves them.

use model::{
    AUDIT, AUDIT_FROM, AuditRange, Clock, Engine, Metric, MetricId, Part, ROLLBACK, RunTable, Step,
    TpccTransaction, metrics,
};

use super::costs::error_columns;
use super::grid::{headers, name, named, under_headings};
use super::told_once;
use crate::index::median;
use crate::report::At;
use crate::transactions::{Moment, spec};
use crate::{Cell, Columns, Header, Report, Seen, Table, Tone, Transactions, format};

/// Of which steps tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The first and the last one, as in the published report; each kind of transaction in the last.
    Ends,
    All,
}

impl Report<'_> {
    /// All tables in the order in which they are read; none for other workloads. Where nothing was compared there
    /// are no ratios.
    pub(crate) fn transaction_tables(&self, which: Which) -> Vec<Table> {
        let Some(run) = Transactions::of(self) else {
            return Vec::new();
        };
        let (steps, of_kinds) = match which {
            Which::Ends => (run.ends(), vec![run.last]),
            Which::All => (run.steps.clone(), run.steps.clone()),
        };
        let mut all = vec![self.grown(&run)];
        if self.has_candidates() && !self.input.comparisons.is_empty() {
            all.push(self.relative_of_run(&run));
        }
        all.extend(self.runs(&steps));
        all.push(self.limits(&run, &steps));
        all.push(self.audit(&run, &steps));
        all.extend(told_once(of_kinds.into_iter().filter_map(|step| self.transaction_kinds(step))));
        all
    }

    pub(crate) fn runs(&self, steps: &[&Step]) -> Vec<Table> {
        let mut runs = told_once(steps.iter().map(|step| self.published(step)));
        runs.extend(told_once(steps.iter().map(|step| self.corrected(step))));
        runs
    }

    /// How large the database was after the load and at the end, and what it grew by.
    pub(crate) fn grown(&self, run: &Transactions<'_>) -> Table {
        let end = format!("after {}", self.label(run.last));
        let (first, last) =
            (|system| self.at(system, run.first), |system| self.at(system, run.last));
        let middle = |system: &&Seen<'_>, of: fn(&(f64, f64)) -> f64| {
            median(grown(self, run, system).iter().map(of))
        };
        let columns = Columns::new()
            .words("system", |system: &&Seen<'_>| name(system))
            .numbers("after load", "", |system| first(system).absolute("loaded.allocated"))
            .numbers("tables after load", "", |system| first(system).absolute("loaded.data"))
            .numbers("New-Orders", "count", |system| {
                Cell::of(middle(system, |(orders, _)| *orders), |n| format::count(n.round() as u64))
            })
            .numbers(&end, "", |system| last(system).absolute("size.allocated"))
            .numbers(&format!("tables {end}"), "", |system| last(system).absolute("size.data"))
            .numbers("grown", "KB/op", |system| {
                Cell::of(middle(system, |(orders, kb)| kb / orders), format::number)
            });
        let headers = columns.headers();
        let rows = by_engine(self, headers.len(), |system| columns.row(&system));
        let note = "Allocated blocks of the whole instance, and its tables with their indexes, before the first transactions and after the last step; medians over the rounds. More orders make it larger. New-Orders: all those committed in between, including warm-ups. Grown: growth of the instance per New-Order.";
        Table::new("Size after the load and at the end", note, headers, rows)
    }

    /// What the charts show: throughput, CPU, writes and size relative to the base.
    pub(crate) fn relative_of_run(&self, run: &Transactions<'_>) -> Table {
        let quantities = run.quantities(self);
        let columns =
            quantities.iter().flat_map(|of| of.moments.iter().map(|moment| (of.word, moment)));
        let columns: Vec<(&str, &Moment<'_>)> = columns.collect();
        let heads = columns.iter().map(|(word, moment)| format!("{word} {}", moment.label));
        let headers = headers(heads.map(|head| Header::numbers(head, "")));
        let rows = by_engine(self, headers.len(), |system| {
            let cells = columns.iter();
            named(system, cells.map(|(_, one)| self.at(system, one.step).relative(one.metric)))
        });
        let note = "Geometric means of the paired ratios of all rounds. CPU of the whole host and KB written are per completed New-Order; more CPU, KB or size than 1 is worse, more tpmc is better.";
        Table::new(format!("Transactions relative to {}", self.base), note, headers, rows)
    }

    /// The same; `None` for other workloads, and where there is nothing to compare.
    pub fn relative_transactions(&self) -> Option<Table> {
        let run = Transactions::of(self).filter(|_| self.has_candidates())?;
        Some(self.relative_of_run(&run))
    }

    /// Throughput, writes, CPU and size of one step: the columns of the published tables.
    fn published(&self, step: &Step) -> Table {
        let cpus = format::plural(self.input.data.info.host.shape.cpus as usize, "CPU");
        let columns = run_columns(RunTable::Published);
        let headers = headers(columns.iter().map(|column| run_header(self, step, column)));
        let rows = by_engine(self, headers.len(), |system| {
            named(system, columns.iter().map(|(metric, _)| run_cell(self.at(system, step), metric)))
        });
        let note = format!(
            "Medians over the rounds; the columns of the published tables: wMB/s, MB of 1,000 KB written per second; wkb/t, KB written per second over tpmc; tpmc, New-Orders per minute, those rolled back on purpose included; cpu/s, busy time of all {cpus}, client included; Mcpu/t, a million times cpu/s over tpmc; size, the instance's allocated blocks after the step."
        );
        Table::new(format!("Run, {}", self.label(step)), note, headers, rows)
    }

    /// What can be compared between hosts too; what was not measured is left out.
    fn corrected(&self, step: &Step) -> Table {
        let mut columns = run_columns(RunTable::Corrected);
        columns.retain(|(metric, _)| self.unit(step, metric.id).is_some());
        let heads = columns.iter().map(|column| run_header(self, step, column));
        let headers = headers(heads.chain([Header::numbers("client", "%")]));
        let rows = by_engine(self, headers.len(), |system| {
            let at = self.at(system, step);
            let share = Cell::of(at.client_share().map(|share| 100.0 * share), format::percent);
            let cells = columns.iter().map(|(metric, _)| run_cell(at, metric));
            named(system, cells.chain([share]))
        });
        let note = "Medians over the rounds: nopm, New-Orders per minute that were committed; costs per operation (/o), per completed New-Order; tables, with their indexes; grown, KB per committed New-Order; client, its share of the CPU time of client and server.";
        Table::new(format!("Run, {}, corrected", self.label(step)), note, headers, rows)
    }

    /// Whether response times kept their limits and deliveries kept up: a row a system under the heading of each step.
    pub(crate) fn limits(&self, run: &Transactions<'_>, steps: &[&Step]) -> Table {
        let kinds = run.limits().map(|(transaction, limit)| {
            Header::numbers(transaction.name(), format!("% in {limit}"))
        });
        let headers = headers(kinds.chain([
            Header::words("verdict"),
            Header::numbers("backlog", "orders"),
            Header::numbers("skipped", "districts"),
        ]));
        let rows = self.under_steps(steps.iter().copied(), headers.len(), |step| {
            self.each_at(step).map(limit_row).collect()
        });
        let note = "The share of transactions of each kind that kept its limit, median over the rounds, timed from the intended start where there is one; failed transactions miss it. A round misses a limit if fewer than nine in ten kept it. Backlog: orders waiting for delivery after the step, median over the rounds. Skipped: districts where a Delivery found no order, all rounds together.";
        Table::new("Limits on response time, and deliveries", note, headers, rows)
    }

    /// What transactions asked for, beside what the standard wants, and orders counted twice: a row a system under the
    /// heading of each step.
    pub(crate) fn audit(&self, run: &Transactions<'_>, steps: &[&Step]) -> Table {
        let shares = AUDIT.iter().map(|range| {
            // The last part of the metric's id, as words.
            let head = range.metric.rsplit('.').next().unwrap_or(range.metric).replace('_', " ");
            Header::numbers(head, if range.is_percent() { "%" } else { "" })
        });
        let counts = counts().map(|metric| Header::numbers(metric.head, "count"));
        let headers = headers(shares.chain(counts));
        let mut rows = vec![ranges(run)];
        rows.extend(self.under_steps(steps.iter().copied(), headers.len(), |step| {
            self.each_at(step).map(audit_row).collect()
        }));
        let note = format!(
            "Medians over the rounds, warm-up included. A trial of {} transactions or more fails if it leaves a range by more than chance explains. Committed: New-Orders acknowledged to clients. Counted: growth of the districts' order numbers over the same time.",
            format::count(AUDIT_FROM)
        );
        Table::new("What transactions asked for", note, headers, rows)
    }

    /// Each kind of transaction in one step, a row a system under the heading of each; `None` for steps that run no
    /// transactions, and for other workloads.
    pub(crate) fn transaction_kinds(&self, step: &Step) -> Option<Table> {
        spec(self).filter(|_| step.subject.kind == TpccTransaction::NewOrder.name())?;
        // Where transactions have an intended start, from that.
        let p50 = Clock::Response.metric("p50").map(|metric| metric.of_kind(&step.subject.kind));
        let is_scheduled = p50.is_some_and(|metric| self.unit(step, &metric.0).is_some());
        let clock = if is_scheduled { Clock::Response } else { Clock::Service };
        let errors = error_columns().map(|metric| Header::numbers(metric.head, "count"));
        let times = clock.metrics().map(|metric| Header::numbers(metric.head, ""));
        let rate = [Header::numbers("rate", "ops/s")].into_iter();
        let headers =
            headers(rate.chain(errors).chain(times).chain([Header::numbers("in limit", "%")]));
        let kinds = TpccTransaction::ALL.map(TpccTransaction::name).into_iter().chain([ROLLBACK]);
        let ran = kinds.filter(|kind| self.unit(step, &format!("rate.{kind}")).is_some());
        let parts = ran.map(|kind| {
            let is_rollback = kind == ROLLBACK;
            let heading = if is_rollback { "new-order, rolled back on purpose" } else { kind };
            let rows = self.each_at(step).map(|at| {
                let rate = at.absolute(&format!("rate.{kind}"));
                let errors = error_columns().map(|metric| at.tally(metric, kind));
                let in_limit = at.absolute(&MetricId::within_limit(kind).0);
                let cells = std::iter::once(rate).chain(errors).chain(at.times(kind, clock));
                named(at.system, cells.chain([in_limit]))
            });
            (heading.to_owned(), rows.collect())
        });
        let rows = under_headings(parts, headers.len());
        let note = format!(
            "Rates, {} times and shares that kept their limit are medians over the rounds, max is the longest of all rounds; failed and repeated are totals of all rounds. New-Orders include those rolled back on purpose.",
            clock.word()
        );
        let title = format!("{}: each kind of transaction", self.label(step));
        Table::new(title, note, headers, rows).unless_empty()
    }
}

/// A row a system; where there are several storage engines, those of each under its name, as in the published tables.
fn by_engine<'r>(
    report: &'r Report<'_>,
    columns: usize,
    row: impl Fn(&'r Seen<'r>) -> Vec<Cell>,
) -> Vec<Vec<Cell>> {
    let plan = &report.input.data.info.plan;
    let engine = |system: &Seen<'_>| plan.system(system.name).map(|planned| planned.engine);
    let mut families: Vec<Option<Engine>> = Vec::new();
    for system in &report.systems {
        if !families.contains(&engine(system)) {
            families.push(engine(system));
        }
    }
    let is_only = families.len() < 2;
    let parts = families.into_iter().map(|family| {
        let name = family.map_or("other", Engine::name).to_owned();
        let members = report.systems.iter().filter(|system| engine(system) == family);
        (if is_only { String::new() } else { name }, members.map(&row).collect())
    });
    under_headings(parts, columns)
}

/// For each round the New-Orders that were committed in all steps, and the KB by which the instance grew.
fn grown(report: &Report<'_>, run: &Transactions<'_>, system: &Seen<'_>) -> Vec<(f64, f64)> {
    let loaded = report.at(system, run.first).values("loaded.allocated");
    let rounds = loaded.into_iter().flat_map(|loaded| &loaded.rounds);
    let grown = rounds.filter_map(|(round, loaded)| {
        let end = report.at(system, run.last).in_round("size.allocated", *round)?;
        let in_step = |step: &&Step| report.at(system, step).in_round("committed", *round);
        let orders: Option<f64> = run.steps.iter().map(in_step).sum();
        Some((orders.filter(|orders| *orders > 0.0)?, (end - loaded) * f64::from(1 << 20)))
    });
    grown.collect()
}

/// A metric and the head of its column.
type Column = (&'static Metric, &'static str);

/// The columns of a table, in their order.
fn run_columns(table: RunTable) -> Vec<Column> {
    let of_table = metrics().filter_map(|metric| {
        let column = metric.run.filter(|column| column.table == table)?;
        Some((column.place, (metric, column.head)))
    });
    let mut columns: Vec<(u8, Column)> = of_table.collect();
    columns.sort_by_key(|(place, _)| *place);
    columns.into_iter().map(|(_, column)| column).collect()
}

fn run_header(report: &Report<'_>, step: &Step, (metric, head): &Column) -> Header {
    Header::numbers(*head, report.unit(step, metric.id).map_or("", format::header_unit))
}

fn run_cell(at: At<'_>, metric: &Metric) -> Cell {
    let cell = at.absolute(metric.id);
    if metric.id == MetricId::TPMC && !at.all_missed().is_empty() {
        cell.marked(Tone::Missed, "limit missed")
    } else {
        cell
    }
}

fn limit_row(at: At<'_>) -> Vec<Cell> {
    let shares = TpccTransaction::ALL.into_iter().map(|transaction| {
        let cell = at.absolute(&MetricId::within_limit(transaction.name()).0);
        match at.missed(transaction) {
            Some((missed, all)) if missed > 0 => {
                cell.marked(Tone::Missed, format!("missed in {missed} of {all}"))
            }
            _ => cell,
        }
    });
    let has_run = TpccTransaction::ALL.into_iter().any(|kind| at.missed(kind).is_some());
    let missed = at.all_missed();
    let verdict = if !has_run {
        Cell::absent()
    } else if missed.is_empty() {
        Cell::text("kept")
    } else {
        Cell::text(format!("missed: {}", missed.join(", "))).with_tone(Tone::Missed)
    };
    let counts = ["backlog", "skipped"].map(|id| at.absolute(id));
    named(at.system, shares.chain([verdict]).chain(counts))
}

/// What stands beside the shares: orders as clients and as the database counted them.
fn counts() -> impl Iterator<Item = &'static Metric> {
    let is_share = |metric: &&Metric| AUDIT.iter().any(|range| range.metric == metric.id);
    metrics().filter(|metric| metric.part == Part::Audit).filter(move |metric| !is_share(metric))
}

fn ranges(run: &Transactions<'_>) -> Vec<Cell> {
    let range = |range: &AuditRange| {
        if range.needs_others && run.spec.warehouses < 2 {
            return Cell::absent();
        }
        let (low, high) = (format::tick(range.low), format::tick(range.high));
        Cell::text(format!("{low}–{high}")).with_tone(Tone::Muted)
    };
    let name = Cell::text("the standard's range").with_tone(Tone::Muted);
    let counts = counts().map(|_| Cell::absent());
    std::iter::once(name).chain(AUDIT.iter().map(range)).chain(counts).collect()
}

fn audit_row(at: At<'_>) -> Vec<Cell> {
    let shares = AUDIT.iter().map(|range| Cell::of(at.median(range.metric), format::number));
    let counts = counts().map(|metric| at.absolute(metric.id));
    named(at.system, shares.chain(counts))
}
