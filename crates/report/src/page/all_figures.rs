//! Every figure that a report can show, each by itself: what `report --charts` keeps.

use model::StepInfo;

use super::figures::{self, Figure, OverTime};
use super::sections::Sections;
use super::step::Extent;
use super::{over_clients, transactions};
use crate::chart::Chart;
use crate::series::{self, Bins};
use crate::tables::Clock;
use crate::transactions::Transactions;
use crate::view::View;

/// Points of a line over time, and of a quantile curve. No page limits them here.
const POINTS: usize = 300;
const CURVE: usize = 48;

/// A chart that stands by itself.
pub(crate) struct NamedFigure {
    /// What it shows, in the words of which the name of its file is made.
    pub(crate) name: String,
    /// What it shows, in full.
    pub(crate) title: String,
    /// The chart; never an empty one.
    pub(crate) chart: Chart,
}

/// All of them, in the order of the page. The steps of a sweep are in the charts of their tests; by themselves only
/// those that have a section in the whole page.
pub(crate) fn all_figures(view: &View<'_>) -> Vec<NamedFigure> {
    let mut all = of_transactions(view);
    all.extend(view.candidates().map(|system| {
        let name = format!("forest-{}", system.name);
        named(name, figures::all_ratios(view, system))
    }));
    all.extend(of_sweep(view));
    let sections = Sections::of(view, Extent::Whole);
    for (place, step) in view.steps.iter().enumerate() {
        if !figures::is_swept(view, step) || sections.has(place) {
            all.extend(of_step(view, step));
        }
    }
    all.retain(|one| !one.chart.is_empty());
    all
}

fn named(name: String, figure: Figure) -> NamedFigure {
    NamedFigure {
        name,
        title: figure.title,
        chart: figure.chart,
    }
}

/// The same under a title that says first what the figure is of.
fn titled(name: String, of: &str, figure: Figure) -> NamedFigure {
    let title = format!("{of} · {}", figure.title);
    named(name, Figure { title, ..figure })
}

fn of_transactions(view: &View<'_>) -> Vec<NamedFigure> {
    let Some(run) = Transactions::of(view) else {
        return Vec::new();
    };
    let quantities = run.quantities(view);
    let drawn = quantities.iter().map(|quantity| {
        let name = format!("transactions-{}", quantity.word);
        titled(name, "Transactions", transactions::chart(view, quantity))
    });
    drawn.collect()
}

fn of_sweep(view: &View<'_>) -> Vec<NamedFigure> {
    let Some(sweep) = &view.sweep else {
        return Vec::new();
    };
    let drawn = sweep.tests.iter().map(|test| {
        let figure = over_clients::ratios(view, sweep, test);
        let title = format!("{} over the number of clients", test.name);
        named(format!("sweep-{}", test.name), Figure { title, ..figure })
    });
    drawn.collect()
}

fn of_step(view: &View<'_>, step: &StepInfo) -> Vec<NamedFigure> {
    let label = view.label(step);
    let mut all = vec![
        titled(
            format!("rounds-{label}"),
            &label,
            figures::rounds(view, step),
        ),
        titled(
            format!("ratio-{label}"),
            &label,
            figures::ratios(view, step),
        ),
    ];
    let kinds = kinds(view, step);
    all.extend(over_time(view, step, &label, &kinds));
    for kind in &kinds {
        all.extend(response_times(view, step, &label, kind));
    }
    all
}

fn over_time(view: &View<'_>, step: &StepInfo, label: &str, kinds: &[String]) -> Vec<NamedFigure> {
    let bins = Bins::of(view, step, POINTS);
    let draw = |what: &OverTime<'_>| figures::over_time(view, step, bins, what);
    let words = ["p99", "longest"];
    let subject = of_kind(", ", label, &step.subject);
    let mut all = vec![titled(
        format!("time-{}", of_kind("-", label, &step.subject)),
        &subject,
        draw(&OverTime::throughput(step)),
    )];
    for (word, what) in words.into_iter().zip(&OverTime::latencies(step)) {
        let name = format!("{word}-{}", of_kind("-", label, what.kind));
        all.push(titled(name, &subject, draw(what)));
    }
    for kind in kinds.iter().filter(|kind| **kind != step.subject) {
        let figure = Figure {
            title: format!("{kind} over time"),
            ..draw(&OverTime::other(step, kind))
        };
        let name = format!("time-{}", of_kind("-", label, kind));
        all.push(titled(name, label, figure));
    }
    all
}

fn response_times(view: &View<'_>, step: &StepInfo, label: &str, kind: &str) -> [NamedFigure; 2] {
    [Clock::Service, Clock::Response].map(|clock| {
        let merged = series::histograms(view, step, kind, clock);
        let figure = figures::distribution(view, step, kind, &merged, (clock, CURVE));
        let name = format!("{}-{}", clock.word(), of_kind("-", label, kind));
        titled(name, label, figure)
    })
}

/// A step and one of its kinds of operations, which often has the same name.
fn of_kind(between: &str, label: &str, kind: &str) -> String {
    if kind == label {
        label.to_owned()
    } else {
        format!("{label}{between}{kind}")
    }
}

/// The kinds that have charts of their own. The statements of one of dozens of steps, and the transactions of
/// the TPC-C-like workload, have a table that holds them all.
fn kinds(view: &View<'_>, step: &StepInfo) -> Vec<String> {
    if view.is_by_step() || view.has_transactions() {
        vec![step.subject.clone()]
    } else {
        view.kinds(step)
    }
}
