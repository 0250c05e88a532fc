//! Ratios to the base, a row a system: with their intervals, each round's own ratio as a faint dot; or as bars from zero,
//! a bar for each moment.

use maud::html;

use super::Chart;
use super::axis::{Axis, Scale};
use super::rows::{Ratio, Rows, Said, StripRow, marks, shared_scale};
use super::style::{Series, percent, px};
use crate::format;

pub(crate) struct ForestRow {
    pub(crate) of: Series,
    pub(crate) ratio: Option<Ratio>,
    /// (round, ratio).
    pub(crate) pairs: Vec<(u32, f64)>,
    /// What is written beside it: ratio and interval, verdict.
    pub(crate) said: Said,
}

const ROW: f64 = 26.0;

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
    let strip = html! {
        @for (round, ratio) in &row.pairs {
            @if let Some(at) = scale.percent(*ratio) {
                circle.pair cx=(percent(at)) cy=(px(ROW / 2.0)) r="4" {
                    title { "round " (round) ": " (format::ratio(*ratio)) }
                }
            }
        }
        @if let Some(ratio) = row.ratio { (marks(ratio, scale, ROW)) }
    };
    StripRow {
        of: row.of.clone(),
        said: vec![row.said.clone()],
        label: format!("{}: {} {}", row.of.name, row.said.plain, row.said.verdict),
        tone: row.said.tone,
        height: ROW,
        strip,
    }
}

pub(crate) struct Level {
    pub(crate) value: Option<f64>,
    /// Lower and upper end of its interval, where there is one.
    pub(crate) ends: Option<(f64, f64)>,
    pub(crate) said: Said,
}

pub(crate) struct LevelRow {
    pub(crate) of: Series,
    /// Its bars, from above; every row has the same moments.
    pub(crate) levels: Vec<Level>,
}

const BAR: f64 = 10.0;
const GAP: f64 = 3.0;

pub(crate) fn levels(rows: &[LevelRow], base: &str) -> Chart {
    let all = || rows.iter().flat_map(|row| &row.levels);
    if all().all(|level| level.value.is_none()) {
        return Chart::Nothing("There is no ratio to the base.");
    }
    let parts = all().flat_map(|level| [level.value, level.ends.map(|(_, high)| high)]);
    // The base is in every chart, so its 1 is.
    let Some(scale) = Scale::from_zero(parts.flatten().chain([1.0])) else {
        return Chart::Nothing("There is no ratio to the base.");
    };
    Chart::Rows(Rows {
        lines: rows.iter().map(|row| level_row(row, scale)).collect(),
        axis: Axis { scale, name: format!("ratio to {base}"), text: format::tick },
        note: format!("{}; thin line: 95 % interval", order(rows)),
        class: "levels",
    })
}

/// Which bar is which, where there are several.
fn order(rows: &[LevelRow]) -> String {
    let levels = rows.first().into_iter().flat_map(|row| &row.levels);
    let labels: Vec<&str> = levels.map(|level| level.said.plain.as_str()).collect();
    if labels.len() < 2 { String::new() } else { format!("; from above: {}", labels.join(", ")) }
}

fn level_row(row: &LevelRow, scale: Scale) -> StripRow {
    let texts =
        row.levels.iter().map(|level| format!("{} {}", level.said.plain, level.said.verdict));
    let texts = format::joined(texts, ", ");
    let height = GAP + (BAR + GAP) * row.levels.len() as f64;
    let at = |value: f64| scale.percent(value);
    let strip = html! {
        @for (place, level) in row.levels.iter().enumerate() {
            @let top = GAP + (BAR + GAP) * place as f64;
            @let is_early = place + 1 < row.levels.len();
            @if let Some(end) = level.value.and_then(at) {
                rect.level.(row.of.style.class()).early[is_early] x="0" y=(px(top)) width=(percent(end)) height=(px(BAR)) {
                    title { (level.said.plain) ": " (level.said.verdict) }
                }
            }
            @if let Some((from, to)) = level.ends.and_then(|(low, high)| Some((at(low)?, at(high)?))) {
                @let middle = px(top + BAR / 2.0);
                line.interval x1=(percent(from)) x2=(percent(to)) y1=(middle) y2=(middle) {}
            }
        }
        @if let Some(one) = at(1.0) {
            line.one x1=(percent(one)) x2=(percent(one)) y1="0" y2=(px(height)) {}
        }
    };
    StripRow {
        of: row.of.clone(),
        said: row.levels.iter().map(|level| level.said.clone()).collect(),
        label: format!("{}: {texts}", row.of.name),
        tone: "",
        height,
        strip,
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

#[cfg(test)]
mod tests_of_levels {
    use super::*;
    use crate::chart::style::Style;
    use maud::Render;

    fn level(label: &str, value: Option<f64>, ends: Option<(f64, f64)>) -> Level {
        Level {
            value,
            ends,
            said: Said {
                plain: label.into(),
                verdict: value.map_or(format::ABSENT.to_owned(), format::ratio),
                tone: "regressed",
            },
        }
    }

    fn row(levels: Vec<Level>) -> LevelRow {
        LevelRow { of: Series { style: Style(1), key: "B".into(), name: "<b>".into() }, levels }
    }

    #[test]
    fn bars_begin_at_zero_and_one_is_marked() {
        let levels = vec![level("h1", Some(2.0), Some((1.5, 2.5))), level("h12", Some(0.5), None)];
        let svg = levels_of(levels);
        // The scale ends 4 % above the highest end of an interval, 2.5.
        for part in [
            r#"<rect class="level k1 early" x="0" y="3" width="76.92%" height="10">"#,
            r#"<rect class="level k1" x="0" y="16" width="19.23%" height="10">"#,
            r#"<line class="interval" x1="57.69%" x2="96.15%" y1="8" y2="8">"#,
            r#"<line class="one" x1="38.46%" x2="38.46%" y1="0" y2="29">"#,
            r#"aria-label="&lt;b&gt;: h1 2.00, h12 0.50""#,
            "ratio to a, from zero; from above: h1, h12; thin line",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
    }

    #[test]
    fn a_single_moment_needs_no_order() {
        let svg = levels_of(vec![level("h1", Some(0.8), None)]);
        assert!(!svg.contains("from above") && !svg.contains("early"), "{svg}");
    }

    #[test]
    fn without_a_ratio_there_is_a_sentence() {
        for levels in [Vec::new(), vec![level("h1", None, None)]] {
            assert!(levels_of(levels).contains("There is no ratio"));
        }
    }

    #[test]
    fn absurd_ratios_stay_within_the_chart() {
        let absurd = [f64::NAN, f64::INFINITY, -1.0, 1e300];
        let levels = absurd.map(|value| level("h1", Some(value), Some((value, value))));
        let svg = levels_of(levels.into());
        assert!(!svg.contains("NaN%") && !svg.contains("inf%"), "{svg}");
    }

    fn levels_of(of_row: Vec<Level>) -> String {
        levels(&[row(of_row)], "a").render().0
    }
}
