//! The charts of a step.

use maud::{Markup, html};
use model::{Latency, StepInfo, Unit};

use super::matrix::{ratio, word};
use super::table::tone;
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
pub(super) fn figure(title: &str, chart: &Markup) -> Markup {
    html! { figure { figcaption { (title) } (chart) } }
}

/// What decides the step, of every round.
pub(super) fn rounds(view: &View<'_>, step: &StepInfo) -> Markup {
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
    figure("Every round", &dots(&rows, &unit))
}

/// Ratios to the base with their intervals.
pub(super) fn ratios(view: &View<'_>, step: &StepInfo) -> Markup {
    let rows: Vec<ForestRow> = view
        .candidates()
        .filter_map(|system| {
            let comparison = view.decision(system.name, step)?;
            Some(ForestRow {
                style: Style(system.index),
                key: system.key.clone(),
                name: system.name.to_owned(),
                ratio: ratio(comparison),
                pairs: comparison.pairs.clone(),
                text: format::ratio_and_interval(comparison),
                verdict: word(&comparison.verdict).to_owned(),
                tone: tone(tables::verdict_tone(&comparison.verdict)).unwrap_or_default(),
            })
        })
        .collect();
    let title = match deciding::word(&view.deciding(step)) {
        None => "Against the base".to_owned(),
        Some(word) => format!("Against the base: {word}"),
    };
    figure(&title, &forest(&rows, view.base))
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

/// All systems over time, all clients together.
pub(super) fn over_time(
    view: &View<'_>,
    step: &StepInfo,
    bins: Option<Bins>,
    what: &OverTime<'_>,
) -> Markup {
    let Some(bins) = bins else {
        return figure(
            what.title,
            &crate::chart::nothing("No series was recorded for this step."),
        );
    };
    let lines: Vec<Line> = view
        .systems
        .iter()
        .map(|system| line(view, system, step, bins, what))
        .collect();
    let Some(y) = vertical_axis(&lines, what) else {
        return figure(
            what.title,
            &crate::chart::nothing("Nothing was counted in this step."),
        );
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
    figure(what.title, &chart.render())
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
) -> Markup {
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
    figure(&title, &quantile(label, lines))
}
