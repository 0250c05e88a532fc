//! Lines over a common axis, each with an optional band around it or marks on it, named by a key at its end.

use maud::{Markup, html};

use super::axis::{Axis, Frame, Scale, grid_labels, gridlines, tick_marks, vertical};
use super::column::{Column, Look};
use super::rows::Ratio;
use super::style::{Across, Series, attribute, path, percent, px};

pub(crate) struct SystemLine {
    pub(crate) of: Series,
    /// (x, y), by x.
    pub(crate) points: Vec<(f64, f64)>,
    /// (x, low, high), by x; empty for none.
    pub(crate) band: Vec<(f64, f64, f64)>,
    /// What stands at the stops; lines of other charts have a few markers.
    pub(crate) marks: Vec<StopMark>,
}

impl SystemLine {
    pub(crate) fn through(marks: Vec<StopMark>, of: Series) -> Self {
        let points = marks.iter().map(|mark| (mark.at, mark.ratio.value)).collect();
        Self { of, points, band: Vec::new(), marks }
    }
}

pub(crate) struct StopMark {
    /// Its place on the axis: clients, which are more than zero, or the number of a version.
    pub(crate) at: f64,
    pub(crate) ratio: Ratio,
    /// What is said of it under the pointer: line, stop, ratio, verdict.
    pub(crate) text: String,
    /// The class of the verdict's colour; empty for none.
    pub(crate) tone: &'static str,
}

pub(crate) struct LineChart {
    /// What it shows, for people who do not see it.
    pub(crate) label: String,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Lines, the most important last: it lies on top.
    pub(crate) lines: Vec<SystemLine>,
    /// A level to compare with, and what it is; in a chart of ratios 1, without a name.
    pub(crate) reference: Option<(f64, String)>,
    /// What lies between these may be chance.
    pub(crate) noise: Option<(f64, f64)>,
    /// Client counts or versions, which take the place of round ticks, with their labels; empty in other charts.
    pub(crate) stops: Vec<(f64, String)>,
}

/// Pixels between two keys.
const KEY_HEIGHT: f64 = 13.0;

/// Points of a line that carry its marker, and the same where there are many lines.
const MARKS: usize = 5;
const FEW_MARKS: usize = 2;

/// From so many lines on there are few markers.
const MANY_LINES: usize = 9;

/// What a stop's label needs of a telephone's plot, as a share of its width: each character, the space between two.
const DIGIT: f64 = 0.023;
const SPACE: f64 = 0.012;

/// Pixels of a letter of a key and before it; pixels of the narrowest page's chart; and the per cent of a chart with
/// stops that its keys have, at least and at most: what has no room is told by a legend.
const LETTER: f64 = 7.3;
const NARROW: f64 = 368.0;
const KEYS: (f64, f64) = (7.0, 26.0);

impl LineChart {
    pub(crate) fn page(&self) -> Markup {
        let frame = self.frame(NARROW);
        let hovered = |told: String| (!self.has_stops()).then_some(told);
        let edges = format!("{} {} {}", px(frame.top), px(frame.bottom), frame.width);
        html! {
            p.axis-name { (self.y.described()) }
            svg.chart.hover[!self.has_stops()] height=(px(self.height)) role="img" aria-label=(self.label)
                data-x=[hovered(ends(self.x.scale))] data-y=[hovered(ends(self.y.scale))] data-frame=[hovered(edges)] {
                (self.plot(frame, Across::PAGE))
            }
            p.axis-name.below { (self.across()) }
        }
    }

    pub(crate) fn set_in(&self, column: &mut Column) {
        let frame = self.frame(column.width);
        let across = Across::pixels(column.width * frame.width / 100.0);
        column.text(Look::NOTE, &self.y.described());
        column.drawing("chart", self.height, &self.plot(frame, across));
        column.text(Look::NOTE, &self.across());
    }

