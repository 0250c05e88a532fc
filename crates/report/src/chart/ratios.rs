//! Ratios to the base: a row a step with the interval of each candidate; or a row a system with bars from zero, a bar
//! for each moment.

use maud::html;

use super::Chart;
use super::axis::{Axis, Scale};
use super::rows::{Ratio, Rows, Said, StripRow, ground, whiskers};
use super::style::{Series, percent, px};
use super::sweep::around_ratios;
use crate::format;

/// A step, or steps as one, of every candidate.
pub(crate) struct ForestRow {
    pub(crate) name: String,
    /// What it does.
    pub(crate) about: String,
    /// The title above it; empty for none.
    pub(crate) heading: String,
    pub(crate) lanes: Vec<Lane>,
    /// The interval of the control: what lies within it may be chance.
    pub(crate) noise: Option<(f64, f64)>,
}

pub(crate) struct Lane {
    pub(crate) of: Series,
    pub(crate) ratio: Option<Ratio>,
    /// Ratio and interval, verdict.
    pub(crate) said: Said,
}

/// Pixels of a lane, where there are several, and of a row at least.
const LANE: f64 = 9.0;
const ROW: f64 = 20.0;

pub(crate) fn forest(rows: &[ForestRow], base: &str) -> Chart {
    let all = rows.iter().flat_map(|row| row.lanes.iter().filter_map(|lane| lane.ratio));
    let Some(scale) = around_ratios(all) else {
        return Chart::Nothing("There is no ratio to the base.");
    };
    let is_single = rows.iter().all(|row| row.lanes.len() < 2);
    let noise = if rows.iter().any(|row| row.noise.is_some()) { ", grey: the control" } else { "" };
    Chart::Rows(Rows {
        lines: rows.iter().map(|row| forest_row(row, is_single, scale)).collect(),
        axis: Axis { scale, name: format!("ratio to {base}"), text: format::ratio },
        note: format!("; bar: 95 % interval, shaded: the margin{noise}"),
        class: if is_single { "forest" } else { "forest several" },
    })
}

fn forest_row(row: &ForestRow, is_single: bool, scale: Scale) -> StripRow {
    let height = (LANE * row.lanes.len() as f64 + 5.0).max(ROW);
    let middle =
        |place: usize| height / 2.0 + LANE * (place as f64 - (row.lanes.len() as f64 - 1.0) / 2.0);
    let margin = row.lanes.iter().find_map(|lane| lane.ratio).map_or(0.0, |ratio| ratio.margin);
    let said = |lane: &Lane| format!("{} {}", lane.said.plain, lane.said.verdict);
    let named = |lane: &Lane| format!("{} {}", lane.of.key, said(lane));
    let strip = html! {
        (ground(margin, row.noise, scale, height))
        @for (place, lane) in row.lanes.iter().enumerate() {
            @let tone = if is_single { lane.said.tone.to_owned() } else { lane.of.style.class() };
            g.lane.(tone) data-system=(lane.of.key) {
                title { (row.name) ", " (named(lane)) }
                @if let Some(ratio) = lane.ratio {
                    (whiskers(ratio, scale, middle(place)))
                    @if let Some(at) = scale.percent(ratio.value) {
                        @if is_single { circle.point cx=(percent(at)) cy=(px(middle(place))) r="4" {} }
                        @else { (lane.of.style.marker(at, middle(place), None)) }
                    }
                }
                @if lane.ratio.is_none_or(Ratio::is_zero) {
                    text.tick x="0" dx="7" y=(px(middle(place) + 4.0)) { (lane.said.verdict) }
                }
            }
        }
    };
    StripRow {
        of: Series { name: row.name.clone(), ..Series::default() },
        about: row.about.clone(),
        heading: row.heading.clone(),
        said: row.lanes.iter().filter(|_| is_single).map(|lane| lane.said.clone()).collect(),
        label: format!("{}: {}", row.name, format::joined(row.lanes.iter().map(named), "; ")),
        height,
        strip,
        ..StripRow::default()
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
    let parts = all().flat_map(|level| [level.value, level.ends.map(|(_, high)| high)]);
    // The base is in every chart, so its 1 is.
    let scale = Scale::from_zero(parts.flatten().chain([1.0]));
    let Some(scale) = scale.filter(|_| all().any(|level| level.value.is_some())) else {
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
        height,
        strip,
        ..StripRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::style::Style;
    use maud::Render;

    fn lane(place: usize, ratio: Option<Ratio>, verdict: &str) -> Lane {
        Lane {
            of: Series { style: Style(place), key: "B".into(), name: "<b>".into() },
            ratio,
            said: Said {
                plain: "0.80 [0.75, 0.86]".into(),
                verdict: verdict.into(),
                tone: "regressed",
            },
        }
    }

    fn row(lanes: Vec<Lane>) -> ForestRow {
        ForestRow {
            name: "<l.x>".into(),
            about: "Creates \"indexes\".".into(),
            heading: "Loads".into(),
            lanes,
            noise: Some((0.9, 1.05)),
        }
    }

    const RATIO: Ratio = Ratio { value: 0.8, ends: Some((0.75, 0.86)), margin: 0.02 };
    const ZERO: Ratio = Ratio { value: 0.0, ends: None, margin: 0.02 };

    #[test]
    fn snapshot() {
        let page = forest(&[row(vec![lane(1, Some(RATIO), "slower")])], "a").render();
        insta::assert_snapshot!(page.0.replace("><", ">\n<"));
        assert!(forest(&[], "a").render().0.contains("There is no ratio"));
    }

    #[test]
    fn of_several_candidates_each_has_a_lane_and_its_own_mark() {
        let lanes = vec![lane(1, Some(RATIO), "slower"), lane(2, Some(ZERO), "fell to zero")];
        let page = forest(&[row(lanes)], "a").render().0;
        for part in [
            r#"<g class="lane k1" data-system="B">"#,
            "href=\"#mark1\"",
            "href=\"#mark2\"",
            ">fell to zero</text>",
            "<title>&lt;l.x&gt;, B 0.80 [0.75, 0.86] slower</title>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("row-value\">0.80"), "{page}");
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
