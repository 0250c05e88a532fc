//! How response times are distributed: latency over the share of operations that are at most that
//! slow. Both axes favour the slow end, where databases differ.

use super::Chart;
use super::axis::{Axis, Scale};
use super::line::{LineChart, SystemLine};
use crate::format;

/// Nines that the axis shows at most.
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
    })
}

fn share(value: f64) -> String {
    match value {
        v if v < 0.9 => format!("p{:.0}", v * 100.0),
        v => {
            let text = format!("{:.3}", v * 100.0);
            format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

#[cfg(test)]
mod tests {
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
