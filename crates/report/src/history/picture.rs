//! A history as lines over its builds: each step against the base, with intervals, and marks where a level begins.

use stats::{History, HistoryLine};

use super::{heading, name, ratio_of_change, step_name, verdict};
use crate::chart::Chart;
use crate::chart::axis::{Axis, Scale};
use crate::chart::line::{LineChart, StopMark, SystemLine};
use crate::chart::rows::Ratio;
use crate::chart::style::{Series, Style};
use crate::chart::sweep::around_ratios;
use crate::charts::alone;
use crate::format;
use crate::names::short_names;
use crate::page::tone as tone_class;

/// Lines that are told apart in one picture.
const MOST: usize = 12;

const HEIGHT: f64 = 340.0;

/// The leading picture of a history as a file that needs nothing else; `generated` is when and by what it was made.
pub fn history_svg(history: &History, generated: &str) -> String {
    let chart = leading(history);
    // Where there is room, the lines have their names at their ends.
    alone(&heading(history), &[], &chart, generated)
}

/// The first lines of the history's first metric.
pub(super) fn leading(history: &History) -> Chart {
    let metric = history.lines.first().map(|line| &line.metric);
    let of_metric = history.lines.iter().filter(|line| Some(&line.metric) == metric);
    lines(history, &of_metric.take(MOST).collect::<Vec<_>>())
}

/// These lines of one metric over the builds; a line that is alone has its 95 % intervals as a band.
pub(super) fn lines(history: &History, shown: &[&HistoryLine]) -> Chart {
    let drawn = shown.iter().enumerate();
    let drawn =
        drawn.map(|(place, line)| drawn_line(history, line, Style(place), shown.len() == 1));
    let drawn: Vec<SystemLine> = drawn.collect();
    let Some(y) = around_ratios(drawn.iter().flat_map(extent)) else {
        return Chart::Nothing("There is no ratio to the base.");
    };
    let names: Vec<String> = (0..history.builds.len()).map(|place| name(history, place)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let base = name(history, history.base);
    let band = if shown.len() == 1 { "; band: 95 % intervals" } else { "" };
    Chart::lines(LineChart {
        label: format!("Every build relative to {base}"),
        height: HEIGHT,
        x: Axis {
            scale: Scale::Linear { low: -0.4, high: names.len() as f64 - 0.6 },
            name: format!("builds in their order; dots: a level begins{band}"),
            text: format::tick,
        },
        y: Axis { scale: y, name: format!("ratio to {base}"), text: format::ratio },
        lines: drawn,
        reference: Some((1.0, String::new())),
        noise: None,
        stops: (0..).map(f64::from).zip(short_names(&names)).collect(),
    })
}

/// What the vertical axis must show of a line.
fn extent(line: &SystemLine) -> impl Iterator<Item = Ratio> {
    let ends = |x: f64| line.band.iter().find(|band| band.0 == x).map(|band| (band.1, band.2));
    let points = line.points.iter();
    points.map(move |(x, value)| Ratio { value: *value, ends: ends(*x), margin: 0.0 })
}

fn drawn_line(history: &History, line: &HistoryLine, style: Style, has_band: bool) -> SystemLine {
    let ratios = line.points.iter().enumerate().filter_map(|(place, point)| {
        let point = point.as_ref()?;
        let is_base = place == history.base;
        let ratio =
            point.to_base.map(|to| (to.ratio, to.ends)).or(is_base.then_some((1.0, None)))?;
        Some((place, ratio))
    });
    let ratios: Vec<(usize, (f64, Option<(f64, f64)>))> = ratios.collect();
    let marks = line.changes.iter().filter_map(|change| {
        let (_, (value, _)) = ratios.iter().find(|(place, _)| *place == change.at)?;
        let (word, tone) = verdict(line, change);
        let (step, build) = (step_name(history, line), name(history, change.at));
        Some(StopMark {
            at: change.at as f64,
            ratio: Ratio { value: *value, ends: None, margin: 0.0 },
            text: format!("{step}, {build}: {word}, {}", ratio_of_change(change)),
            tone: tone_class(tone).unwrap_or_default(),
        })
    });
    let band = ratios.iter().filter(|_| has_band).map(|(place, (value, ends))| {
        let (low, high) = ends.unwrap_or((*value, *value));
        (*place as f64, low, high)
    });
    let step = step_name(history, line);
    SystemLine {
        of: Series { style, key: step.clone(), name: step },
        points: ratios.iter().map(|(place, (value, _))| (*place as f64, *value)).collect(),
        band: band.collect(),
        marks: marks.collect(),
    }
}
