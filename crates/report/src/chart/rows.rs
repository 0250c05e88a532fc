//! Rows over a common axis: a name, what is said of it, and a strip as wide as there is room. The interval of a ratio
//! as a bar, for such strips and for the cells of tables.

use maud::{Markup, html};

use super::axis::{Axis, Frame, Scale, vertical};
use super::column::{Column, Look};
use super::style::{Series, percent, px};
use crate::format::joined;

#[derive(Default)]
pub(crate) struct StripRow {
    /// A system; a step has no key.
    pub(crate) of: Series,
    /// What a step does, under the pointer, and the title above it; empty for none.
    pub(crate) about: String,
    pub(crate) heading: String,
    pub(crate) said: Vec<Said>,
    /// What it shows, for people who do not see it.
    pub(crate) label: String,
    /// The class of the strip's colour; empty for none.
    pub(crate) tone: &'static str,
    /// Height of the strip, in pixels.
    pub(crate) height: f64,
    /// What the strip shows: per cent across, pixels down.
    pub(crate) strip: Markup,
}

/// A value, and what is concluded from it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// In the colour of any text.
    pub(crate) plain: String,
    /// In the colour of its tone; empty for nothing.
    pub(crate) verdict: String,
    /// The class of that colour; empty for none.
    pub(crate) tone: &'static str,
}

pub(crate) struct Rows {
    pub(crate) lines: Vec<StripRow>,
    pub(crate) axis: Axis,
    /// How to read the strips, after the axis's own name.
    pub(crate) note: String,
    /// The class of this kind of chart; empty for none.
    pub(crate) class: &'static str,
}

/// Pixels of the axis below the rows.
const AXIS: f64 = 20.0;

const TICKS: usize = 4;

const FRAME: Frame = Frame { width: 100.0, top: 0.0, bottom: 1.0 };

/// Pixels of a picture before a name, so that all begin below each other where the letters of systems allow.
const LEFT: f64 = 24.0;

/// Pixels of a picture between a name and what is said of it, at least.
const APART: f64 = 24.0;

impl Rows {
    pub(crate) fn page(&self) -> Markup {
        html! {
            div class=(classes("rows", self.class)) {
                @for row in &self.lines { (row.page()) }
                div.axis-row {
                    svg.strip height=(px(AXIS)) aria-hidden="true" { (vertical(&self.axis, FRAME, TICKS)) }
                }
            }
            p.axis-name.below { (self.below()) }
        }
    }

    pub(crate) fn set_in(&self, column: &mut Column) {
        for row in &self.lines {
            row.set_in(column, self.class);
        }
        column.drawing("strip", AXIS, &vertical(&self.axis, FRAME, TICKS));
        column.space(4.0);
        column.text(Look::NOTE, &self.below());
    }

    fn below(&self) -> String {
        format!("{}{}", self.axis.described(), self.note)
    }
}

impl StripRow {
    fn page(&self) -> Markup {
        let some = |text| Some(text).filter(|text: &&String| !text.is_empty());
        let key = some(&self.of.key);
        html! {
            @if let Some(heading) = some(&self.heading) { div.heading { (heading) } }
            div.row data-system=[key] {
                span.row-name title=[some(&self.about)] {
                    @if let Some(key) = key { span.chip.(self.of.style.class()) { (key) } " " }
                    (self.of.name)
                }
                span.row-value {
                    @for (place, said) in self.said.iter().enumerate() {
                        @if place > 0 { " · " }
                        (said.plain)
                        @if !said.verdict.is_empty() {
                            " " span class={ "verdict " (said.tone) } { (said.verdict) }
                        }
                    }
                }
                svg class=(classes("strip", self.tone)) height=(px(self.height)) role="img" aria-label=(self.label) {
                    (self.strip)
                }
            }
        }
    }

