//! What decides a step, in words, and which way is better.

use model::{Comparison, Direction, MetricId, describe};

/// What stands beside the name of a step that something else than throughput decides; `None` for throughput.
pub(crate) fn word(metric: &MetricId) -> Option<&'static str> {
    match metric.0.as_str() {
        MetricId::RATE => None,
        MetricId::HIGHEST_RATE => Some("highest rate"),
        _ => Some("p99 response time"),
    }
}

/// The name of a step, and what decides it beside it: `point-query, highest rate`.
pub(crate) fn beside(name: &str, metric: &MetricId) -> String {
    match word(metric) {
        None => name.to_owned(),
        Some(word) => format!("{name}, {word}"),
    }
}

/// How much better the candidate is than the base: above 1 is better, whichever way the metric goes; 1 where
/// there is no ratio.
pub(crate) fn gain(comparison: &Comparison) -> f64 {
    gain_of(&comparison.metric, comparison.ratio.unwrap_or(1.0))
}

/// The same of a ratio of this metric.
pub(crate) fn gain_of(metric: &MetricId, ratio: f64) -> f64 {
    match describe(metric).map(|is| is.direction) {
        Some(Direction::Lower) => 1.0 / ratio,
        Some(Direction::Higher | Direction::Neither) | None => ratio,
    }
}
