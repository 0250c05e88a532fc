//! The charts of a report, each as a picture that stands alone: for a blog post or slides.

use std::collections::HashSet;
use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::Report;
use crate::chart::Chart;
use crate::chart::column::{Column, Look};
use crate::chart::style::{COLOURS, Series, markers, px};
use crate::list_page::STYLE;
use crate::markdown::escape;
use crate::page::{Figure, all_figures};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartFile {
    /// Without an ending: lower-case letters, digits, `.`, `_` and `-`, beginning with a letter. Unique in its run.
    pub name: String,
    pub title: String,
    /// The picture, with its title, its legend and where it comes from. It needs nothing else.
    pub svg: String,
}

impl Report<'_> {
    /// Every chart of a run that is not empty.
    pub fn charts(&self) -> Vec<ChartFile> {
        let figures = all_figures(self);
        let names = file_names(figures.iter().map(|(name, _)| name.as_str()));
        let files = figures.into_iter().zip(names).map(|((_, figure), name)| {
            let svg = picture(self, &figure);
            ChartFile { name, title: figure.title, svg }
        });
        files.collect()
    }
}

/// The charts as images at the end of a report in Markdown; `directory` is seen from there, `ending` that of the files.
pub fn chart_links(charts: &[ChartFile], directory: &str, ending: &str) -> String {
    let directory = encoded(directory);
    let mut text = String::from("\n## Charts\n");
    for chart in charts {
        let _infallible =
            write!(text, "\n![{}]({directory}/{}.{ending})\n", escape(&chart.title), chart.name);
    }
    text
}

fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._~-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Characters of a name at most. Filesystems allow 255 bytes, with an ending and a temporary one.
const LONGEST: usize = 120;

/// What stands between words, and neither begins nor ends a name.
const MARKS: [char; 2] = ['-', '.'];

/// A safe name for each, without an ending: two that would be the same get a number. The words begin with a letter.
pub fn file_names<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let free = |words: &str| {
        let name = safe(words);
        let others = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone()).chain(others).find(|name| taken.insert(name.clone()))
    };
    words.filter_map(free).collect()
}

/// Lower-case ASCII without anything that a filesystem, a shell or a link takes for something else.
fn safe(words: &str) -> String {
    let kept = words.chars().map(|c| match c {
        'a'..='z' | '0'..='9' | '.' | '_' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        _ => '-',
    });
    let mut name = String::new();
    for c in kept.take(LONGEST) {
        // No `..`, and of two marks beside each other the first.
        if !(MARKS.contains(&c) && name.ends_with(MARKS)) {
            name.push(c);
        }
    }
    name.trim_matches(MARKS).to_owned()
}

/// Pixels of a picture, about the column of a blog post; and its white border.
const WIDTH: f64 = 800.0;
const MARGIN: f64 = 24.0;

/// Of the legend: pixels of the piece of a line, and between two systems.
const SWATCH: f64 = 34.0;
const GAP: f64 = 8.0;
const APART: f64 = 26.0;

pub(super) fn picture(report: &Report<'_>, figure: &Figure) -> String {
    let keys = figure.chart.keys();
    let systems = report.systems.iter().filter(|system| keys.contains(&system.key.as_str()));
    let named = systems.map(|system| {
        let role = if system.is_base { " (base)" } else { "" };
        Series { name: format!("{}{role}", system.name), ..system.series() }
    });
    let info = &report.input.data.info;
    let source = format!("backslide {}, run {}, {}", info.backslide, info.id, info.plan.name);
    alone(&figure.title, &named.collect::<Vec<_>>(), &figure.chart, &source)
}

/// A chart that needs nothing else: with a title, a legend of these series, and where it comes from.
pub(crate) fn alone(title: &str, series: &[Series], chart: &Chart, source: &str) -> String {
    let mut column = Column::new(WIDTH - 2.0 * MARGIN);
    column.text(Look::TITLE, title);
    column.space(8.0);
    legend(&mut column, series);
    chart.set_in(&mut column);
    column.space(10.0);
    column.text(Look::SOURCE, source);
    let height = column.height + 2.0 * MARGIN;
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(px(WIDTH)) height=(px(height))
            viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } font-size=(px(Look::NOTE.size)) role="img" {
            title { (title) }
            style { (PreEscaped(style())) }
            (markers())
            rect.paper width=(px(WIDTH)) height=(px(height)) {}
            g transform={ "translate(" (px(MARGIN)) " " (px(MARGIN)) ")" } { (column.drawn()) }
        }
    };
    characters(&drawn.0)
}

/// The series, as many on a line as fit.
fn legend(column: &mut Column, all: &[Series]) {
    let mut rest: Vec<&Series> = all.iter().rev().collect();
    while let Some(first) = rest.pop() {
        let mut line = vec![(0.0, first)];
        let mut taken = entry_width(first);
        while let Some(next) = rest.pop_if(|next| taken + entry_width(next) <= column.width) {
            line.push((taken, next));
            taken += entry_width(next);
        }
        let width = column.width;
        column.line(Look::BODY, |baseline| {
            html! { @for (x, one) in &line { (entry(*x, one, width, baseline)) } }
        });
        // Only a name that has the line for itself may need more than one.
        if line.len() == 1 {
            let more = name_lines(first, width);
            column.lines(Look::BODY, name_left(first), more.get(1..).unwrap_or_default());
        }
    }
    if !all.is_empty() {
        column.space(8.0);
    }
}

fn entry(x: f64, of: &Series, width: f64, baseline: f64) -> Markup {
    let size = px(Look::BODY.size);
    html! {
        g transform={ "translate(" (px(x)) " " (px(baseline - 10.0)) ")" } { (of.style.swatch()) }
        text.key.(of.style.class()) x=(px(x + SWATCH + GAP)) y=(px(baseline)) font-size=(size) { (of.key) }
        @if let Some(name) = name_lines(of, width).first() {
            text.body x=(px(x + SWATCH + GAP + key_width(of))) y=(px(baseline)) font-size=(size) { (name) }
        }
    }
}

