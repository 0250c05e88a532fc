//! Seconds and histograms, reduced to what a chart can show.

use model::{Clock, Counts, KindSeries, Latency, Nanos, Step, StepSeries};

use crate::Report;
use crate::index::{median, range};
use crate::report::At;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Count(Counts),
    /// 99th percentile of service time, in seconds: the middle second of a bin.
    P99,
    /// Longest service time, in seconds: the longest of a bin.
    Longest,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    /// Its middle, in seconds since the step began.
    pub(crate) at: f64,
    pub(crate) middle: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// How a step's time is divided: bins of equal width, a second or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bins {
    pub(crate) width: f64,
    pub(crate) count: usize,
}

impl Bins {
    /// Whole seconds, as few as it takes to stay within `most` bins; `None` without any series.
    pub(crate) fn of(report: &Report<'_>, step: &Step, most: usize) -> Option<Self> {
        let of_step = report.input.data.series.iter().filter(|s| s.step == step.id);
        let ends = of_step.filter_map(|s| s.spans.last().map(|(start, length)| start + length));
        let (_, end) = range(ends).filter(|(_, end)| *end > 0.0)?;
        let width = (end / most.max(1) as f64).ceil().max(1.0);
        let count = (end / width).ceil() as usize;
        Some(Self { width, count })
    }

    fn place(self, start: f64) -> usize {
        (start / self.width).max(0.0) as usize
    }
}

/// Without bins that no round covers by a quarter: the last, short interval would end every line with a jump.
pub(crate) fn binned(at: At<'_>, kind: &str, quantity: Quantity, bins: Bins) -> Vec<Bin> {
    let rounds = at.series().filter_map(|series| {
        let of_kind = series.kinds.iter().find(|k| k.kind == kind)?;
        Some(one_round(series, of_kind, quantity, bins))
    });
    let rounds: Vec<Vec<Option<f64>>> = rounds.collect();
    (0..bins.count)
        .filter_map(|place| {
            let values = || rounds.iter().filter_map(|r| r.get(place).copied().flatten());
            let (low, high) = range(values())?;
            let at = (place as f64 + 0.5) * bins.width;
            Some(Bin { at, middle: median(values())?, low, high })
        })
        .collect()
}

#[derive(Clone, Default)]
struct Sum {
    covered: f64,
    count: u64,
    p99: Vec<f64>,
    longest: u64,
}

fn one_round(
    series: &StepSeries,
    kind: &KindSeries,
    quantity: Quantity,
    bins: Bins,
) -> Vec<Option<f64>> {
    let mut sums = vec![Sum::default(); bins.count];
    let counts = match quantity {
        Quantity::Count(Counts::Rows) => &kind.rows,
        Quantity::Count(Counts::Operations | Counts::Statements(_))
        | Quantity::P99
        | Quantity::Longest => &kind.ops,
    };
    for (place, (start, length)) in series.spans.iter().enumerate() {
        let Some(sum) = sums.get_mut(bins.place(*start)) else { continue };
        sum.covered += length;
        sum.count += counts.get(place).copied().unwrap_or(0);
        let nanos = |column: &[Nanos]| column.get(place).map_or(0, |n| n.0);
        sum.longest = sum.longest.max(nanos(&kind.max));
        if quantity == Quantity::P99 && nanos(&kind.p99) > 0 {
            sum.p99.push(nanos(&kind.p99) as f64 / 1e9);
        }
    }
    let only = bins.count == 1;
    sums.into_iter()
        .map(|sum| {
            let enough = sum.covered >= 0.25 * bins.width || (only && sum.covered > 0.0);
            enough.then(|| value(&sum, quantity)).flatten()
        })
        .collect()
}

fn value(sum: &Sum, quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::Count(Counts::Statements(each)) => {
            Some(sum.count as f64 * f64::from(each) / sum.covered)
        }
        Quantity::Count(Counts::Operations | Counts::Rows) => Some(sum.count as f64 / sum.covered),
        Quantity::P99 => median(sum.p99.iter().copied()),
        Quantity::Longest => (sum.longest > 0).then(|| sum.longest as f64 / 1e9),
    }
}

/// What decides a step, in every round of one system: (round, value).
pub(crate) fn rounds(at: At<'_>) -> Vec<(u32, f64)> {
    let metric = at.step.metric.0.as_str();
    let unit = at.report.unit(at.step, metric);
    // A chart has one axis, in the unit of the first system.
    let values = at.values(metric).filter(|values| unit == Some(values.unit));
    values.map(|values| values.rounds.clone()).unwrap_or_default()
}

