//! The leading picture: every system against the base in every step, or group of steps, at a glance. Versions of one
//! product, and many systems, are a line; others have a row for each step.

use maud::{Markup, html};
use model::{Comparison, HostRounds, MetricId, Step, System, Verdict};
use stats::summarise;

use super::figures::Figure;
use super::judged::{ratio, ratio_and_ends, shade, word};
use super::table::legend;
use crate::chart::Chart;
use crate::chart::axis::{Axis, Scale};
use crate::chart::line::{LineChart, StopMark, SystemLine};
use crate::chart::ratios::{ForestRow, Lane, forest};
use crate::chart::rows::{Ratio, Said};
use crate::chart::style::{Series, Style};
use crate::chart::sweep::around_ratios;
use crate::names::short_names;
use crate::report::about;
use crate::{Report, Seen, StepGroup, format, verdict};

/// Lines, or rows, that are read at a glance: where there are more steps, their groups lead.
const MOST: usize = 12;
const MOST_ROWS: usize = 28;

/// Candidates that find room in a row, and stops with room for intervals.
const MOST_LANES: usize = 6;
const MOST_STOPS: usize = 24;

const HEIGHT: f64 = 380.0;

/// What is compared as one, by its places: a step, or the steps of a group.
struct Part {
    name: String,
    about: String,
    heading: String,
    places: Vec<usize>,
}

/// The picture, and where groups lead one of every step; nothing where nothing was compared.
pub(super) fn overview(report: &Report<'_>) -> Vec<Figure> {
    let shown = shown(report);
    let steps: Vec<Part> = report.groups.iter().flat_map(|of| each_step(report, of)).collect();
    let line = line_of_systems(report);
    let most = if line.is_some() { MOST } else { MOST_ROWS / shown.len().max(1) };
    let grouped = report.groups.iter().filter(|group| !group.title.is_empty());
    let as_one = |group: &StepGroup| Part {
        name: group.title.clone(),
        about: format::joined(report.steps_of(group).iter().map(|step| &step.test), ", "),
        heading: String::new(),
        places: group.places.clone().collect(),
    };
    let groups: Vec<Part> = grouped.map(as_one).collect();
    let has_each = steps.len() <= most.max(MOST) || groups.is_empty();
    let parts = if has_each { &steps } else { &groups };
    let chart = match line {
        Some(systems) => lines(report, &systems, parts),
        None => rows(report, &shown, parts),
    };
    let what = if report.is_all_of_throughput() { "Throughput relative" } else { "Relative" };
    let mut all = vec![Figure { title: format!("{what} to {}", report.base), chart }];
    if !has_each && report.sweep.is_none() && shown.len() <= MOST_LANES {
        let chart = rows(report, &shown, &steps);
        all.push(Figure { title: format!("Every step relative to {}", report.base), chart });
    }
    all.retain(|figure| !figure.chart.is_empty());
    all
}

pub(super) fn leading_picture(report: &Report<'_>) -> Markup {
    html! {
        div #overview {
            @for (place, figure) in overview(report).iter().enumerate() {
                @let shown = html! {
                    @match &figure.chart {
                        Chart::Lines(chart) => (chart.legend()),
                        Chart::Rows(_) => @if shown(report).len() > 1 { (legend(report)) },
                        Chart::Flame(_) | Chart::Nothing(_) => {},
                    }
                    (figure)
                };
                @if place == 0 { (shown) } @else { details { summary { "Every step" } (shown) } }
            }
        }
    }
}

/// The candidates that are compared; the control only where there is nothing else.
fn shown<'r>(report: &'r Report<'_>) -> Vec<&'r Seen<'r>> {
    let judged: Vec<&Seen<'_>> = report.judged().collect();
    if judged.is_empty() { report.candidates().collect() } else { judged }
}

