//! The tables of the TPC-C-like workload: those of the published report, and what proves them.

use model::{
    AUDIT, AUDIT_FROM, AuditRange, Clock, Engine, Metric, MetricId, Part, ROLLBACK, RunColumn,
    RunTable, Step, TpccTransaction, metrics,
};

use super::costs::error_columns;
use super::grid::{name, systems, systems_in_step};
use super::told_once;
use crate::index::median;
use crate::report::At;
use crate::transactions::spec;
use crate::{Cell, Columns, Header, Report, Seen, Table, Tone, Transactions, format};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// The first and the last one, as in the published report; each kind of transaction in the last.
    Ends,
    All,
}

impl Report<'_> {
    /// In the order in which they are read, without ratios where nothing was compared; none for other workloads.
    pub(crate) fn transaction_tables(&self, which: Which) -> Vec<Table> {
        let Some(run) = Transactions::of(self) else { return Vec::new() };
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
        let columns = systems()
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
        let note = "Allocated blocks of the whole instance, and its tables with their indexes, before the first transactions and after the last step; medians over the rounds. More orders make it larger. New-Orders: all those committed in between, including warm-ups. Grown: growth of the instance per New-Order.";
        columns.in_parts("Size after the load and at the end", note, by_engine(self))
    }

    /// What the charts show: throughput, CPU, writes and size relative to the base.
    pub(crate) fn relative_of_run(&self, run: &Transactions<'_>) -> Table {
        let quantities = run.quantities(self);
        let moments = quantities.iter().flat_map(|of| of.moments.iter().map(move |one| (of, one)));
        let columns = moments.map(|(of, one)| {
            let cell = move |system: &&Seen<'_>| self.at(system, one.step).relative(one.metric);
            (Header::numbers(format!("{} {}", of.word, one.label), ""), cell)
        });
        let note = "Geometric means of the paired ratios of all rounds. CPU of the whole host and KB written are per completed New-Order; more CPU, KB or size than 1 is worse, more tpmc is better.";
        let title = format!("Transactions relative to {}", self.base);
        systems().each(columns).in_parts(title, note, by_engine(self))
    }

    /// The same; `None` for other workloads, and where there is nothing to compare.
    pub fn relative_transactions(&self) -> Option<Table> {
        let run = Transactions::of(self).filter(|_| self.has_candidates())?;
        Some(self.relative_of_run(&run))
    }

    /// Throughput, writes, CPU and size of one step: the columns of the published tables.
    fn published(&self, step: &Step) -> Table {
        let note = "Medians over the rounds; the columns of the published tables: wMB/s, MB of 1,000 KB written per second; wkb/t, KB written per second over tpmc; tpmc, New-Orders per minute, those rolled back on purpose included; cpu/s, busy time of all CPUs that the host has online, client included; Mcpu/t, a million times cpu/s over tpmc; size, the instance's allocated blocks after the step.";
        let columns = systems().each(run_columns(self, step, RunTable::Published));
        columns.in_parts(format!("Run, {}", self.label(step)), note, by_engine(self))
    }

    /// What can be compared between hosts too; what was not measured is left out.
    fn corrected(&self, step: &Step) -> Table {
        let share = |system: &&Seen<'_>| {
            let share = self.at(system, step).client_share();
            Cell::of(share.map(|share| 100.0 * share), format::percent)
        };
        let columns = systems().each(run_columns(self, step, RunTable::Corrected));
        let title = format!("Run, {}, corrected", self.label(step));
        let note = "Medians over the rounds: nopm, New-Orders per minute that were committed; costs per operation (/o), per completed New-Order; tables, with their indexes; grown, KB per committed New-Order; client, its share of the CPU time of client and server.";
        columns.numbers("client", "%", share).in_parts(title, note, by_engine(self))
    }

    /// Whether response times kept their limits and deliveries kept up: a row a system under the heading of each step.
    pub(crate) fn limits(&self, run: &Transactions<'_>, steps: &[&Step]) -> Table {
        let kinds = run.limits().map(|(kind, limit)| {
            let kept = MetricId::within_limit(kind.name());
            let cell = move |at: &At<'_>| at.absolute(&kept.0).missed_in(at.missed(kind));
            (Header::numbers(kind.name(), format!("% in {limit}")), cell)
        });
        let columns = systems_in_step()
            .each(kinds)
            .words("verdict", |at| kept_limits(*at))
            .numbers("backlog", "orders", |at| at.absolute("backlog"))
            .numbers("skipped", "districts", |at| at.absolute("skipped"));
        let note = "The share of transactions of each kind that kept its limit, median over the rounds, timed from the intended start where there is one; failed transactions miss it. A round misses a limit if fewer than nine in ten kept it. Backlog: orders waiting for delivery after the step, median over the rounds. Skipped: districts where a Delivery found no order, all rounds together.";
        let parts = steps.iter().map(|step| (self.label(step), self.each_at(step)));
        columns.in_parts("Limits on response time, and deliveries", note, parts)
    }

    /// Beside it what the standard wants, and orders counted twice: a row a system under the heading of each step.
    pub(crate) fn audit(&self, run: &Transactions<'_>, steps: &[&Step]) -> Table {
        let shares = AUDIT.iter().map(|range| {
            // The last part of the metric's id, as words.
            let (id, unit) = (range.metric, if range.is_percent() { "%" } else { "" });
            let head = id.rsplit('.').next().unwrap_or(id).replace('_', " ");
            let cell = move |at: &At<'_>| Cell::of(at.median(id), format::number);
            (Header::numbers(head, unit), cell)
        });
        let counts = counts().map(|metric| {
            (Header::numbers(metric.head, "count"), move |at: &At<'_>| at.absolute(metric.id))
        });
        let note = format!(
            "Medians over the rounds, warm-up included. A trial of {} transactions or more fails if it leaves a range by more than chance explains. Committed: New-Orders acknowledged to clients. Counted: growth of the districts' order numbers over the same time.",
            format::count(AUDIT_FROM)
        );
        let parts = steps.iter().map(|step| (self.label(step), self.each_at(step)));
        let columns = systems_in_step().each(shares).each(counts);
        let mut table = columns.in_parts("What transactions asked for", note, parts);
        table.rows.insert(0, ranges(run));
        table
    }

    /// A row a system under the heading of each kind; `None` for steps without transactions, and for other workloads.
    pub(crate) fn transaction_kinds(&self, step: &Step) -> Option<Table> {
        spec(self).filter(|_| step.subject.kind == TpccTransaction::NewOrder.name())?;
        // Where transactions have an intended start, from that.
        let p50 = Clock::Response.metric("p50").map(|metric| metric.of_kind(&step.subject.kind));
        let is_scheduled = p50.is_some_and(|metric| self.unit(step, &metric.0).is_some());
        let clock = if is_scheduled { Clock::Response } else { Clock::Service };
        let errors = error_columns().map(|metric| {
            let cell = move |(at, kind): &OfKind<'_>| at.tally(metric, kind);
            (Header::numbers(metric.head, "count"), cell)
        });
        let times = clock.metrics().map(|metric| {
            let cell = move |(at, kind): &OfKind<'_>| at.absolute(&metric.of_kind(kind).0);
            (Header::numbers(metric.head, ""), cell)
        });
        let columns = Columns::new()
            .words("system", |(at, _): &OfKind<'_>| name(at.system))
            .numbers("rate", "ops/s", |(at, kind)| at.absolute(&format!("rate.{kind}")))
            .each(errors)
            .each(times)
            .numbers("in limit", "%", |(at, kind)| at.absolute(&MetricId::within_limit(kind).0));
        let kinds = TpccTransaction::ALL.map(TpccTransaction::name).into_iter().chain([ROLLBACK]);
        let ran = kinds.filter(|kind| self.unit(step, &format!("rate.{kind}")).is_some());
        let parts = ran.map(|kind| {
            let is_rollback = kind == ROLLBACK;
            let heading = if is_rollback { "new-order, rolled back on purpose" } else { kind };
            (heading.to_owned(), self.each_at(step).map(move |at| (at, kind)))
        });
        let note = format!(
            "Rates, {} times and shares that kept their limit are medians over the rounds, max is the longest of all rounds; failed and repeated are totals of all rounds. New-Orders include those rolled back on purpose.",
            clock.word()
        );
        let title = format!("{}: each kind of transaction", self.label(step));
        columns.in_parts(title, note, parts).unless_empty()
    }
}

/// A system in a step, and a kind of transaction.
type OfKind<'r> = (At<'r>, &'static str);

/// A row a system; where there are several storage engines, those of each under its name, as in the published tables.
fn by_engine<'r>(report: &'r Report<'r>) -> Vec<(String, Vec<&'r Seen<'r>>)> {
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
        (if is_only { String::new() } else { name }, members.collect())
    });
    parts.collect()
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