/// The histograms of all rounds together, one a system in the order of the report's systems.
pub(crate) fn histograms(
    report: &Report<'_>,
    step: &Step,
    kind: &str,
    clock: Clock,
) -> Vec<Option<Latency>> {
    let is_response = clock == Clock::Response;
    let all = report.input.data.histograms.iter().filter(|h| h.latency.count() > 0);
    let of_kind: Vec<_> = all
        .filter(|h| h.step == step.id && h.kind == kind && h.is_response == is_response)
        .collect();
    let merged = report.systems.iter().map(|system| {
        let mut rounds = of_kind.iter().filter(|h| h.system == system.name);
        let mut merged = rounds.next()?.latency.clone();
        rounds.for_each(|h| merged.merge(&h.latency));
        Some(merged)
    });
    merged.collect()
}

/// (share of the operations, seconds), up to the share that the slowest stands for. One pass over the histogram.
pub(crate) fn quantiles(latency: &Latency, points: usize, nines: f64) -> Vec<(f64, f64)> {
    let all = latency.count() as f64;
    if all == 0.0 {
        return Vec::new();
    }
    // The slowest of n operations stands for the share 1 - 1/n; beyond it nothing was seen.
    let last = nines.min(all.log10().max(1.0));
    let mut wanted =
        (0..=points).map(|i| 1.0 - 10f64.powf(-last * i as f64 / points.max(1) as f64)).peekable();
    let mut curve = Vec::with_capacity(points + 1);
    let mut seen = 0;
    for (value, count) in latency.counts() {
        seen += count;
        while let Some(q) = wanted.next_if(|q| seen as f64 >= (q * all).ceil().max(1.0)) {
            curve.push((q, value.as_secs_f64()));
        }
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::StepId;

    fn series(spans: Vec<(f64, f64)>, ops: Vec<u64>) -> (StepSeries, KindSeries) {
        let n = ops.len();
        let kind = KindSeries {
            kind: "query".into(),
            rows: ops.iter().map(|o| o * 10).collect(),
            ops,
            p50: vec![Nanos(1_000); n],
            p99: (1..=n as u64).map(|i| Nanos(i * 1_000_000)).collect(),
            max: (1..=n as u64).map(|i| Nanos(i * 2_000_000)).collect(),
        };
        let series = StepSeries {
            round: 1,
            system: "a".into(),
            step: StepId::new("qr100"),
            spans,
            kinds: vec![kind.clone()],
        };
        (series, kind)
    }

    #[test]
    fn a_bin_is_count_over_time_not_a_mean_of_rates() {
        let spans = vec![(0.0, 1.0), (1.0, 0.5), (2.0, 1.0), (3.0, 0.1)];
        let (series, kind) = series(spans, vec![100, 80, 30, 9]);
        let bins = Bins { width: 2.0, count: 2 };
        let of = |quantity| one_round(&series, &kind, quantity, bins);
        assert_eq!(of(Quantity::Count(Counts::Operations)), [Some(120.0), Some(39.0 / 1.1)]);
        assert_eq!(of(Quantity::Count(Counts::Rows)), [Some(1200.0), Some(390.0 / 1.1)]);
        assert_eq!(of(Quantity::Count(Counts::Statements(6))), [Some(720.0), Some(234.0 / 1.1)]);
        assert_eq!(of(Quantity::P99), [Some(0.0015), Some(0.0035)]);
        assert_eq!(of(Quantity::Longest), [Some(0.004), Some(0.008)]);
    }

    #[test]
    fn a_sliver_at_the_end_is_left_out() {
        let (series, kind) = series(vec![(0.0, 1.0), (1.0, 0.01)], vec![100, 9]);
        let bins = Bins { width: 1.0, count: 2 };
        assert_eq!(
            one_round(&series, &kind, Quantity::Count(Counts::Operations), bins),
            [Some(100.0), None]
        );
    }

    #[test]
    fn the_quantile_curve_agrees_with_the_histogram() {
        let mut latency = Latency::new();
        for i in 1..=1000u64 {
            latency.record(Nanos(i * i * 1000));
        }
        let curve = quantiles(&latency, 30, 5.0);
        assert_eq!(curve.len(), 31);
        for (q, value) in &curve {
            let direct = latency.quantile(*q).unwrap().as_secs_f64();
            assert!((value / direct - 1.0).abs() < 0.002, "{q}: {value} {direct}");
        }
        let (last, longest) = curve.last().unwrap();
        assert!((last - 0.999).abs() < 1e-9);
        assert!((longest - 0.998).abs() < 0.002, "{longest}");
        assert!(quantiles(&Latency::new(), 30, 5.0).is_empty());
    }
}