    const fn has_stops(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Of a chart that is so many pixels wide, or wider.
    fn frame(&self, wide: f64) -> Frame {
        let (width, top) =
            if self.has_stops() { (100.0 - self.keys_percent(wide), 16.0) } else { (92.0, 20.0) };
        Frame { width, top, bottom: self.height - 22.0 }
    }

    fn keys_percent(&self, wide: f64) -> f64 {
        let longest = self.lines.iter().map(|line| line.of.key.chars().count()).max();
        let percent = 100.0 * (LETTER * longest.unwrap_or(0) as f64 + 9.0) / wide;
        if percent > KEYS.1 { 1.0 } else { percent.max(KEYS.0) }
    }

    /// What tells its lines apart where their keys have no room beside them in the page.
    pub(crate) fn legend(&self) -> Markup {
        html! {
            @if self.keys_percent(NARROW) < KEYS.0 {
                ul.legend { @for line in &self.lines { li { (line.of.style.swatch()) " " (line.of.name) } } }
            }
        }
    }

    /// What the horizontal axis shows; stops that are counted have no zero.
    fn across(&self) -> String {
        match self.x.scale {
            Scale::Linear { .. } if self.has_stops() => self.x.name.clone(),
            Scale::Linear { .. } | Scale::Log { .. } | Scale::Nines { .. } => self.x.described(),
        }
    }

    /// All but the names of the axes.
    fn plot(&self, frame: Frame, across: Across) -> Markup {
        html! {
            (gridlines(&self.y, frame))
            @if self.has_stops() {
                (self.stop_ticks(frame))
            } @else {
                // Scripts set other ticks where a part of the axis is looked at.
                g.across { (vertical(&self.x, frame, 6)) }
            }
            @if let Some((low, high)) = self.noise.and_then(|(low, high)| Some((self.down(low, frame)?, self.down(high, frame)?))) {
                rect.noise x="0" width=(percent(frame.width)) y=(px(high)) height=(px(low - high)) {}
            }
            @if let Some((level, name)) = &self.reference {
                (self.reference(*level, name, frame))
            }
            svg width=(percent(frame.width)) height=(px(self.height)) viewBox=(across.view_box(self.height))
                preserveAspectRatio="none" overflow="visible" {
                @for line in &self.lines { (self.band(line, frame, across)) }
                @for line in &self.lines { (self.line(line, frame, across)) }
            }
            @for line in &self.lines { (self.marks(line, frame)) }
            (grid_labels(&self.y, frame))
            (self.keys(frame))
        }
    }

    fn at(&self, x: f64, y: f64, frame: Frame) -> Option<(f64, f64)> {
        let across = self.x.scale.place(x)?.clamp(0.0, 1.0);
        Some((across, frame.y(self.y.scale.place(y)?)))
    }

    fn down(&self, y: f64, frame: Frame) -> Option<f64> {
        self.y.scale.place(y).map(|place| frame.y(place))
    }

    fn band(&self, line: &SystemLine, frame: Frame, across: Across) -> Markup {
        let upper = line.band.iter().filter_map(|(x, _, high)| self.at(*x, *high, frame));
        let lower = line.band.iter().rev().filter_map(|(x, low, _)| self.at(*x, *low, frame));
        let outline = path(upper.chain(lower), across);
        html! {
            @if !outline.is_empty() {
                path.band.(line.of.style.class()) data-system=(line.of.key) d={ (outline) "Z" } {}
            }
        }
    }

    fn line(&self, line: &SystemLine, frame: Frame, across: Across) -> Markup {
        let d = path(line.points.iter().filter_map(|(x, y)| self.at(*x, *y, frame)), across);
        let of = &line.of;
        let dash = Some(of.style.dash()).filter(|d| !d.is_empty());
        html! {
            @if !d.is_empty() {
                path.line.(of.style.class()) data-system=(of.key) stroke-dasharray=[dash] d=(d) {}
            }
        }
    }

    /// The marks at the stops; otherwise a few markers, each line's beginning elsewhere so that none covers another.
    fn marks(&self, line: &SystemLine, frame: Frame) -> Markup {
        let marks = if self.lines.len() < MANY_LINES { MARKS } else { FEW_MARKS };
        let every = line.points.len().div_ceil(marks).max(1);
        let first = (line.of.style.0 * every / 4) % every;
        let marked = line.points.iter().skip(first).step_by(every).filter(|_| !self.has_stops());
        html! {
            g data-system=(line.of.key) {
                @for mark in &line.marks { (self.mark(mark, frame)) }
                @for (across, y) in marked.filter_map(|(x, y)| self.at(*x, *y, frame)) {
                    (line.of.style.marker(frame.x(across), y, None))
                }
            }
        }
    }

    /// The interval, and a point in the colour of its verdict.
    fn mark(&self, mark: &StopMark, frame: Frame) -> Markup {
        let Some((across, at)) = self.at(mark.at, mark.ratio.value, frame) else {
            return html! {};
        };
        let across = percent(frame.x(across));
        let down = |value: f64| self.down(value, frame).map(px);
        let ends = mark.ratio.ends.and_then(|(low, high)| Some((down(low)?, down(high)?)));
        html! {
            g class=[Some(mark.tone).filter(|tone| !tone.is_empty())] {
                title { (mark.text) }
                @if let Some((low, high)) = ends {
                    line.interval x1=(across) x2=(across) y1=(low) y2=(high) {}
                }
                circle.point cx=(across) cy=(px(at)) r="3.4" {}
                @if mark.ratio.is_zero() {
                    text.tick x=(across) dx="6" y=(px(at - 3.0)) { "0" }
                }
            }
        }
    }

    /// A tick at every stop, and its label where there is room.
    fn stop_ticks(&self, frame: Frame) -> Markup {
        let mut end = f64::NEG_INFINITY;
        let places = self.stops.iter().filter_map(|(at, label)| {
            let place = self.x.scale.place(*at)?;
            let half = DIGIT * label.chars().count() as f64 / 2.0;
            let has_room = place - half >= end;
            if has_room {
                end = place + half + SPACE;
            }
            Some((place, has_room.then(|| label.clone())))
        });
        tick_marks(frame, places)
    }

    fn reference(&self, level: f64, name: &str, frame: Frame) -> Markup {
        let class = if self.has_stops() { "one" } else { "reference" };
        html! {
            @if let Some(place) = self.y.scale.place(level) {
                @let y = frame.y(place);
                line class=(class) x1="0" x2=(percent(frame.width)) y1=(px(y)) y2=(px(y)) {}
                @if !name.is_empty() {
                    text.tick.strong x=(percent(frame.width)) y=(px(y - 4.0)) text-anchor="end" { (name) }
                }
            }
        }
    }

    /// Moved apart where they would overlap. Those of a chart with stops have their own column, and leaders to lines.
    fn keys(&self, frame: Frame) -> Markup {
        let ends = self.lines.iter().filter_map(|line| {
            let (x, y) = line.points.last()?;
            let (across, y) = self.at(*x, *y, frame)?;
            Some((&line.of, frame.x(across), y))
        });
        let mut ends: Vec<(&Series, f64, f64)> = ends.collect();
        ends.sort_by(|a, b| a.2.total_cmp(&b.2));
        let are_long = self.has_stops() && 100.0 - frame.width < KEYS.0;
        if are_long || ends.len() as f64 * KEY_HEIGHT > frame.bottom - frame.top {
            // There is no room to tell them apart here; the legend does.
            return html! {};
        }
        let ys = apart(ends.iter().map(|(_, _, y)| *y), frame);
        let column = ends.iter().map(|(_, across, _)| *across).reduce(f64::max);
        let column = column.filter(|_| self.has_stops());
        html! {
            @for ((of, across, end), y) in ends.iter().zip(ys) {
                @if let Some(column) = column.filter(|column| column > across) {
                    line.leader.(of.style.class()) x1=(percent(*across)) y1=(px(*end)) x2=(percent(column)) y2=(px(y)) {}
                }
                text.key.(of.style.class()) data-system=(of.key) x=(percent(column.unwrap_or(*across))) dx="8" y=(px(y + 4.0)) {
                    (of.key)
                }
            }
        }
    }
}

/// Rising positions, moved as little as keeps neighbours a key's height apart in the frame: overlapping ones share a
/// block around their mean.
fn apart(ys: impl ExactSizeIterator<Item = f64>, frame: Frame) -> Vec<f64> {
    let room = frame.bottom - KEY_HEIGHT * ys.len().saturating_sub(1) as f64;
    // Positions less the height of the keys above, in blocks: their sum and their number.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (above, y) in ys.enumerate() {
        let mut block = (y - KEY_HEIGHT * above as f64, 1);
        while let Some(last) =
            blocks.pop_if(|last| last.0 / last.1 as f64 > block.0 / block.1 as f64)
        {
            block = (block.0 + last.0, block.1 + last.1);
        }
        blocks.push(block);
    }
    let all = blocks.into_iter().flat_map(|(sum, n)| std::iter::repeat_n(sum / n as f64, n));
    let all = all.map(|y| y.min(room).max(frame.top)).enumerate();
    all.map(|(above, y)| y + KEY_HEIGHT * above as f64).collect()
}