    fn set_in(&self, column: &mut Column, class: &str) {
        let has_key = !self.of.key.is_empty();
        let left = if has_key { (Look::KEY.width(&self.of.key) + 8.0).max(LEFT) } else { 0.0 };
        let names = Look::BODY.lines(&self.of.name, column.width - left);
        column.text(Look::NOTE, &self.heading);
        let said = self.said.iter().map(|one| format!("{} {}", one.plain, one.verdict));
        let said = Look::BODY.width(&joined(said, " · "));
        let first = names.first().map_or(0.0, |name| Look::BODY.width(name));
        let fits = names.len() < 2 && left + first + APART + said <= column.width;
        let end = column.width;
        let size = px(Look::BODY.size);
        column.line(Look::BODY, |baseline| {
            html! {
                text.key.(self.of.style.class()) x="0" y=(px(baseline)) font-size=(size) { (self.of.key) }
                @if let Some(name) = names.first() {
                    text.body x=(px(left)) y=(px(baseline)) font-size=(size) { (name) }
                }
                @if fits { (spans(&self.said, end, "end", baseline)) }
            }
        });
        column.lines(Look::BODY, left, names.get(1..).unwrap_or_default());
        if !fits {
            for one in &self.said {
                column.line(Look::BODY, |baseline| {
                    spans(std::slice::from_ref(one), left, "start", baseline)
                });
            }
        }
        column.space(2.0);
        column.drawing(&classes(&classes("strip", self.tone), class), self.height, &self.strip);
        column.space(8.0);
    }
}

/// What is said as one text that begins or ends there.
fn spans(said: &[Said], x: f64, anchor: &str, baseline: f64) -> Markup {
    html! {
        text.body x=(px(x)) y=(px(baseline)) text-anchor=(anchor) font-size=(px(Look::BODY.size)) {
            @for (place, one) in said.iter().enumerate() {
                @if place > 0 { " · " }
                (one.plain)
                @if !one.verdict.is_empty() {
                    " " tspan class={ "verdict " (one.tone) } { (one.verdict) }
                }
            }
        }
    }
}

/// Two classes, of which the second may be none.
fn classes(first: &str, second: &str) -> String {
    format!("{first} {second}").trim_end().to_owned()
}

/// A ratio with its interval, and how far it must be from 1 to matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// Candidate / base.
    pub(crate) value: f64,
    /// Lower and upper end of its interval, where there is one.
    pub(crate) ends: Option<(f64, f64)>,
    /// The practical margin: 0.02 for 2 %.
    pub(crate) margin: f64,
}

impl Ratio {
    /// Is nothing left of the candidate's rate?
    pub(crate) fn is_zero(self) -> bool {
        self.value == 0.0
    }
}

const HEIGHT: f64 = 16.0;

/// Symmetrical about 1, and shared, so that bars can be compared across a table. Ratios beyond a factor of four are
/// drawn at its ends.
pub(crate) fn shared_scale(ratios: impl Iterator<Item = Ratio>) -> Scale {
    let parts = ratios.flat_map(|r| {
        let (low, high) = r.ends.unwrap_or((r.value, r.value));
        [low, r.value, high]
    });
    let usable = parts.filter(|v| v.is_finite() && *v > 0.0);
    let end = (usable.map(|v| v.ln().abs().exp()).fold(1.1, f64::max) * 1.02).min(4.0);
    Scale::Log { low: 1.0 / end, high: end }
}

/// The bar. Its colour comes from the class of what surrounds it.
pub(crate) fn interval(ratio: Ratio, scale: Scale) -> Markup {
    html! {
        svg.bar height=(px(HEIGHT)) aria-hidden="true" {
            (ground(ratio.margin, None, scale, HEIGHT))
            (whiskers(ratio, scale, HEIGHT / 2.0))
            @if let Some(point) = scale.percent(ratio.value) {
                circle.point cx=(percent(point)) cy=(px(HEIGHT / 2.0)) r="3.2" {}
            }
        }
    }
}

