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
    let is_alone = shown.len() == 1;
    let all: Vec<Vec<(usize, Ratio)>> =
        shown.iter().map(|line| ratios(history, line, is_alone)).collect();
    let Some(y) = around_ratios(all.iter().flatten().map(|(_, ratio)| *ratio)) else {
        return Chart::Nothing("There is no ratio to the base.");
    };
    let names: Vec<String> = (0..history.builds.len()).map(|place| name(history, place)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let base = name(history, history.base);
    let metric = shown.first().map_or("", |line| line.metric.0.as_str());
    let band = if is_alone { "; band: 95 % intervals" } else { "" };
    let drawn = shown.iter().zip(&all).enumerate();
    let drawn =
        drawn.map(|(place, (line, ratios))| drawn_line(history, line, Style(place), ratios));
    Chart::lines(LineChart {
        label: format!("Every build relative to {base}"),
        height: HEIGHT,
        x: Axis {
            scale: Scale::Linear { low: -0.4, high: names.len() as f64 - 0.6 },
            name: format!("builds in their order; dots: a level begins{band}"),
            text: format::tick,
        },
        y: Axis { scale: y, name: format!("{metric}, ratio to {base}"), text: format::ratio },
        lines: drawn.collect(),
        reference: Some((1.0, String::new())),
        noise: None,
        stops: (0..).map(f64::from).zip(short_names(&names)).collect(),
    })
}

/// The ratio of each build that has one to the base, with or without its interval.
fn ratios(history: &History, line: &HistoryLine, with_ends: bool) -> Vec<(usize, Ratio)> {
    let points = line.points.iter().enumerate();
    let ratios = points.filter_map(|(place, point)| {
        let to_base = point.as_ref()?.to_base.map(|to| (to.ratio, to.ends));
        let is_base = (place == history.base).then_some((1.0, Some((1.0, 1.0))));
        let (value, ends) = is_base.or(to_base)?;
        Some((place, Ratio { value, ends: ends.filter(|_| with_ends), margin: 0.0 }))
    });
    ratios.collect()
}

fn drawn_line(
    history: &History,
    line: &HistoryLine,
    style: Style,
    ratios: &[(usize, Ratio)],
) -> SystemLine {
    let step = step_name(history, line);
    let marks = line.changes.iter().filter_map(|change| {
        let (_, ratio) = ratios.iter().find(|(place, _)| *place == change.at)?;
        let (word, tone) = verdict(line, change);
        let build = name(history, change.at);
        Some(StopMark {
            at: change.at as f64,
            ratio: Ratio { ends: None, ..*ratio },
            text: format!("{step}, {build}: {word}, {}", ratio_of_change(change)),
            tone: tone_class(tone).unwrap_or_default(),
        })
    });
    let band = ratios.iter().filter_map(|(place, ratio)| {
        let (low, high) = ratio.ends?;
        Some((*place as f64, low, high))
    });
    SystemLine {
        points: ratios.iter().map(|(place, ratio)| (*place as f64, ratio.value)).collect(),
        band: band.collect(),
        marks: marks.collect(),
        of: Series { style, key: step.clone(), name: step },
    }
}
