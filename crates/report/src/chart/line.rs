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
    /// What stands at the points of a sweep; other lines have a few markers.
    pub(crate) marks: Vec<SweepMark>,
}

pub(crate) struct SweepMark {
    /// Clients; more than zero.
    pub(crate) clients: u32,
    pub(crate) ratio: Ratio,
    /// What is said of it under the pointer: system, clients, ratio, verdict.
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
    /// A level to compare with, and what it is; in a sweep 1, without a name.
    pub(crate) reference: Option<(f64, String)>,
    /// Client counts of a sweep, which take the place of round ticks; empty in other charts.
    pub(crate) clients: Vec<u32>,
}

/// Pixels between two keys.
const KEY_HEIGHT: f64 = 13.0;

/// Points of a line that carry its marker, and the same where there are many lines.
const MARKS: usize = 5;
const FEW_MARKS: usize = 2;

/// From so many lines on there are few markers.
const MANY_LINES: usize = 9;

/// What a client count below the plot needs of its width, as a share for each digit and for the space between
/// two: on a telephone a digit is seven of some three hundred pixels wide.
const DIGIT: f64 = 0.023;
const SPACE: f64 = 0.012;

impl LineChart {
    pub(crate) fn page(&self) -> Markup {
        let frame = self.frame();
        let hovered = |told: String| (!self.is_sweep()).then_some(told);
        let edges = format!("{} {} {}", px(frame.top), px(frame.bottom), frame.width);
        html! {
            p.axis-name { (self.y.described()) }
            svg.chart.hover[!self.is_sweep()] height=(px(self.height)) role="img" aria-label=(self.label)
                data-x=[hovered(ends(self.x.scale))] data-y=[hovered(ends(self.y.scale))] data-frame=[hovered(edges)] {
                (self.plot(frame, Across::PAGE))
            }
            p.axis-name.below { (self.x.described()) }
        }
    }

    pub(crate) fn set_in(&self, column: &mut Column) {
        let frame = self.frame();
        let across = Across::pixels(column.width * frame.width / 100.0);
        column.text(Look::NOTE, &self.y.described());
        column.drawing("chart", self.height, &self.plot(frame, across));
        column.text(Look::NOTE, &self.x.described());
    }

    const fn is_sweep(&self) -> bool {
        !self.clients.is_empty()
    }

    fn frame(&self) -> Frame {
        let (width, top) = if self.is_sweep() { (93.0, 16.0) } else { (92.0, 20.0) };
        Frame { width, top, bottom: self.height - 22.0 }
    }

    /// All but the names of the axes.
    fn plot(&self, frame: Frame, across: Across) -> Markup {
        html! {
            (gridlines(&self.y, frame))
            @if self.is_sweep() {
                (self.client_ticks(frame))
            } @else {
                // Scripts set other ticks where a part of the axis is looked at.
                g.across { (vertical(&self.x, frame, 6)) }
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
        let name = (!self.is_sweep()).then_some(&of.name);
        let dash = Some(of.style.dash()).filter(|d| !d.is_empty());
        html! {
            @if !d.is_empty() {
                path.line.(of.style.class()) data-system=(of.key) data-name=[name] stroke-dasharray=[dash] d=(d) {}
            }
        }
    }

    /// The marks of a sweep; otherwise a few markers, each line's beginning at another point so that they do not
    /// cover each other.
    fn marks(&self, line: &SystemLine, frame: Frame) -> Markup {
        let marks = if self.lines.len() < MANY_LINES { MARKS } else { FEW_MARKS };
        let every = line.points.len().div_ceil(marks).max(1);
        let first = (line.of.style.0 * every / 4) % every;
        let marked = line.points.iter().skip(first).step_by(every).filter(|_| !self.is_sweep());
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
    fn mark(&self, mark: &SweepMark, frame: Frame) -> Markup {
        let Some((across, at)) = self.at(f64::from(mark.clients), mark.ratio.value, frame) else {
            return html! {};
        };
        let across = percent(frame.x(across));
        let down = |value: f64| self.y.scale.place(value).map(|place| px(frame.y(place)));
        let ends = mark.ratio.ends.and_then(|(low, high)| Some((down(low)?, down(high)?)));
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

    /// A tick at every client count, and its number where there is room.
    fn client_ticks(&self, frame: Frame) -> Markup {
        let half = |count: u32| DIGIT * count.to_string().len() as f64 / 2.0;
        let mut end = f64::NEG_INFINITY;
        let places = self.clients.iter().filter_map(|count| {
            let place = self.x.scale.place(f64::from(*count))?;
            let has_room = place - half(*count) >= end;
            if has_room {
                end = place + half(*count) + SPACE;
            }
            Some((place, has_room.then(|| count.to_string())))
        });
        tick_marks(frame, places)
    }

    fn reference(&self, level: f64, name: &str, frame: Frame) -> Markup {
        let class = if self.is_sweep() { "one" } else { "reference" };
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

    /// The keys at the ends of the lines, moved apart where they would overlap.
    fn keys(&self, frame: Frame) -> Markup {
        let ends = self.lines.iter().filter_map(|line| {
            let (x, y) = line.points.last()?;
            Some((&line.of, self.at(*x, *y, frame)?))
        });
        let mut ends: Vec<(&Series, (f64, f64))> = ends.collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        if ends.len() as f64 * KEY_HEIGHT > frame.bottom - frame.top {
            // There is no room to tell them apart here; the legend does.
            return html! {};
        }
        let ys = apart(ends.iter().map(|(_, (_, y))| *y).collect(), frame);
        let right = if self.is_sweep() { 9 } else { 8 };
        html! {
            @for ((of, (across, _)), y) in ends.iter().zip(ys) {
                text.key.(of.style.class()) data-system=(of.key) x=(percent(frame.x(*across))) dx=(right) y=(px(y + 4.0)) {
                    (of.key)
                }
            }
        }
    }
}

/// Rising positions, moved so that neighbours are a key's height apart and all are within the frame.
fn apart(mut ys: Vec<f64>, frame: Frame) -> Vec<f64> {
    let mut least = f64::MIN;
    for y in &mut ys {
        *y = y.max(least);
        least = *y + KEY_HEIGHT;
    }
    let mut most = frame.bottom;
    for y in ys.iter_mut().rev() {
        *y = y.min(most);
        most = *y - KEY_HEIGHT;
    }
    ys
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
            clients: Vec::new(),
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
        let ys = apart(vec![50.0, 50.5, 99.0, 99.5], frame);
        assert!(ys.windows(2).all(|w| w[1] - w[0] >= KEY_HEIGHT - 1e-9), "{ys:?}");
        assert!(ys.iter().all(|y| (20.0..=100.0).contains(y)), "{ys:?}");
    }
}