/// The columns of a table of a step, in their order.
fn run_columns<'r>(
    report: &'r Report<'r>,
    step: &'r Step,
    table: RunTable,
) -> impl Iterator<Item = (Header, impl Fn(&&Seen<'_>) -> Cell + 'r)> {
    let columns = metrics().filter_map(|metric| Some((metric, metric.run?)));
    let columns = columns.filter(|(_, column)| column.table == table);
    let mut columns: Vec<(&Metric, RunColumn)> = columns.collect();
    columns.sort_by_key(|(_, column)| column.place);
    if table == RunTable::Corrected {
        columns.retain(|(metric, _)| report.unit(step, metric.id).is_some());
    }
    columns.into_iter().map(move |(metric, column)| {
        let cell = move |system: &&Seen<'_>| {
            let at = report.at(system, step);
            let cell = at.absolute(metric.id);
            if metric.id == MetricId::TPMC && !at.all_missed().is_empty() {
                cell.marked(Tone::Missed, "limit missed")
            } else {
                cell
            }
        };
        let unit = report.unit(step, metric.id).map_or("", format::header_unit);
        (Header::numbers(column.head, unit), cell)
    })
}

fn kept_limits(at: At<'_>) -> Cell {
    let has_run = TpccTransaction::ALL.into_iter().any(|kind| at.missed(kind).is_some());
    match at.all_missed() {
        _ if !has_run => Cell::absent(),
        missed if missed.is_empty() => Cell::text("kept"),
        missed => Cell::text(format!("missed: {}", missed.join(", "))).with_tone(Tone::Missed),
    }
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
