//! Ratios to the base with their intervals, a row a system, each round's own ratio as a faint dot.

use maud::{Markup, html};

use super::Chart;
use super::axis::{Axis, Scale};
use super::interval::{Ratio, marks, shared_scale};
use super::rows::{Rows, Said, StripRow};
use super::style::Series;
use super::style::{percent, px};
use crate::format;

#[derive(Clone, Debug)]
pub(crate) struct ForestRow {
    pub(crate) of: Series,
    pub(crate) ratio: Option<Ratio>,
    /// (round, ratio).
    pub(crate) pairs: Vec<(u32, f64)>,
    /// What is written beside it: ratio and interval, verdict.
    pub(crate) said: Said,
}

const ROW: f64 = 26.0;

/// The chart, or a sentence when there is no ratio.
pub(crate) fn forest(rows: &[ForestRow], base: &str) -> Chart {
    let pairs = rows.iter().flat_map(|r| {
        r.pairs.iter().map(|(_, ratio)| Ratio { value: *ratio, ends: None, margin: 0.0 })
    });
    if rows.iter().all(|r| r.ratio.is_none()) {
        return Chart::Nothing("There is no ratio to the base.");
    }
    let scale = shared_scale(rows.iter().filter_map(|r| r.ratio).chain(pairs));
    Chart::Rows(Rows {
        lines: rows.iter().map(|row| forest_row(row, scale)).collect(),
        axis: Axis { scale, name: format!("ratio to {base}"), text: format::ratio },
        note: "; bar: 95 % interval, faint dots: rounds, shaded: the margin".to_owned(),
        class: "",
    })
}

fn forest_row(row: &ForestRow, scale: Scale) -> StripRow {
    StripRow {
        of: row.of.clone(),
        said: vec![row.said.clone()],
        label: format!("{}: {} {}", row.of.name, row.said.plain, row.said.verdict),
        tone: row.said.tone,
        height: ROW,
        strip: strip(row, scale),
    }
}

fn strip(row: &ForestRow, scale: Scale) -> Markup {
    html! {
        @for (round, ratio) in &row.pairs {
            @if let Some(place) = scale.place(*ratio) {
                circle.pair cx=(percent(100.0 * place.clamp(0.0, 1.0))) cy=(px(ROW / 2.0)) r="4" {
                    title { "round " (round) ": " (format::ratio(*ratio)) }
                }
            }
        }
        @if let Some(ratio) = row.ratio { (marks(ratio, scale, ROW)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::style::Style;
    use maud::Render;

    #[test]
    fn snapshot() {
        let row = ForestRow {
            of: Series { style: Style(1), key: "B".into(), name: "<b>".into() },
            ratio: Some(Ratio { value: 0.8, ends: Some((0.75, 0.86)), margin: 0.02 }),
            pairs: vec![(1, 0.79), (2, f64::NAN)],
            said: Said {
                plain: "0.80 [0.75, 0.86]".into(),
                verdict: "slower".into(),
                tone: "regressed",
            },
        };
        let page = forest(&[row], "a").render();
        insta::assert_snapshot!(page.0.replace("><", ">\n<"));
        assert!(forest(&[], "a").render().0.contains("There is no ratio"));
    }
}
