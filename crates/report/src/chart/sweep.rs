//! The ratio to the base over client counts on a log scale: a line a system, its 95 % interval at each
//! count, a line at 1.

use maud::{Markup, html};

use super::axis::{Axis, Frame, Scale, grid_labels, gridlines, tick_marks};
use super::column::{Column, Look};
use super::interval::Ratio;
use super::line::{keys, outline};
use super::style::Series;
use super::style::{Across, path, percent, px};
use crate::format;

#[derive(Clone, Debug)]
pub(crate) struct SweepLine {
    pub(crate) of: Series,
    pub(crate) marks: Vec<SweepMark>,
}

#[derive(Clone, Debug)]
pub(crate) struct SweepMark {
    /// Clients; more than zero.
    pub(crate) clients: u32,
    pub(crate) ratio: Ratio,
    /// What is said of it under the pointer: system, clients, ratio, verdict.
    pub(crate) text: String,
    /// The class of the verdict's colour; empty for none.
    pub(crate) tone: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct SweepChart {
    /// What it shows, for people who do not see it.
    label: String,
    pub(crate) lines: Vec<SweepLine>,
    clients: Vec<u32>,
    x: Scale,
    y: Axis,
}

const HEIGHT: f64 = 170.0;

const FRAME: Frame = Frame { width: 93.0, top: 16.0, bottom: HEIGHT - 22.0 };

/// What a label below the plot needs of its width, as a share for each digit and for the space between
/// two: on a telephone a digit is seven of some three hundred pixels wide.
const DIGIT: f64 = 0.023;
const SPACE: f64 = 0.012;

const CLIENTS: &str = "clients, log scale";

/// The chart; `None` when there is no ratio. `label` says what it shows to those who do not see it.
pub(crate) fn sweep(
    lines: Vec<SweepLine>,
    clients: &[u32],
    base: &str,
    label: String,
) -> Option<SweepChart> {
    let (x, y) = (across(clients)?, up(&lines)?);
    let y = Axis { scale: y, name: format!("ratio to {base}"), text: format::ratio };
    Some(SweepChart { label, lines, clients: clients.to_vec(), x, y })
}

impl SweepChart {
    pub(crate) fn page(&self) -> Markup {
        html! {
            p.axis-name { (self.y.described()) }
            svg.chart height=(px(HEIGHT)) role="img" aria-label=(self.label) { (self.plot(Across::PAGE)) }
            p.axis-name.below { (CLIENTS) }
        }
    }

    pub(crate) fn set_in(&self, column: &mut Column) {
        let across = Across::pixels(column.width * FRAME.width / 100.0);
        column.text(Look::Note, &self.y.described());
        column.drawing("chart", HEIGHT, &self.plot(across));
        column.text(Look::Note, CLIENTS);
    }

    /// All but the names of the axes.
    fn plot(&self, across: Across) -> Markup {
        let (x, y) = (self.x, self.y.scale);
        html! {
            (gridlines(&self.y, FRAME))
            (ticks(&self.clients, x))
            (one(y))
            svg width=(percent(FRAME.width)) height=(px(HEIGHT)) viewBox=(across.view_box(HEIGHT))
                preserveAspectRatio="none" overflow="visible" {
                @for line in &self.lines { (self.outline(line, across)) }
            }
            @for line in &self.lines {
                g data-system=(line.of.key) { @for mark in &line.marks { (mark_of(mark, x, y)) } }
            }
            (grid_labels(&self.y, FRAME))
            (self.keys())
        }
    }

    fn outline(&self, line: &SweepLine, across: Across) -> Markup {
        let points = line.marks.iter().filter_map(|m| position(m, self.x, self.y.scale));
        outline(&line.of, &path(points, across), None)
    }

