//! The charts of a step.

use maud::{Markup, Render, html};
use model::{Latency, StepInfo, Unit};

use super::matrix::{ratio, word};
use super::table::tone;
use crate::chart::Chart;
use crate::chart::axis::Axis;
use crate::chart::dots::{DotRow, dots};
use crate::chart::forest::{ForestRow, forest};
use crate::chart::line::{Line, LineChart};
use crate::chart::quantile::{self, quantile};
use crate::chart::scale::Scale;
use crate::chart::style::Style;
use crate::deciding;
use crate::format;
use crate::series::{self, Bins, Quantity};
use crate::tables::{self, Clock};
use crate::view::{Seen, View};

/// More lines than this with a band each would hide each other.
const MOST_BANDS: usize = 5;

/// A chart under its title.
pub(crate) struct Figure {
    /// What it shows.
    pub(crate) title: String,
    /// The chart.
    pub(crate) chart: Chart,
}

impl Render for Figure {
    fn render(&self) -> Markup {
        figure(&self.title, &self.chart)
    }
}

/// Anything under a title.
pub(super) fn figure(title: &str, content: &impl Render) -> Markup {
    html! { figure { figcaption { (title) } (content) } }
}

/// What decides the step, of every round.
pub(super) fn rounds(view: &View<'_>, step: &StepInfo) -> Figure {
    let rows: Vec<DotRow> = view
        .systems
        .iter()
        .map(|system| DotRow {
            style: Style(system.index),
            key: system.key.clone(),
            name: system.name.to_owned(),
            rounds: series::rounds(view, system, step),
        })
        .collect();
    let metric = view.deciding(step);
    let unit = match deciding::word(&metric) {
        None => view.rate_unit_name(step).to_owned(),
        Some(word) => {
            let unit = view.unit(step, &metric.0).map_or("", Unit::name);
            format!("{unit}, {word}")
        }
    };
    Figure {
        title: "Every round".to_owned(),
        chart: dots(&rows, &unit),
    }
}

/// Ratios to the base with their intervals.
pub(super) fn ratios(view: &View<'_>, step: &StepInfo) -> Figure {
    let rows: Vec<ForestRow> = view
        .candidates()
        .filter_map(|system| forest_row(view, system, step, system.name.to_owned()))
        .collect();
    let title = match deciding::word(&view.deciding(step)) {
        None => "Against the base".to_owned(),
        Some(word) => format!("Against the base: {word}"),
    };
    Figure {
        title,
        chart: forest(&rows, view.base),
    }
}

/// The ratios of a system to the base in all steps; in a sweep in those that are no part of it.
pub(super) fn all_ratios(view: &View<'_>, system: &Seen<'_>) -> Figure {
    ratios_of(view, system, unswept(view))
}

/// Is this step part of a sweep, whose tests have charts of their own?
pub(super) fn is_swept(view: &View<'_>, step: &StepInfo) -> bool {
    view.sweep.as_ref().is_some_and(|sweep| sweep.holds(step))
}

/// The steps that are part of none.
pub(super) fn unswept<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v StepInfo> {
    let steps = view.steps.iter();
    steps.filter(move |step| !is_swept(view, step))
}

/// What decides these steps, of one system against the base: a row a step.
pub(super) fn ratios_of<'s>(
    view: &View<'_>,
    system: &Seen<'_>,
    steps: impl Iterator<Item = &'s StepInfo>,
) -> Figure {
    let rows: Vec<ForestRow> = steps
        .filter_map(|step| {
            let name = deciding::beside(&view.label(step), &view.deciding(step));
            forest_row(view, system, step, name)
        })
        .collect();
    Figure {
        title: format!("{} against {}", system.name, view.base),
        chart: forest(&rows, view.base),
    }
}

fn forest_row(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    name: String,
) -> Option<ForestRow> {
    let comparison = view.decision(system.name, step)?;
    Some(ForestRow {
        style: Style(system.index),
        key: system.key.clone(),
        name,
        ratio: ratio(comparison),
        pairs: comparison.pairs.clone(),
        text: format::ratio_and_interval(comparison),
        verdict: word(&comparison.verdict).to_owned(),
        tone: tone(tables::verdict_tone(&comparison.verdict)).unwrap_or_default(),
    })
}

/// What a chart over time shows.
pub(super) struct OverTime<'a> {
    /// Of which operation.
    pub(super) kind: &'a str,
    /// What of it.
    pub(super) quantity: Quantity,
    /// The figure's title.
    pub(super) title: &'a str,
    /// Pixels.
    pub(super) height: f64,
    /// A level to compare with.
    pub(super) target: Option<u64>,
}

impl<'a> OverTime<'a> {
    /// The throughput of a step.
    pub(super) fn throughput(step: &'a StepInfo) -> Self {
        Self {
            kind: &step.subject,
            quantity: series::subject_quantity(step),
            title: "Throughput over time: median round, shaded from the lowest to the highest",
            height: 260.0,
            target: None,
        }
    }

