//! What a verdict is called, what colour and sign it has, and what can be drawn of it; what decides a step, in words.

use model::{Comparison, Direction, MetricId, Reason, Verdict, describe};

use crate::{Cell, Tone, format};

pub(crate) const fn is_certain(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Regressed | Verdict::Improved => true,
        Verdict::Unchanged | Verdict::Inconclusive(_) => false,
        Verdict::Incomparable(_) => verdict.fell_to_zero(),
    }
}

/// The word under which a verdict is counted: what fell to zero regressed.
pub(crate) const fn counted_as(verdict: &Verdict) -> &'static str {
    if verdict.is_regression() { "regressed" } else { verdict.word() }
}

/// The ratio of a comparison, where it is one that has a logarithm and so a place on a scale.
pub(crate) fn usable_ratio(comparison: &Comparison) -> Option<f64> {
    comparison.ratio.filter(|r| r.is_finite() && *r > 0.0)
}

pub(crate) const fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Regressed | Verdict::Incomparable(Reason::FellToZero { .. }) => Tone::Regressed,
        Verdict::Improved => Tone::Improved,
        Verdict::Unchanged => Tone::Plain,
        Verdict::Inconclusive(_) | Verdict::Incomparable(_) => Tone::Muted,
    }
}

/// A verdict as people read it where its reason has no room.
pub(crate) const fn word(verdict: &Verdict) -> &'static str {
    if verdict.fell_to_zero() { format::FELL_TO_ZERO } else { verdict.word() }
}

pub(crate) fn cell(verdict: &Verdict) -> Cell {
    Cell::text(word(verdict)).with_tone(tone(verdict))
}

pub(crate) const fn sign(verdict: &Verdict) -> &'static str {
    match tone(verdict) {
        Tone::Regressed => "↓",
        Tone::Improved => "↑",
        Tone::Plain => "",
        Tone::Muted | Tone::Missed | Tone::Heading => "?",
    }
}

/// What stands beside the name of a step that something else than throughput decides; `None` for throughput.
pub(crate) fn deciding_word(metric: &MetricId) -> Option<&'static str> {
    match metric.0.as_str() {
        MetricId::RATE => None,
        MetricId::HIGHEST_RATE => Some("highest rate"),
        _ => Some("p99 response time"),
    }
}

/// The name of a step, and what decides it beside it: `point-query, highest rate`.
pub(crate) fn beside(name: &str, metric: &MetricId) -> String {
    match deciding_word(metric) {
        None => name.to_owned(),
        Some(word) => format!("{name}, {word}"),
    }
}

/// How much better the candidate is: above 1 is better, whichever way the metric goes; 1 without a ratio.
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
