//! Every figure that a report can show, each by itself: what `report --charts` keeps.

use explain::StepWhy;
use model::{Clock, Step};

use super::figures::{self, Figure, OverTime};
use super::overview::overview;
use super::sections::Sections;
use super::{flames, over_clients, transactions};
use crate::series::{self, Bins};
use crate::{Report, Transactions};

/// Points of a line over time, and of a quantile curve. No page limits them here.
const POINTS: usize = 300;
const CURVE: usize = 48;

/// A figure, never an empty one, behind what it shows in the words of which the name of its file is made.
pub(crate) type NamedFigure = (String, Figure);

/// In the order of the page. Steps of a sweep are in the charts of their tests, some in sections too.
pub(crate) fn all_figures(report: &Report<'_>) -> Vec<NamedFigure> {
    let names = ["ratios", "ratios-of-steps"].map(str::to_owned);
    let mut all: Vec<NamedFigure> = names.into_iter().zip(overview(report)).collect();
    let run = Transactions::of(report);
    all.extend(run.iter().flat_map(|run| run.quantities(report)).map(|quantity| {
        let name = format!("transactions-{}", quantity.word);
        titled(name, "Transactions", transactions::chart(report, &quantity))
    }));
    if let Some(sweep) = &report.sweep {
        all.extend(sweep.tests.iter().map(|test| {
            let figure = over_clients::ratios(report, sweep, test);
            let title = format!("{} over the number of clients", test.name);
            (format!("sweep-{}", test.name), Figure { title, ..figure })
        }));
    }
    let sections = Sections::of(report);
    for (place, step) in report.steps.iter().enumerate() {
        if !report.is_swept(step) || sections.has(place) {
            all.extend(of_step(report, step));
        }
    }
    all.extend(report.input.why.iter().flat_map(|why| differences(report, why)));
    all.extend(report.input.stack_costs.iter().filter_map(|costs| {
        let figure = flames::of_system(report, costs, flames::MOST)?;
        let name = format!("flame-{}-{}{}", costs.step, costs.system, costs.of.suffix());
        Some(titled(name, &costs.step.0, figure))
    }));
    all.retain(|(_, figure)| !figure.chart.is_empty());
    all
}

fn differences(report: &Report<'_>, why: &StepWhy) -> Vec<NamedFigure> {
    let figures = flames::difference(report, why, flames::MOST);
    let named = ["candidate", "base"].into_iter().zip(figures).map(|(role, figure)| {
        let name =
            format!("flame-difference-{}-{}-{role}{}", why.step, why.system, why.of.suffix());
        titled(name, &why.step.0, figure)
    });
    named.collect()
}

/// A figure under a title that says first what the figure is of.
fn titled(name: String, of: &str, figure: Figure) -> NamedFigure {
    (name, Figure { title: format!("{of} · {}", figure.title), ..figure })
}

fn of_step(report: &Report<'_>, step: &Step) -> Vec<NamedFigure> {
    let label = report.label(step);
    let mut all = vec![titled(format!("rounds-{label}"), &label, figures::rounds(report, step))];
    let kinds = kinds(report, step);
    all.extend(over_time(report, step, &label, &kinds));
    for kind in &kinds {
        all.extend(Clock::ALL.map(|clock| {
            let merged = series::histograms(report, step, kind, clock);
            let figure = figures::distribution(report, step, kind, &merged, (clock, CURVE));
            titled(format!("{}-{}", clock.word(), of_kind("-", &label, kind)), &label, figure)
        }));
    }
    all
}

fn over_time(report: &Report<'_>, step: &Step, label: &str, kinds: &[String]) -> Vec<NamedFigure> {
    let bins = Bins::of(report, step, POINTS);
    let draw = |what: &OverTime<'_>| figures::over_time(report, step, bins, what);
    let kind = &step.subject.kind;
    let (subject, name) = (of_kind(", ", label, kind), of_kind("-", label, kind));
    let [p99, longest] = OverTime::latencies(step);
    let charts = [("time", OverTime::throughput(step)), ("p99", p99), ("longest", longest)];
    let charts = charts.map(|(word, of)| titled(format!("{word}-{name}"), &subject, draw(&of)));
    let mut all = Vec::from(charts);
    for kind in kinds.iter().filter(|kind| **kind != step.subject.kind) {
        let figure =
            Figure { title: format!("{kind} over time"), ..draw(&OverTime::other(step, kind)) };
        let name = format!("time-{}", of_kind("-", label, kind));
        all.push(titled(name, label, figure));
    }
    all
}

/// A step and one of its kinds of operations, which often has the same name.
fn of_kind(between: &str, label: &str, kind: &str) -> String {
    if kind == label { label.to_owned() } else { format!("{label}{between}{kind}") }
}

/// Those with charts of their own: a table holds all others of dozens of steps, and of the TPC-C-like workload.
fn kinds(report: &Report<'_>, step: &Step) -> Vec<String> {
    if report.is_by_step() || Transactions::of(report).is_some() {
        vec![step.subject.kind.clone()]
    } else {
        report.kinds(step)
    }
}
