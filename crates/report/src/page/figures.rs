//! The charts of a step.

use maud::{Markup, Render, html};
use model::{Clock, Counts, Latency, Step, Unit};

use crate::chart::Chart;
use crate::chart::axis::{Axis, Scale};
use crate::chart::dots::{DotRow, dots};
use crate::chart::line::{LineChart, SystemLine};
use crate::chart::sweep::{MOST_NINES, quantile};
use crate::report::At;
use crate::series::{self, Bins, Quantity};
use crate::{Report, format, verdict};

/// More lines than this with a band each would hide each other.
const MOST_BANDS: usize = 5;

pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) chart: Chart,
}

impl Render for Figure {
    fn render(&self) -> Markup {
        html! { figure { figcaption { (self.title) } (self.chart) } }
    }
}

/// What decides the step, of every round.
pub(super) fn rounds(report: &Report<'_>, step: &Step) -> Figure {
    let row = |at: At<'_>| DotRow { of: at.system.series(), rounds: series::rounds(at) };
    let rows: Vec<DotRow> = report.each_at(step).map(row).collect();
    let metric = &step.metric;
    let unit = match verdict::deciding_word(metric) {
        None => report.rate_unit_name(step).to_owned(),
        Some(word) => {
            let unit = report.unit(step, &metric.0).map_or("", Unit::name);
            format!("{unit}, {word}")
        }
    };
    Figure { title: "Every round".to_owned(), chart: dots(&rows, &unit) }
}

pub(super) struct OverTime<'a> {
    pub(super) kind: &'a str,
    pub(super) quantity: Quantity,
    pub(super) title: &'a str,
    pub(super) height: f64,
    pub(super) target: Option<u64>,
}

impl<'a> OverTime<'a> {
    pub(super) fn throughput(step: &'a Step) -> Self {
        Self {
            kind: &step.subject.kind,
            quantity: Quantity::Count(step.subject.counts),
            title: "Throughput over time: median round, shaded from the lowest to the highest",
            height: 260.0,
            target: None,
        }
    }

    pub(super) fn latencies(step: &'a Step) -> [Self; 2] {
        let kind = step.subject.kind.as_str();
        let of = |quantity, title| Self { kind, quantity, title, height: 180.0, target: None };
        [
            of(Quantity::P99, "99th percentile of each second"),
            of(Quantity::Longest, "Longest of each second"),
        ]
    }

    /// Another operation of the step, with the target of the background writers.
    pub(super) fn other(step: &Step, kind: &'a str) -> Self {
        Self {
            kind,
            quantity: Quantity::Count(Counts::Rows),
            title: kind,
            height: 180.0,
            target: step.target_rate,
        }
    }
}

pub(super) fn over_time(
    report: &Report<'_>,
    step: &Step,
    bins: Option<Bins>,
    what: &OverTime<'_>,
) -> Figure {
    let chart = match bins {
        Some(bins) => lines_over_time(report, step, bins, what),
        None => Chart::Nothing("No series was recorded for this step."),
    };
    Figure { title: what.title.to_owned(), chart }
}

fn lines_over_time(report: &Report<'_>, step: &Step, bins: Bins, what: &OverTime<'_>) -> Chart {
    let seconds = "seconds since the step began";
    let lines: Vec<SystemLine> = report.each_at(step).map(|at| line(at, bins, what)).collect();
    let Some(y) = vertical_axis(&lines, what) else {
        return Chart::Nothing("Nothing was counted in this step.");
    };
    Chart::lines(LineChart {
        label: format!("{} in {} over time, all systems", what.title, report.label(step)),
        height: what.height,
        x: Axis {
            scale: Scale::Linear { low: 0.0, high: bins.width * bins.count as f64 },
            name: match bins.width {
                1.0 => seconds.to_owned(),
                width => format!("{seconds}, {} to a point", format::tick(width)),
            },
            text: format::tick,
        },
        y,
        lines,
        reference: what.target.map(|t| (t as f64, format!("target {}", format::count(t)))),
        noise: None,
        stops: Vec::new(),
    })
}

fn line(at: At<'_>, bins: Bins, what: &OverTime<'_>) -> SystemLine {
    let binned = series::binned(at, what.kind, what.quantity, bins);
    let has_band = what.quantity == Quantity::Count(at.step.subject.counts)
        && what.kind == at.step.subject.kind
        && at.report.systems.len() <= MOST_BANDS
        && at.series().count() > 1;
    let band = binned.iter().filter(|_| has_band).map(|b| (b.at, b.low, b.high));
    SystemLine {
        of: at.system.series(),
        points: binned.iter().map(|b| (b.at, b.middle)).collect(),
        band: band.collect(),
        marks: Vec::new(),
    }
}

fn vertical_axis(lines: &[SystemLine], what: &OverTime<'_>) -> Option<Axis> {
    let points = lines.iter().flat_map(|l| l.points.iter().map(|(_, y)| *y));
    let bands = lines.iter().flat_map(|l| l.band.iter().map(|(_, _, y)| *y));
    let target = what.target.map(|t| t as f64);
    let counted = match what.quantity {
        Quantity::Count(Counts::Operations) => "ops/s",
        Quantity::Count(Counts::Rows) => "rows/s",
        Quantity::Count(Counts::Statements(_)) => "statements/s",
        Quantity::P99 | Quantity::Longest => {
            let (scale, name) = (Scale::log(points)?, "service time".to_owned());
            return Some(Axis { scale, name, text: format::tick_seconds });
        }
    };
    let scale = Scale::from_zero(points.chain(bands).chain(target))?;
    Some(Axis { scale, name: counted.to_owned(), text: format::tick })
}

/// How the response times of one operation kind are distributed; a sentence where nothing was recorded.
pub(super) fn distribution(
    report: &Report<'_>,
    step: &Step,
    kind: &str,
    merged: &[Option<Latency>],
    (clock, points): (Clock, usize),
) -> Figure {
    let lines = report.systems.iter().zip(merged).filter_map(|(system, latency)| {
        let points = series::quantiles(latency.as_ref()?, points, MOST_NINES);
        Some(SystemLine { of: system.series(), points, band: Vec::new(), marks: Vec::new() })
    });
    let label = format!("{} time of {kind} in {} by percentile", clock.word(), report.label(step));
    let title = match clock {
        Clock::Service => format!("Service time of {kind}"),
        Clock::Response => format!("Response time of {kind}, from the intended start"),
    };
    Figure { title, chart: quantile(label, lines.collect()) }
}
