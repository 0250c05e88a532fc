//! Lines that are not over time. The ratio to the base over client counts on a log scale: a line a system, its 95 %
//! interval at each count, a line at 1. Latency over the share of operations that are at most that slow: both axes
//! favour the slow end, where databases differ.

use super::Chart;
use super::axis::{Axis, Scale};
use super::line::{LineChart, SystemLine};
use super::rows::Ratio;
use crate::format;

const HEIGHT: f64 = 170.0;

/// The chart, or a sentence when there is no ratio. `label` says what it shows to those who do not see it.
pub(crate) fn sweep(lines: Vec<SystemLine>, clients: &[u32], base: &str, label: String) -> Chart {
    let (Some(x), Some(y)) = (
        across(clients),
        around_ratios(lines.iter().flat_map(|line| line.marks.iter().map(|mark| mark.ratio))),
    ) else {
        return Chart::Nothing("There is no ratio to the base.");
    };
    Chart::Lines(LineChart {
        label,
        height: HEIGHT,
        x: Axis { scale: x, name: "clients".to_owned(), text: format::tick },
        y: Axis { scale: y, name: format!("ratio to {base}"), text: format::ratio },
        lines,
        reference: Some((1.0, String::new())),
        noise: None,
        stops: clients.iter().map(|count| (f64::from(*count), count.to_string())).collect(),
    })
}

/// Client counts across, with room for the labels of the gridlines before the first.
fn across(clients: &[u32]) -> Option<Scale> {
    let (low, high) = (clients.iter().min()?, clients.iter().max()?);
    let (low, high) = (f64::from(*low), f64::from(*high));
    let span = (high / low).max(1.01);
    (low > 0.0).then_some(Scale::Log { low: low / span.powf(0.18), high: high * span.powf(0.03) })
}

/// `None` without a ratio. Around all but zeros, and 1, with their intervals as far as these are not absurd; never so
/// narrow that noise looks like a mountain.
pub(crate) fn around_ratios(ratios: impl Iterator<Item = Ratio>) -> Option<Scale> {
    let ratios: Vec<Ratio> = ratios.filter(|r| r.value.is_finite() && r.value >= 0.0).collect();
    if ratios.is_empty() {
        return None;
    }
    let ratios = || ratios.iter().copied();
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    let values = ratios().map(|r| r.value).chain([1.0]);
    let around = crate::index::range(values.filter(usable))?;
    let ends = ratios().flat_map(|r| {
        let (low, high) = r.ends.unwrap_or((r.value, r.value));
        // An interval of three rounds may be of any width; what it is about must remain to be seen.
        [low.max(r.value / 2.0), high.min(r.value * 2.0)]
    });
    let (low, high) =
        ends.filter(usable).fold(around, |(low, high), end| (low.min(end), high.max(end)));
    let (low, high) = (low.min(0.97), high.max(1.03));
    Some(Scale::Log { low: low / 1.02, high: high * 1.02 })
}

pub(crate) const MOST_NINES: f64 = 5.0;

/// Lines hold (share of the operations, seconds).
pub(crate) fn quantile(label: String, lines: Vec<SystemLine>) -> Chart {
    let all = || lines.iter().flat_map(|l| l.points.iter());
    let Some(y) = Scale::log(all().map(|(_, seconds)| *seconds)) else {
        return Chart::Nothing("No operation was recorded.");
    };
    let last = all().map(|(share, _)| *share).fold(0.0, f64::max);
    let most = (-(1.0 - last).log10()).clamp(1.0, MOST_NINES);
    Chart::lines(LineChart {
        label,
        height: 240.0,
        x: Axis {
            scale: Scale::Nines { most },
            name: "share of operations".to_owned(),
            text: share,
        },
        y: Axis { scale: y, name: "latency".to_owned(), text: format::tick_seconds },
        lines,
        reference: None,
        noise: None,
        stops: Vec::new(),
    })
}

fn share(value: f64) -> String {
    let text = format!("{:.*}", if value < 0.9 { 0 } else { 3 }, value * 100.0);
    format!("p{}", format::without_zeros(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::line::StopMark;
    use crate::chart::style::{Series, Style};
    use maud::Render;

    fn page(lines: Vec<SystemLine>, clients: &[u32]) -> String {
        sweep(lines, clients, "a", "label".to_owned()).render().0
    }

    fn mark(clients: u32, value: f64, tone: &'static str) -> StopMark {
        StopMark {
            at: clients.into(),
            ratio: Ratio { value, ends: Some((value * 0.95, value * 1.05)), margin: 0.02 },
            text: format!("{clients} & more"),
            tone,
        }
    }

    fn line(marks: Vec<StopMark>) -> SystemLine {
        SystemLine::through(marks, Series { style: Style(1), key: "B".into(), name: "b".into() })
    }

    #[test]
    fn snapshot() {
        let lines = vec![line(vec![
            mark(1, 0.9, "regressed"),
            mark(20, 1.0, ""),
            mark(24, 1.2, "improved"),
        ])];
        insta::assert_snapshot!(page(lines, &[1, 20, 24]).replace("><", ">\n<"));
    }

    #[test]
    fn absurd_ratios_leave_a_chart_or_a_sentence() {
        for value in [f64::NAN, f64::INFINITY, -1.0] {
            let alone = page(vec![line(vec![mark(4, value, "")])], &[4]);
            assert!(alone.contains("There is no ratio"), "{alone}");
            let beside = vec![line(vec![mark(4, value, ""), mark(8, 1.1, "")])];
            let beside = page(beside, &[4, 8]);
            assert!(!beside.contains("NaN") && !beside.contains("inf"), "{beside}");
            assert_eq!(beside.matches("circle").count(), 2, "{beside}");
        }
        // Nothing is left: at the end of the scale.
        let zero = page(vec![line(vec![mark(4, 0.0, "regressed")])], &[4]);
        assert!(zero.contains(">0</text>") && zero.contains("class=\"regressed\""), "{zero}");
        for clients in [[1, 2], [0, 2]] {
            assert!(page(Vec::new(), &clients).contains("There is no ratio"));
        }
    }

    #[test]
    fn labels_keep_their_distance() {
        let clients = [1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 48];
        let lines = vec![line(clients.iter().map(|n| mark(*n, 1.1, "")).collect())];
        let chart = page(lines, &clients);
        let labels = chart.matches("text-anchor").count();
        assert!((8..11).contains(&labels), "{labels}");
    }
}

#[cfg(test)]
mod tests_of_quantile {
    use super::*;
    use crate::chart::style::{Series, Style};
    use maud::Render;

    #[test]
    fn snapshot() {
        let points = vec![(0.0, 1e-4), (0.5, 2e-4), (0.9, 5e-4), (0.99, 3e-3), (0.999, 0.02)];
        let line = SystemLine {
            of: Series { style: Style(0), key: "A".into(), name: "a".into() },
            points,
            band: Vec::new(),
            marks: Vec::new(),
        };
        let svg = quantile("latency".into(), vec![line]).render().0;
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }

    #[test]
    fn shares_read_as_percentiles() {
        let shares: Vec<String> = [0.5, 0.9, 0.99, 0.999, 0.99999].map(share).into();
        assert_eq!(shares, ["p50", "p90", "p99", "p99.9", "p99.999"]);
        let none = quantile(String::new(), Vec::new()).render();
        assert!(none.0.contains("No operation"));
    }
}