/// In the order of their versions, where these tell them apart, or of the plan, where rows have no room for them.
fn line_of_systems<'r>(report: &'r Report<'_>) -> Option<Vec<&'r Seen<'r>>> {
    let plan = &report.input.data.info.plan;
    let systems: Vec<&Seen<'_>> = report.systems.iter().filter(|seen| !seen.is_control).collect();
    let planned = systems.iter().map(|seen| Some((plan.system(seen.name)?, *seen)));
    let mut all: Vec<(&System, &Seen<'_>)> = planned.collect::<Option<_>>().unwrap_or_default();
    all.sort_by(|a, b| a.0.build.version.cmp(&b.0.build.version));
    let is_next = |pair: &[(&System, &Seen<'_>)]| {
        let [before, next] = [&pair[0].0, &pair[1].0];
        (before.build.dbms, before.engine) == (next.build.dbms, next.engine)
            && before.build.version < next.build.version
    };
    if all.len() > 2 && all.windows(2).all(is_next) {
        return Some(all.into_iter().map(|(_, seen)| seen).collect());
    }
    (systems.len() > MOST_LANES + 1).then_some(systems)
}

fn each_step(report: &Report<'_>, group: &StepGroup) -> Vec<Part> {
    let steps = group.places.clone().zip(report.steps_of(group));
    let part = |(place, step): (usize, &Step)| Part {
        name: verdict::beside(&report.label(step), &step.metric),
        about: about(step),
        heading: if place == group.places.start { group.title.clone() } else { String::new() },
        places: vec![place],
    };
    steps.map(part).collect()
}

/// The ratio of a candidate in a part, in the colour of its verdict.
fn judged(report: &Report<'_>, system: &Seen<'_>, part: &Part) -> Option<Lane> {
    let steps = part.places.iter().filter_map(|place| report.steps.get(*place));
    let decisions: Vec<&Comparison> =
        steps.filter_map(|step| report.at(system, step).decision()).collect();
    let (of, said) = if part.places.len() > 1 {
        as_one_comparison(&decisions, &report.input.data.info.hosts)?
    } else {
        let one = *decisions.first()?;
        (one.clone(), word(&one.verdict).to_owned())
    };
    let tone = shade(&of).filter(|tone| *tone != "edge" || !said.is_empty()).unwrap_or_default();
    let said = Said { plain: ratio_and_ends(&of), verdict: said, tone };
    Some(Lane { of: system.series(), ratio: ratio(&of), said })
}

/// The mean of the steps of a group, and what is said of it. It has the verdict that its side has in a step at least.
/// A step that fell to zero stands for its group, which has no mean.
fn as_one_comparison(steps: &[&Comparison], hosts: &[HostRounds]) -> Option<(Comparison, String)> {
    let steps: Vec<&Comparison> =
        steps.iter().copied().filter(|one| one.metric.0 == MetricId::RATE).collect();
    if let Some(fallen) = steps.iter().find(|one| one.verdict.fell_to_zero()) {
        return Some(((*fallen).clone(), format!("{} {}", fallen.step, format::FELL_TO_ZERO)));
    }
    let all = summarise(&steps, hosts)?;
    let side = if all.geometric_mean > 1.0 { Verdict::Improved } else { Verdict::Regressed };
    let is_called = steps.iter().any(|one| one.verdict == side);
    let mut of = (*steps.first()?).clone();
    of.ratio = Some(all.geometric_mean);
    (of.low, of.high) = all.ends.unzip();
    of.verdict = if is_called { side } else { Verdict::Unchanged };
    Some((of, String::new()))
}

/// The interval of the control in a part, where others are judged.
fn noise(report: &Report<'_>, part: &Part) -> Option<(f64, f64)> {
    let control = report.candidates().find(|system| system.is_control);
    judged(report, control.filter(|_| report.judged().next().is_some())?, part)?.ratio?.ends
}

fn rows(report: &Report<'_>, systems: &[&Seen<'_>], parts: &[Part]) -> Chart {
    let rows = parts.iter().map(|part| ForestRow {
        name: part.name.clone(),
        about: part.about.clone(),
        heading: part.heading.clone(),
        lanes: systems.iter().filter_map(|system| judged(report, system, part)).collect(),
        noise: noise(report, part),
    });
    forest(&rows.collect::<Vec<ForestRow>>(), report.base)
}

fn lines(report: &Report<'_>, systems: &[&Seen<'_>], parts: &[Part]) -> Chart {
    let lines = parts.iter().enumerate();
    let lines = lines.map(|(place, part)| line(report, systems, part, (place, parts.len())));
    let lines: Vec<SystemLine> = lines.collect();
    let ends = parts.iter().filter_map(|part| noise(report, part));
    let noise = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let ratios = lines.iter().flat_map(|line| line.marks.iter().map(|mark| mark.ratio));
    let Some(y) = around_ratios(ratios) else {
        return Chart::Nothing("There is no ratio to the base.");
    };
    let names: Vec<&str> = systems.iter().map(|system| system.name).collect();
    let told = if noise.is_some() { "; grey: the intervals of the control" } else { "" };
    Chart::lines(LineChart {
        label: format!("Ratio of every system to {}", report.base),
        height: HEIGHT,
        x: Axis {
            scale: Scale::Linear { low: -0.4, high: names.len() as f64 - 0.6 },
            name: format!("systems in their order; bars: 95 % intervals{told}"),
            text: format::tick,
        },
        y: Axis { scale: y, name: format!("ratio to {}", report.base), text: format::ratio },
        lines,
        reference: Some((1.0, String::new())),
        noise,
        stops: (0..).map(f64::from).zip(short_names(&names)).collect(),
    })
}

/// What part of the room between two systems the marks of one have.
const BESIDE: f64 = 0.3;

/// A part over the systems; its marks stand a little beside those of the other parts.
fn line(
    report: &Report<'_>,
    systems: &[&Seen<'_>],
    part: &Part,
    (place, of): (usize, usize),
) -> SystemLine {
    let beside = BESIDE * ((place as f64 + 0.5) / of as f64 - 0.5);
    let (mut points, mut marks) = (Vec::new(), Vec::new());
    for (at, system) in (0..).map(|at| f64::from(at) + beside).zip(systems) {
        if system.is_base {
            points.push((at, 1.0));
        } else if let Some(Lane { ratio: Some(ratio), said, .. }) = judged(report, system, part) {
            points.push((at, ratio.value));
            let ends = ratio.ends.filter(|_| systems.len() <= MOST_STOPS);
            let text = format!("{}, {}: {} {}", part.name, system.name, said.plain, said.verdict);
            let tone = if said.tone == "muted" { "" } else { said.tone };
            marks.push(StopMark { at, ratio: Ratio { ends, ..ratio }, text, tone });
        }
    }
    let of = Series { style: Style(place), key: part.name.clone(), name: part.name.clone() };
    SystemLine { of, points, band: Vec::new(), marks }
}
