//! Every round as a dot: a row a system, a common axis from zero, the median as a tick.

use maud::html;

use super::Chart;
use super::axis::{Axis, Scale};
use super::rows::{Rows, Said, StripRow};
use super::style::{Series, percent, px};
use crate::format;
use crate::index::median;

pub(crate) struct DotRow {
    pub(crate) of: Series,
    /// (round, value).
    pub(crate) rounds: Vec<(u32, f64)>,
}

const ROW: f64 = 26.0;

/// The chart, or a sentence when no row has a dot. `unit` names what is counted.
pub(crate) fn dots(rows: &[DotRow], unit: &str) -> Chart {
    let all = rows.iter().flat_map(|r| r.rounds.iter().map(|(_, v)| *v));
    let Some(scale) = Scale::from_zero(all) else {
        return Chart::Nothing("No round was completed.");
    };
    Chart::Rows(Rows {
        lines: rows.iter().map(|row| dot_row(row, scale, unit)).collect(),
        axis: Axis { scale, name: unit.to_owned(), text: format::tick },
        note: "; a mark a round, the bar is their median".to_owned(),
        class: "",
    })
}

fn dot_row(row: &DotRow, scale: Scale, unit: &str) -> StripRow {
    let middle = median(row.rounds.iter().map(|(_, v)| *v));
    let text = middle.map_or(format::ABSENT.to_owned(), format::number);
    let rounds = format::plural(row.rounds.len(), "round");
    let label = format!("{}: {rounds}, median {text} {unit}", row.of.name);
    let x = |value: f64| scale.place(value).map(|p| 100.0 * p);
    let strip = html! {
        line.grid x1="0" x2="100%" y1=(px(ROW / 2.0)) y2=(px(ROW / 2.0)) {}
        @if let Some(at) = middle.and_then(x) {
            line.median.(row.of.style.class()) x1=(percent(at)) x2=(percent(at)) y1="4" y2=(px(ROW - 4.0)) {}
        }
        @for (round, value) in &row.rounds {
            @if let Some(at) = x(*value) {
                (row.of.style.marker(at, ROW / 2.0, Some(&format!("round {round}: {} {unit}", format::number(*value)))))
            }
        }
    };
    StripRow {
        of: row.of.clone(),
        said: vec![Said { plain: text, ..Said::default() }],
        label,
        height: ROW,
        strip,
        ..StripRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::style::Style;
    use maud::Render;

    fn row(place: usize, rounds: Vec<(u32, f64)>) -> DotRow {
        DotRow {
            of: Series { style: Style(place), key: "A".into(), name: "a & <b>".into() },
            rounds,
        }
    }

    #[test]
    fn snapshot() {
        let rows =
            [row(0, vec![(1, 100.0), (2, 110.0)]), row(1, vec![(1, f64::NAN)]), row(2, Vec::new())];
        let page = dots(&rows, "rows/s").render();
        insta::assert_snapshot!(page.0.replace("><", ">\n<"));
    }

    #[test]
    fn without_a_dot_there_is_a_sentence() {
        for rounds in [Vec::new(), vec![(1, 0.0)]] {
            let chart = dots(&[row(0, rounds)], "rows/s");
            assert!(chart.render().0.contains("No round"));
        }
    }
}