/// Margin, what may be chance, and the line at 1, below the marks of this and larger charts.
pub(crate) fn ground(margin: f64, noise: Option<(f64, f64)>, scale: Scale, height: f64) -> Markup {
    // A factor up or down, as for the verdict.
    let factor = 1.0 + margin;
    let bands = [("margin", Some((1.0 / factor, factor))), ("noise", noise)];
    let bands = bands.into_iter().filter_map(|(class, ends)| Some((class, within(ends?, scale)?)));
    html! {
        @for (class, (from, to)) in bands {
            rect class=(class) x=(percent(from)) y="0" width=(percent(to - from)) height=(px(height)) {}
        }
        @if let Some(one) = scale.percent(1.0) {
            line.one x1=(percent(one)) x2=(percent(one)) y1="0" y2=(px(height)) {}
        }
    }
}

pub(crate) fn whiskers(ratio: Ratio, scale: Scale, down: f64) -> Markup {
    html! {
        @if let Some((from, to)) = ratio.ends.and_then(|ends| within(ends, scale)) {
            line.interval x1=(percent(from)) x2=(percent(to)) y1=(px(down)) y2=(px(down)) {}
        }
    }
}

fn within((low, high): (f64, f64), scale: Scale) -> Option<(f64, f64)> {
    scale.percent(low).zip(scale.percent(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis::Scale;
    use crate::chart::style::Style;
    use crate::format;

    fn rows(name: &str) -> Rows {
        Rows {
            lines: vec![StripRow {
                of: Series { style: Style(1), key: "B".into(), name: name.into() },
                said: vec![Said {
                    plain: "0.80 [0.75, 0.86]".into(),
                    verdict: "slower".into(),
                    tone: "regressed",
                }],
                tone: "regressed",
                height: 26.0,
                strip: html! { line x1="0" x2="50%" {} },
                ..StripRow::default()
            }],
            axis: Axis {
                scale: Scale::Linear { low: 0.0, high: 1.0 },
                name: "ratio".into(),
                text: format::tick,
            },
            note: "; a note".into(),
            class: "",
        }
    }

    fn picture(name: &str) -> (String, f64) {
        let mut column = Column::new(400.0);
        rows(name).set_in(&mut column);
        (column.drawn().0, column.height)
    }

    #[test]
    fn a_short_name_leaves_room_beside_it() {
        let (drawn, height) = picture("<b>");
        assert!(drawn.contains(r#"x="400" y="14.1" text-anchor="end""#), "{drawn}");
        assert!(drawn.contains(">&lt;b&gt;</text>"), "{drawn}");
        assert!(
            drawn.contains(r#"0.80 [0.75, 0.86] <tspan class="verdict regressed">slower</tspan>"#),
            "{drawn}"
        );
        assert!(drawn.contains("ratio, from zero; a note"), "{drawn}");
        assert!((height - 94.0).abs() < 1e-9, "{height}");
    }

    #[test]
    fn a_long_name_is_whole_and_what_is_said_stands_below_it() {
        let name = "mysql-8.0.31/innodb/z12a_gtid ".repeat(4);
        let (drawn, height) = picture(&name);
        assert!(drawn.contains(r#"text-anchor="start" font-size="13">0.80"#), "{drawn}");
        assert_eq!(drawn.matches("z12a").count(), 4, "{drawn}");
        assert!(height > 94.0 + 2.0 * Look::BODY.leading, "{height}");
    }
}

#[cfg(test)]
mod tests_of_interval {
    use super::*;

    const RATIO: Ratio = Ratio { value: 0.8, ends: Some((0.75, 0.86)), margin: 0.02 };

    #[test]
    fn snapshot() {
        let scale = shared_scale([RATIO].into_iter());
        insta::assert_snapshot!(interval(RATIO, scale).0.replace("><", ">\n<"));
    }

    #[test]
    fn the_scale_is_symmetrical_and_bounded() {
        let absurd = Ratio { value: 1e9, ends: Some((f64::NAN, f64::INFINITY)), margin: 0.02 };
        assert_eq!(shared_scale([absurd].into_iter()), Scale::Log { low: 0.25, high: 4.0 });
        let svg = interval(absurd, shared_scale([absurd].into_iter())).0;
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        let one = shared_scale(std::iter::empty()).place(1.0).unwrap();
        assert!((one - 0.5).abs() < 1e-9, "{one}");
    }
}
