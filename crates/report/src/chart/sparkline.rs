//! One metric over many builds, small enough for the cell of a table: a line, its levels, its changes.

use maud::{Markup, html};

use super::axis::Scale;
use super::style::{Across, path, percent, px};
use crate::index::range;

/// What is drawn. Places count builds from zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spark {
    pub(crate) values: Vec<Option<f64>>,
    /// Levels: first build, one past the last, value.
    pub(crate) levels: Vec<(usize, usize, f64)>,
    /// Builds at which a level begins, each with the class of its colour and what is said of it.
    pub(crate) changes: Vec<(usize, &'static str, String)>,
    /// Builds that belong to no level, with what is said of them.
    pub(crate) apart: Vec<(usize, String)>,
    /// What a reader hears who does not see it.
    pub(crate) text: String,
}

const HEIGHT: f64 = 34.0;

/// Pixels above and below the line.
const ROOM: f64 = 5.0;

/// The least factor between the ends of the scale: what is drawn higher than wide should be worth a look.
const LEAST: f64 = 1.1;

pub(crate) fn sparkline(spark: &Spark) -> Markup {
    let Some(scale) = scale_of(&spark.values) else { return html! {} };
    let y = |value: f64| {
        let place = scale.place(value)?.clamp(0.0, 1.0);
        Some(HEIGHT - ROOM - place * (HEIGHT - 2.0 * ROOM))
    };
    let x = |build: f64| (build + 0.5) / spark.values.len() as f64;
    let at = |build: usize| {
        let value = spark.values.get(build).copied().flatten()?;
        Some((percent(100.0 * x(build as f64)), px(y(value)?)))
    };
    let points = spark.values.iter().enumerate();
    let line = points.filter_map(|(build, value)| Some((x(build as f64), y((*value)?)?)));
    html! {
        svg.spark height=(px(HEIGHT)) role="img" aria-label=(spark.text) {
            @for (from, to, level) in &spark.levels {
                @if let Some(y) = y(*level) {
                    line.level x1=(percent(100.0 * x(*from as f64 - 0.5))) x2=(percent(100.0 * x(*to as f64 - 0.5)))
                        y1=(px(y)) y2=(px(y)) {}
                }
            }
            svg width="100%" height=(px(HEIGHT)) viewBox=(Across::PAGE.view_box(HEIGHT))
                preserveAspectRatio="none" {
                path.line d=(path(line, Across::PAGE)) {}
            }
            @for (build, said) in &spark.apart {
                @if let Some((x, y)) = at(*build) {
                    circle.apart cx=(x) cy=(y) r="3.4" { title { (said) } }
                }
            }
            @for (build, class, said) in &spark.changes {
                @if let Some((x, y)) = at(*build) {
                    circle.change.(class) cx=(x) cy=(y) r="3.8" { title { (said) } }
                }
            }
        }
    }
}

/// `None` where no value is above zero.
fn scale_of(values: &[Option<f64>]) -> Option<Scale> {
    let (low, high) = range(values.iter().flatten().copied().filter(|value| *value > 0.0))?;
    let room = (LEAST / (high / low)).sqrt().max(1.0);
    Some(Scale::Log { low: low / room, high: high * room })
}

/// The same for places that have no charts: `▇▇▇▃▃▃`. A gap where there is no value.
pub(crate) fn blocks(values: &[Option<f64>]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(scale) = scale_of(values) else { return String::new() };
    let block = |value: &Option<f64>| {
        let place = value.and_then(|value| scale.place(value));
        place.map_or(' ', |place| {
            let step = (place.clamp(0.0, 1.0) * 7.0).round() as usize;
            BLOCKS.get(step).copied().unwrap_or('█')
        })
    };
    values.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_and_an_outlier_are_marked_and_names_are_escaped() {
        let spark = Spark {
            values: vec![Some(100.0), Some(100.0), None, Some(50.0), Some(75.0)],
            levels: vec![(0, 3, 100.0), (3, 5, 60.0)],
            changes: vec![(3, "regressed", "<b>".into())],
            apart: vec![(4, "alone".into())],
            text: "falls".into(),
        };
        let svg = sparkline(&spark).0;
        assert!(svg.contains(r#"class="change regressed""#), "{svg}");
        assert!(svg.contains("&lt;b&gt;") && svg.contains("alone"), "{svg}");
        assert_eq!(svg.matches("class=\"level\"").count(), 2, "{svg}");
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn without_values_there_is_nothing_and_without_numbers_no_trouble() {
        assert_eq!(sparkline(&Spark::default()).0, "");
        let broken = Spark {
            values: vec![Some(f64::NAN), Some(0.0), Some(5.0), None],
            changes: vec![(9, "", String::new())],
            ..Spark::default()
        };
        assert!(!sparkline(&broken).0.contains("NaN"));
    }

    #[test]
    fn blocks_rise_and_fall() {
        let values = [Some(100.0), Some(100.0), None, Some(50.0)];
        assert_eq!(blocks(&values), "██ ▁");
        // Differences of a per cent do not look like a step.
        assert_eq!(blocks(&[Some(100.0), Some(101.0)]), "▄▅");
        assert_eq!(blocks(&[]), "");
    }
}
