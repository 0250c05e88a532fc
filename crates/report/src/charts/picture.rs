//! One picture: title, legend, chart, and where it comes from.

use maud::{Markup, PreEscaped, html};

use super::style::style;
use crate::chart::column::{Column, Look};
use crate::chart::style::markers;
use crate::chart::svg::px;
use crate::page::NamedFigure;
use crate::{Report, Seen};

/// Pixels of a picture, about the column of a blog post; and its white border.
const WIDTH: f64 = 800.0;
const MARGIN: f64 = 24.0;

/// Of the legend: pixels of the piece of a line, and between two systems.
const SWATCH: f64 = 34.0;
const GAP: f64 = 8.0;
const APART: f64 = 26.0;

pub(super) fn picture(report: &Report<'_>, figure: &NamedFigure) -> String {
    let mut column = Column::new(WIDTH - 2.0 * MARGIN);
    column.text(Look::Title, &figure.title);
    column.space(8.0);
    legend(&mut column, report, &figure.chart.keys());
    figure.chart.set_in(&mut column);
    column.space(10.0);
    column.text(Look::Source, &source(report));
    let height = column.height() + 2.0 * MARGIN;
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(px(WIDTH)) height=(px(height))
            viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } font-size=(px(Look::Note.size())) role="img" {
            title { (figure.title) }
            style { (PreEscaped(style())) }
            (markers())
            rect.paper width=(px(WIDTH)) height=(px(height)) {}
            g transform={ "translate(" (px(MARGIN)) " " (px(MARGIN)) ")" } { (column.drawn()) }
        }
    };
    characters(&drawn.0)
}

/// Which run of which plan it shows, and what measured it.
fn source(report: &Report<'_>) -> String {
    let info = &report.input.data.info;
    format!("backslide {}, run {}, {}", info.backslide, info.id, info.plan.name)
}

/// The systems with these letters, as many on a line as fit.
fn legend(column: &mut Column, report: &Report<'_>, keys: &[&str]) {
    let systems = report.systems.iter().rev();
    let mut rest: Vec<&Seen<'_>> =
        systems.filter(|system| keys.contains(&system.key.as_str())).collect();
    while let Some(first) = rest.pop() {
        let mut line = vec![(0.0, first)];
        let mut taken = entry_width(first);
        while let Some(next) = rest.pop_if(|next| taken + entry_width(next) <= column.width()) {
            line.push((taken, next));
            taken += entry_width(next);
        }
        legend_line(column, &line);
    }
    if !keys.is_empty() {
        column.space(8.0);
    }
}

/// One line of it: systems and where they begin.
fn legend_line(column: &mut Column, line: &[(f64, &Seen<'_>)]) {
    // Only a name that has the line for itself may need more than one.
    let mut names = Vec::new();
    let mut left = 0.0;
    for (_, system) in line {
        left = SWATCH + GAP + key_width(system);
        names.push(Look::Body.lines(&name(system), column.width() - left));
    }
    column.line(Look::Body, |baseline| {
        html! {
            @for ((x, system), names) in line.iter().zip(&names) {
                (entry(*x, system, names, baseline))
            }
        }
    });
    if line.len() == 1 {
        let more = names.first().and_then(|names| names.get(1..));
        column.lines(Look::Body, left, more.unwrap_or_default());
    }
}

fn entry(x: f64, system: &Seen<'_>, names: &[String], baseline: f64) -> Markup {
    let style = system.style();
    let size = px(Look::Body.size());
    let key = x + SWATCH + GAP;
    html! {
        g transform={ "translate(" (px(x)) " " (px(baseline - 10.0)) ")" } { (style.swatch()) }
        text.key.(style.class()) x=(px(key)) y=(px(baseline)) font-size=(size) { (system.key) }
        @if let Some(name) = names.first() {
            text.body x=(px(key + key_width(system))) y=(px(baseline)) font-size=(size) { (name) }
        }
    }
}

fn entry_width(system: &Seen<'_>) -> f64 {
    SWATCH + GAP + key_width(system) + Look::Body.width(&name(system)) + APART
}

/// Letters in bold, and the space after them.
fn key_width(system: &Seen<'_>) -> f64 {
    Look::Key.width(&system.key) + GAP
}

/// Its name; of the base with the word. The control is called so.
fn name(system: &Seen<'_>) -> String {
    if system.is_base { format!("{} (base)", system.name) } else { system.name.to_owned() }
}

/// The text with only those characters that XML has a place for: names may hold others, which no reference
/// can stand for either.
fn characters(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '\t' | '\n' | '\r' => c,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        _ => c,
    });
    replaced.collect()
}

#[cfg(test)]
mod tests {
    use super::characters;

    #[test]
    fn what_xml_has_no_place_for_is_replaced() {
        assert_eq!(characters("a\0b\u{1b}c\u{ffff}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(characters("a b\n\tÄ"), "a b\n\tÄ");
    }
}