/// Its name in lines that end within the width of the picture.
fn name_lines(of: &Series, width: f64) -> Vec<String> {
    Look::BODY.lines(&of.name, width - name_left(of))
}

fn entry_width(of: &Series) -> f64 {
    name_left(of) + Look::BODY.width(&of.name) + APART
}

fn name_left(of: &Series) -> f64 {
    SWATCH + GAP + key_width(of)
}

/// Letters in bold, and the space after them.
fn key_width(of: &Series) -> f64 {
    Look::KEY.width(&of.key) + GAP
}

/// Without the characters that XML has no place for, not even as a reference: names may hold them.
fn characters(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '\t' | '\n' | '\r' => c,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        _ => c,
    });
    replaced.collect()
}

const CHART: &str = include_str!("../assets/chart.css");

/// The rules, without comments and variables.
pub(super) fn style() -> String {
    let rules = CHART.split_once("*/").map_or(CHART, |(_, rules)| rules);
    let mut style = String::new();
    for line in rules.lines().filter(|line| !line.is_empty()) {
        let times = if line.contains("kN") { COLOURS } else { 1 };
        for place in 0..times {
            let line = line.replace("kN", &format!("k{place}")).replace("cN", &format!("c{place}"));
            style.push_str(&resolved(&line));
            style.push('\n');
        }
    }
    style
}

/// The rule with the page's light colours in the place of `var(--name)`.
fn resolved(rule: &str) -> String {
    let mut parts = rule.split("var(--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(')').unwrap_or((part, ""));
        text.push_str(light(name).unwrap_or("#000000"));
        text.push_str(rest);
    }
    text
}

/// A light colour: the first that the page's stylesheet gives that name.
fn light(name: &str) -> Option<&'static str> {
    let (_, from) = STYLE.split_once(&format!("--{name}: "))?;
    from.split_once(';').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_directories_do_not_end_a_link() {
        let chart = ChartFile {
            name: "ratio-l.i0".into(),
            title: "l.i0 ](x) · <b>".into(),
            svg: String::new(),
        };
        assert_eq!(
            chart_links(&[chart], "../my (charts)", "png"),
            "\n## Charts\n\n![l.i0 \\](x) · &lt;b&gt;](../my%20%28charts%29/ratio-l.i0.png)\n"
        );
    }
}

#[cfg(test)]
mod tests_of_name {
    use super::*;
    use proptest::collection;
    use proptest::prelude::*;

    fn all(words: &[&str]) -> Vec<String> {
        file_names(words.iter().copied())
    }

    #[test]
    fn names_of_steps_stay_readable() {
        let words = ["ratio-l.i0", "time-read-only_range=100", "sweep-Point Query ×8"];
        assert_eq!(all(&words), ["ratio-l.i0", "time-read-only_range-100", "sweep-point-query-8"]);
    }

    #[test]
    fn bad_names_are_safe() {
        let words = ["ratio-../../etc/x", "ratio-.hidden", "ratio-<b>\0\n", "ratio-"];
        assert_eq!(all(&words), ["ratio-etc-x", "ratio-hidden", "ratio-b", "ratio"]);
    }

    #[test]
    fn equal_names_get_numbers() {
        assert_eq!(all(&["a-x", "a-X", "a-x-2", "a-x"]), ["a-x", "a-x-2", "a-x-2-2", "a-x-3"]);
    }

    proptest! {
        #[test]
        fn whatever_the_words(words in collection::vec(collection::vec(any::<char>(), 0..200), 0..8)) {
            let words = words.into_iter().map(|word| word.into_iter().collect::<String>());
            let words: Vec<String> = words.map(|word| format!("time-{word}")).collect();
            let names = file_names(words.iter().map(String::as_str));
            let distinct: HashSet<&String> = names.iter().collect();
            prop_assert_eq!(distinct.len(), names.len());
            for name in &names {
                prop_assert!(name.len() < 140 && name.starts_with("time"), "{}", name);
                let is_safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
                prop_assert!(name.chars().all(is_safe) && !name.contains(".."), "{}", name);
            }
        }
    }
}

#[cfg(test)]
mod tests_of_picture {
    use super::characters;

    #[test]
    fn what_xml_has_no_place_for_is_replaced() {
        assert_eq!(characters("a\0b\u{1b}c\u{ffff}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(characters("a b\n\tÄ"), "a b\n\tÄ");
    }
}

#[cfg(test)]
mod tests_of_style {
    use super::*;

    #[test]
    fn every_variable_is_a_colour_of_the_page() {
        let names = CHART.split("var(--").skip(1);
        let names = names.map(|rest| rest.split_once(')').unwrap().0);
        for name in names.filter(|name| *name != "cN") {
            assert!(light(name).unwrap().starts_with('#'), "{name}");
        }
        assert!((0..COLOURS).all(|place| light(&format!("c{place}")).is_some()));
        assert_eq!(light("ink"), Some("#1d2126"));
        assert_eq!(light("none"), None);
    }

    #[test]
    fn what_is_left_is_plain() {
        let style = style();
        assert!(style.contains(".mark.k7 { fill: #a3553a; }"), "{style}");
        for unknown in ["var(", "kN", "cN", "currentColor", "light-dark", "@", "/*", "<", "&"] {
            assert!(!style.contains(unknown), "{unknown}");
        }
        let opened = style.matches('{').count();
        assert_eq!(opened, style.matches('}').count());
        assert!(opened > 2 * COLOURS);
    }
}