/// The ends of a scale and its kind, for the script that shows values under the pointer.
fn ends(scale: Scale) -> String {
    let (kind, end) = match scale {
        Scale::Linear { high, .. } => ("linear", high),
        Scale::Log { high, .. } => ("log", high),
        Scale::Nines { most } => ("nines", most),
    };
    format!("{kind} {} {}", attribute(scale.low()), attribute(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::chart::style::Style;
    use crate::format;
    use maud::Render;

    fn chart(lines: Vec<SystemLine>) -> LineChart {
        LineChart {
            label: "rows/s over time".into(),
            height: 120.0,
            x: Axis {
                scale: Scale::Linear { low: 0.0, high: 10.0 },
                name: "seconds".into(),
                text: format::number,
            },
            y: Axis {
                scale: Scale::Linear { low: 0.0, high: 100.0 },
                name: "rows/s".into(),
                text: format::number,
            },
            lines,
            reference: Some((80.0, "target".into())),
            noise: None,
            stops: Vec::new(),
        }
    }

    fn line(place: usize, points: Vec<(f64, f64)>) -> SystemLine {
        SystemLine {
            of: Series { style: Style(place), key: "A".into(), name: "<a>".into() },
            band: points.iter().map(|(x, y)| (*x, y - 5.0, y + 5.0)).collect(),
            points,
            marks: Vec::new(),
        }
    }

    #[test]
    fn two_lines() {
        let lines = vec![
            line(0, vec![(0.0, 50.0), (5.0, 60.0), (10.0, 40.0)]),
            line(1, vec![(0.0, 52.0), (5.0, f64::NAN), (10.0, 41.0)]),
        ];
        insta::assert_snapshot!(chart(lines).page().0.replace("><", ">\n<"));
    }

    #[test]
    fn one_point_has_a_marker_and_none_a_sentence() {
        let one = chart(vec![line(0, vec![(3.0, 50.0)])]).page().0;
        assert!(one.contains("class=\"mark k0\" href=\"#mark0\""), "{one}");
        let none = Chart::lines(chart(vec![line(0, Vec::new())])).render().0;
        assert_eq!(none, r#"<p class="nothing">Nothing was recorded for this chart.</p>"#);
    }

    #[test]
    fn in_a_picture_outlines_are_as_wide_as_their_place() {
        let mut column = Column::new(400.0);
        chart(vec![line(0, vec![(0.0, 50.0), (10.0, 40.0)])]).set_in(&mut column);
        let drawn = column.drawn().0;
        assert!(drawn.contains(r#"viewBox="0 0 368 120""#), "{drawn}");
        assert!(drawn.contains(r#"d="M0.0 59L368.0 66.8""#), "{drawn}");
        for name in ["rows/s, from zero", "seconds, from zero"] {
            assert!(drawn.contains(name), "{drawn}");
        }
    }

    #[test]
    fn keys_do_not_overlap() {
        let frame = Frame { width: 92.0, top: 20.0, bottom: 100.0 };
        let ys = apart([50.0, 50.5, 99.0, 99.5].into_iter(), frame);
        assert!(ys.windows(2).all(|w| w[1] - w[0] >= KEY_HEIGHT - 1e-9), "{ys:?}");
        assert!(ys.iter().all(|y| (20.0..=100.0).contains(y)), "{ys:?}");
        assert_eq!(ys[..2], [43.75, 56.75], "as far up as down");
    }
}