    fn keys(&self) -> Markup {
        let ends = self.lines.iter().filter_map(|line| {
            let last = line.marks.last()?;
            Some((&line.of, position(last, self.x, self.y.scale)?))
        });
        keys(ends.collect(), FRAME, 9)
    }
}

/// Client counts across, with room for the labels of the gridlines before the first.
fn across(clients: &[u32]) -> Option<Scale> {
    let (low, high) = (clients.iter().min()?, clients.iter().max()?);
    let (low, high) = (f64::from(*low), f64::from(*high));
    let span = (high / low).max(1.01);
    (low > 0.0).then_some(Scale::Log { low: low / span.powf(0.18), high: high * span.powf(0.03) })
}

/// Ratios up: all of them and 1, with their intervals as far as these are not absurd; never so narrow
/// that noise looks like a mountain.
fn up(lines: &[SweepLine]) -> Option<Scale> {
    let ratios = || lines.iter().flat_map(|l| l.marks.iter().map(|m| m.ratio));
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    let (least, most) = crate::index::range(ratios().map(|r| r.value).filter(usable))?;
    let ends = ratios().flat_map(|r| {
        let (low, high) = r.ends.unwrap_or((r.value, r.value));
        // An interval of three rounds may be of any width; what it is about must remain to be seen.
        [low.max(r.value / 2.0), high.min(r.value * 2.0)]
    });
    let (low, high) = ends
        .filter(usable)
        .fold((least.min(1.0), most.max(1.0)), |(low, high), end| (low.min(end), high.max(end)));
    let (low, high) = (low.min(0.97), high.max(1.03));
    Some(Scale::Log { low: low / 1.02, high: high * 1.02 })
}

/// A tick at every client count, and its number where there is room.
fn ticks(clients: &[u32], x: Scale) -> Markup {
    let half = |count: u32| DIGIT * count.to_string().len() as f64 / 2.0;
    let mut end = f64::NEG_INFINITY;
    let places = clients.iter().filter_map(|count| {
        let place = x.place(f64::from(*count))?;
        let has_room = place - half(*count) >= end;
        if has_room {
            end = place + half(*count) + SPACE;
        }
        Some((place, has_room.then(|| count.to_string())))
    });
    tick_marks(FRAME, places)
}

fn one(y: Scale) -> Markup {
    html! {
        @if let Some(place) = y.place(1.0) {
            @let at = px(FRAME.y(place));
            line.one x1="0" x2=(percent(FRAME.width)) y1=(at) y2=(at) {}
        }
    }
}

/// Place across from 0 to 1, pixels down.
fn position(mark: &SweepMark, x: Scale, y: Scale) -> Option<(f64, f64)> {
    let across = x.place(f64::from(mark.clients))?;
    Some((across, FRAME.y(y.place(mark.ratio.value)?)))
}

/// The interval, and a point in the colour of its verdict.
fn mark_of(mark: &SweepMark, x: Scale, y: Scale) -> Markup {
    let Some((across, at)) = position(mark, x, y) else {
        return html! {};
    };
    let across = percent(FRAME.x(across));
    let down = |value: f64| y.place(value).map(|place| px(FRAME.y(place)));
    let ends = mark.ratio.ends;
    let ends = ends.and_then(|(low, high)| Some((down(low)?, down(high)?)));
    html! {
        g class=[Some(mark.tone).filter(|tone| !tone.is_empty())] {
            title { (mark.text) }
            @if let Some((low, high)) = ends {
                line.interval x1=(across) x2=(across) y1=(low) y2=(high) {}
            }
            circle.point cx=(across) cy=(px(at)) r="3.4" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::chart::style::Style;
    use maud::Render;

    fn page(lines: Vec<SweepLine>, clients: &[u32]) -> String {
        Chart::sweep(sweep(lines, clients, "a", "label".to_owned())).render().0
    }

    fn mark(clients: u32, value: f64, tone: &'static str) -> SweepMark {
        SweepMark {
            clients,
            ratio: Ratio { value, ends: Some((value * 0.95, value * 1.05)), margin: 0.02 },
            text: format!("{clients} & more"),
            tone,
        }
    }

    fn line(marks: Vec<SweepMark>) -> SweepLine {
        SweepLine { of: Series { style: Style(1), key: "B".into(), name: "b".into() }, marks }
    }

    #[test]
    fn snapshot() {
        let lines = vec![line(vec![
            mark(1, 0.9, "regressed"),
            mark(20, 1.0, ""),
            mark(24, 1.2, "improved"),
        ])];
        insta::assert_snapshot!(page(lines, &[1, 20, 24]).replace("><", ">\n<"));
    }

    #[test]
    fn absurd_ratios_leave_a_chart_or_a_sentence() {
        for value in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let alone = page(vec![line(vec![mark(4, value, "")])], &[4]);
            assert!(alone.contains("There is no ratio"), "{alone}");
            let beside = vec![line(vec![mark(4, value, ""), mark(8, 1.1, "")])];
            let beside = page(beside, &[4, 8]);
            assert!(!beside.contains("NaN") && !beside.contains("inf"), "{beside}");
            assert_eq!(beside.matches("circle").count(), 2, "{beside}");
        }
        for clients in [[1, 2], [0, 2]] {
            assert!(page(Vec::new(), &clients).contains("There is no ratio"));
        }
    }

    #[test]
    fn labels_keep_their_distance() {
        let clients = [1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 48];
        let lines = vec![line(clients.iter().map(|n| mark(*n, 1.1, "")).collect())];
        let chart = page(lines, &clients);
        let labels = chart.matches("text-anchor").count();
        assert!((8..11).contains(&labels), "{labels}");
    }
}
