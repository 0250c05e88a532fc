//! Every round as a dot: a row a system, a common axis from zero, the median as a tick.

use maud::{Markup, html};

use super::axis::{Axis, Frame, vertical};
use super::nothing;
use super::scale::Scale;
use super::style::Style;
use super::svg::{percent, px};
use crate::format;
use crate::spread::median;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct DotRow {
    /// Its look.
    pub(crate) style: Style,
    /// Its letter.
    pub(crate) key: String,
    /// Its full name.
    pub(crate) name: String,
    /// (round, value).
    pub(crate) rounds: Vec<(u32, f64)>,
}

const ROW: f64 = 26.0;

/// The chart, or a sentence when no row has a dot. `unit` names what is counted.
pub(crate) fn dots(rows: &[DotRow], unit: &str) -> Markup {
    let all = rows.iter().flat_map(|r| r.rounds.iter().map(|(_, v)| *v));
    let Some(scale) = Scale::from_zero(all) else {
        return nothing("No round was completed.");
    };
    let axis = Axis {
        scale,
        name: unit.to_owned(),
        text: format::tick,
    };
    let frame = Frame {
        width: 100.0,
        top: 0.0,
        bottom: 1.0,
    };
    html! {
        div.rows {
            @for row in rows { (dot_row(row, scale, unit)) }
            div.axis-row {
                svg.strip height="20" aria-hidden="true" { (vertical(&axis, frame, 4)) }
            }
        }
        p.axis-name.below { (axis.described()) "; a mark a round, the bar is their median" }
    }
}

fn dot_row(row: &DotRow, scale: Scale, unit: &str) -> Markup {
    let middle = median(row.rounds.iter().map(|(_, v)| *v));
    let text = middle.map_or(format::ABSENT.to_owned(), format::number);
    let label = format!(
        "{}: {}, median {text} {unit}",
        row.name,
        format::plural(row.rounds.len(), "round")
    );
    let x = |value: f64| scale.place(value).map(|p| 100.0 * p);
    html! {
        div.row data-system=(row.key) {
            span.row-name { span.chip.(row.style.class()) { (row.key) } " " (row.name) }
            span.row-value { (text) }
            svg.strip height=(px(ROW)) role="img" aria-label=(label) {
                line.grid x1="0" x2="100%" y1=(px(ROW / 2.0)) y2=(px(ROW / 2.0)) {}
                @if let Some(at) = middle.and_then(x) {
                    line.median.(row.style.class()) x1=(percent(at)) x2=(percent(at)) y1="4" y2=(px(ROW - 4.0)) {}
                }
                @for (round, value) in &row.rounds {
                    @if let Some(at) = x(*value) {
                        (row.style.marker(at, ROW / 2.0, Some(&format!("round {round}: {} {unit}", format::number(*value)))))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: usize, rounds: Vec<(u32, f64)>) -> DotRow {
        DotRow {
            style: Style(place),
            key: "A".into(),
            name: "a & <b>".into(),
            rounds,
        }
    }

    #[test]
    fn snapshot() {
        let rows = [
            row(0, vec![(1, 100.0), (2, 110.0)]),
            row(1, vec![(1, f64::NAN)]),
            row(2, Vec::new()),
        ];
        insta::assert_snapshot!(dots(&rows, "rows/s").0.replace("><", ">\n<"));
    }

    #[test]
    fn without_a_dot_there_is_a_sentence() {
        assert!(dots(&[row(0, Vec::new())], "rows/s").0.contains("No round"));
        assert!(
            dots(&[row(0, vec![(1, 0.0)])], "rows/s")
                .0
                .contains("No round")
        );
    }
}
