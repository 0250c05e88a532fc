//! A metric is one row: each row of the table is shown wherever its row says.

use model::{Cell, Clock, Metric, MetricId, Part, RunData, Step, Unit, metrics};
use report::tables::Shown;
use report::{Input, Report, Table};
use testkit::made_up::{self, Shape, tpcc};

/// Adds every metric of the table that the run does not have to its last step.
fn with_all(mut data: RunData) -> RunData {
    let step = last(&data).clone();
    let trials: Vec<(u32, u32, String)> =
        data.trials.iter().map(|t| (t.round, t.position, t.system.clone())).collect();
    for metric in metrics() {
        let id = metric.of_kind(&step.subject.kind);
        if data.cells.iter().any(|cell| cell.metric == id && cell.step == step.id) {
            continue;
        }
        data.cells.extend(trials.iter().map(|(round, position, system)| Cell {
            round: *round,
            position: *position,
            system: system.clone(),
            step: step.id.clone(),
            ordinal: step.ordinal,
            clients: step.clients,
            metric: id.clone(),
            unit: metric.unit.unwrap_or(Unit::OpsPerSecond),
            value: 2.0 + f64::from(*round) / 10.0,
        }));
    }
    data
}

fn last(data: &RunData) -> &Step {
    data.steps.iter().max_by_key(|step| step.ordinal).unwrap()
}

fn has_title(tables: &[Table], begin: &str) -> bool {
    tables.iter().any(|table| table.title.starts_with(begin))
}

fn has_head(tables: impl IntoIterator<Item = Table>, head: &str) -> bool {
    let mut heads = tables.into_iter().flat_map(|table| table.headers);
    heads.any(|header| header.text == head)
}

/// Is the metric in the tables of its class? A metric with a layout of its own has tests of its own.
fn is_placed(report: &Report<'_>, data: &RunData, metric: &Metric) -> bool {
    let (step, title) = (last(data), format!("{}: {}", metric.id, metric.title));
    match metric.part {
        Part::Cost { .. } => {
            has_title(&report.costs(metric.group, false), &title)
                && has_title(&report.costs(metric.group, true), &title)
                && has_head(report.step_costs(step, false), metric.head)
                && report.tsv().contains(&title)
        }
        Part::Size => has_title(&report.sizes(), &title) && report.tsv().contains(&title),
        Part::Times(clock) => {
            has_head(report.percentiles(step, &step.subject.kind, clock), metric.head)
        }
        Part::Errors { .. } => has_head(report.errors(), metric.head),
        Part::Audit | Part::Own | Part::Lists => true,
    }
}

fn check(data: RunData) {
    let data = with_all(data);
    let comparisons = made_up::comparisons(&data);
    let input = Input::new(&data, &comparisons);
    let report = Report::new(&input);
    let listed = report.metrics();
    let shown = Shown { all_metrics: true, ..Shown::default() };
    let verdicts = report.verdicts(&shown);
    for metric in metrics() {
        let id = metric.of_kind(&last(&data).subject.kind).0;
        let has = |table: &Table, id: &str| {
            table.rows.iter().any(|row| row.iter().any(|cell| cell.text == id))
        };
        assert!(has(&listed, &metric.id.replace("{kind}", "<kind>")), "{id}: list");
        assert!(has(&verdicts, &id), "{id}: verdicts");
        assert!(is_placed(&report, &data, metric), "{id}: tables");
    }
}

#[test]
fn every_metric_is_shown_where_its_row_says() {
    check(made_up::run(&Shape { seconds: 3, ..Shape::usual() }));
}

#[test]
fn every_metric_of_transactions_is_in_its_table_and_chart() {
    let data = with_all(tpcc::run(&tpcc::Tpcc::usual()));
    let comparisons = made_up::comparisons(&data);
    let input = Input::new(&data, &comparisons);
    let report = Report::new(&input);
    let tables = report.transactions();
    let charts = report.charts();
    for metric in metrics() {
        let of_run = |column: model::RunColumn| {
            let runs = tables.iter().filter(|table| table.title.starts_with("Run, "));
            has_head(runs.cloned(), column.head)
        };
        assert!(metric.run.is_none_or(of_run), "{}: run", metric.id);
        let is_drawn = |chart: model::Chart| {
            charts.iter().any(|file| file.title == format!("Transactions · {}", chart.title))
        };
        assert!(metric.chart.is_none_or(is_drawn), "{}: chart", metric.id);
        if metric.part == Part::Audit {
            let head = metric.head.rsplit('.').next().unwrap().replace('_', " ");
            assert!(has_head(tables.iter().cloned(), &head), "{}: audit", metric.id);
        }
    }
    for clock in Clock::ALL {
        assert!(clock.metrics().count() > 5, "{clock:?}");
    }
    assert!(metrics().any(|metric| metric.id == MetricId::RATE));
}