    /// The two latencies of what a step is about.
    pub(super) fn latencies(step: &'a StepInfo) -> [Self; 2] {
        let of = |quantity, title| Self {
            kind: &step.subject,
            quantity,
            title,
            height: 180.0,
            target: None,
        };
        [
            of(Quantity::P99, "99th percentile of each second"),
            of(Quantity::Longest, "Longest of each second"),
        ]
    }

    /// Another operation of the step, with the target of the background writers.
    pub(super) fn other(step: &StepInfo, kind: &'a str) -> Self {
        Self {
            kind,
            quantity: Quantity::Rows,
            title: kind,
            height: 180.0,
            target: step.target_rate,
        }
    }
}

/// All systems over time, all clients together.
pub(super) fn over_time(
    view: &View<'_>,
    step: &StepInfo,
    bins: Option<Bins>,
    what: &OverTime<'_>,
) -> Figure {
    let chart = match bins {
        Some(bins) => lines_over_time(view, step, bins, what),
        None => Chart::Nothing("No series was recorded for this step."),
    };
    Figure {
        title: what.title.to_owned(),
        chart,
    }
}

fn lines_over_time(view: &View<'_>, step: &StepInfo, bins: Bins, what: &OverTime<'_>) -> Chart {
    let lines: Vec<Line> = view
        .systems
        .iter()
        .map(|system| line(view, system, step, bins, what))
        .collect();
    let Some(y) = vertical_axis(&lines, what) else {
        return Chart::Nothing("Nothing was counted in this step.");
    };
    let chart = LineChart {
        label: format!(
            "{} in {} over time, all systems",
            what.title,
            view.label(step)
        ),
        height: what.height,
        x: Axis {
            scale: Scale::Linear {
                low: 0.0,
                high: bins.width * bins.count as f64,
            },
            name: seconds_name(bins),
            text: format::tick,
        },
        y,
        lines,
        reference: what
            .target
            .map(|t| (t as f64, format!("target {}", format::count(t)))),
    };
    chart.chart()
}

fn seconds_name(bins: Bins) -> String {
    if bins.width > 1.0 {
        format!(
            "seconds since the step began, {} to a point",
            format::tick(bins.width)
        )
    } else {
        "seconds since the step began".to_owned()
    }
}

fn line(
    view: &View<'_>,
    system: &Seen<'_>,
    step: &StepInfo,
    bins: Bins,
    what: &OverTime<'_>,
) -> Line {
    let binned = series::binned(view, system, step, what.kind, what.quantity, bins);
    let has_band = what.quantity == series::subject_quantity(step)
        && what.kind == step.subject
        && view.systems.len() <= MOST_BANDS
        && view.series(system.name, step).len() > 1;
    Line {
        style: Style(system.index),
        key: system.key.clone(),
        name: system.name.to_owned(),
        points: binned.iter().map(|b| (b.at, b.middle)).collect(),
        band: if has_band {
            binned.iter().map(|b| (b.at, b.low, b.high)).collect()
        } else {
            Vec::new()
        },
    }
}

fn vertical_axis(lines: &[Line], what: &OverTime<'_>) -> Option<Axis> {
    let points = lines.iter().flat_map(|l| l.points.iter().map(|(_, y)| *y));
    let bands = lines.iter().flat_map(|l| l.band.iter().map(|(_, _, y)| *y));
    let target = what.target.map(|t| t as f64);
    match what.quantity {
        Quantity::Ops | Quantity::Rows | Quantity::Statements(_) => Some(Axis {
            scale: Scale::from_zero(points.chain(bands).chain(target))?,
            name: match what.quantity {
                Quantity::Rows => "rows/s",
                Quantity::Statements(_) => "statements/s",
                Quantity::Ops | Quantity::P99 | Quantity::Longest => "ops/s",
            }
            .to_owned(),
            text: format::tick,
        }),
        Quantity::P99 | Quantity::Longest => Some(Axis {
            scale: Scale::log(points)?,
            name: "service time".to_owned(),
            text: format::tick_seconds,
        }),
    }
}

/// How the response times of one operation kind are distributed; a sentence where nothing was recorded.
pub(super) fn distribution(
    view: &View<'_>,
    step: &StepInfo,
    kind: &str,
    merged: &[Option<Latency>],
    (clock, points): (Clock, usize),
) -> Figure {
    let lines: Vec<Line> = view
        .systems
        .iter()
        .zip(merged)
        .filter_map(|(system, latency)| {
            Some(Line {
                style: Style(system.index),
                key: system.key.clone(),
                name: system.name.to_owned(),
                points: series::quantiles(latency.as_ref()?, points, quantile::MOST_NINES),
                band: Vec::new(),
            })
        })
        .collect();
    let label = format!(
        "{} time of {kind} in {} by percentile",
        clock.word(),
        view.label(step)
    );
    let title = match clock {
        Clock::Service => format!("Service time of {kind}"),
        Clock::Response => format!("Response time of {kind}, from the intended start"),
    };
    Figure {
        title,
        chart: quantile(label, lines),
    }
}
