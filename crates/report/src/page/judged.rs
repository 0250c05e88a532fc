//! A verdict in the page: its words, its colour, what charts draw of it.

use maud::{Markup, html};
use model::{Comparison, Verdict, describe};

use super::table;
use crate::chart::rows::Ratio;
use crate::format;
use crate::verdict::{self, is_certain, usable_ratio};

pub(super) const COLOURS: &str = "Orange is slower and blue is faster, only where the whole interval lies outside the margin; a verdict in bold without colour is certain, but its interval reaches that far.";

/// The ratio with a sign instead of a bar and a word.
pub(super) fn with_sign(comparison: &Comparison) -> Markup {
    html! { (ratio_text(comparison)) " " b { (verdict::sign(&comparison.verdict)) } }
}

/// The ratio, or that nothing is left.
pub(super) fn ratio_text(comparison: &Comparison) -> String {
    match comparison.ratio {
        Some(ratio) => format::ratio(ratio),
        None if comparison.verdict.fell_to_zero() => format::number(0.0),
        None => format::ABSENT.to_owned(),
    }
}

/// The ratio and its interval, or that nothing is left.
pub(super) fn ratio_and_ends(comparison: &Comparison) -> String {
    match comparison.ratio {
        Some(_) => format::ratio_and_interval(comparison),
        None => ratio_text(comparison),
    }
}

/// A verdict on what decides a step, in a word.
pub(super) const fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Regressed => "slower",
        Verdict::Improved => "faster",
        Verdict::Unchanged | Verdict::Inconclusive(_) | Verdict::Incomparable(_) => {
            verdict::word(verdict)
        }
    }
}

/// The class of a cell. It has a colour only where the interval excludes what is too small to matter.
pub(super) fn shade(comparison: &Comparison) -> Option<&'static str> {
    let verdict = &comparison.verdict;
    // The margin is a factor up or down, as for the verdict.
    let factor = 1.0 + margin(comparison);
    let ends = format::finite_pair(comparison.low, comparison.high);
    let is_beyond = verdict.fell_to_zero()
        || ends.is_some_and(|(low, high)| low > factor || high < 1.0 / factor);
    if is_certain(verdict) && !is_beyond {
        return Some("edge");
    }
    table::tone(verdict::tone(verdict))
}

/// The smallest change that matters: that of the verdict, else the metric's own.
pub(super) fn margin(comparison: &Comparison) -> f64 {
    let of_metric = || describe(&comparison.metric).map_or(0.0, |is| is.margin);
    let evidence = comparison.evidence.as_ref();
    evidence.map_or_else(of_metric, |evidence| evidence.margin)
}

/// What the charts draw of a comparison, zero where nothing is left; `None` without a ratio.
pub(super) fn ratio(comparison: &Comparison) -> Option<Ratio> {
    Some(Ratio {
        value: usable_ratio(comparison).or(comparison.verdict.fell_to_zero().then_some(0.0))?,
        ends: format::finite_pair(comparison.low, comparison.high),
        margin: margin(comparison),
    })
}

/// How far a ratio is from 1; zero where there is none, unless nothing is left.
pub(super) fn size(comparison: &Comparison) -> f64 {
    if comparison.verdict.fell_to_zero() {
        return f64::INFINITY;
    }
    usable_ratio(comparison).map_or(0.0, |ratio| ratio.ln().abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{MetricId, Reason, StepId, Unit};

    fn regressed(low: f64, high: f64) -> Comparison {
        Comparison {
            step: StepId::new("l.i0"),
            ordinal: 0,
            clients: 1,
            metric: MetricId::new(MetricId::RATE),
            unit: Unit::RowsPerSecond,
            base: "a".into(),
            system: "b".into(),
            ratio: Some(f64::midpoint(low, high)),
            low: Some(low),
            high: Some(high),
            rounds: 4,
            pairs: Vec::new(),
            q_value: Some(0.001),
            verdict: Verdict::Regressed,
            magnitude: None,
            evidence: None,
        }
    }

    #[test]
    fn a_cell_has_a_colour_only_where_the_interval_excludes_the_margin() {
        // The margin of throughput is a factor of 1.02: 0.9804.
        assert_eq!(shade(&regressed(0.95, 0.97)), Some("regressed"));
        assert_eq!(shade(&regressed(0.95, 0.98)), Some("regressed"));
        assert_eq!(shade(&regressed(0.95, 0.985)), Some("edge"));
        let mut improved = regressed(1.03, 1.05);
        improved.verdict = Verdict::Improved;
        assert_eq!(shade(&improved), Some("improved"));
        improved.low = None;
        assert_eq!(shade(&improved), Some("edge"));
        improved.verdict = Verdict::Unchanged;
        assert_eq!(shade(&improved), None);
    }

    #[test]
    fn what_fell_to_zero_is_told_as_such() {
        let mut fallen = regressed(0.95, 0.97);
        fallen.verdict = Verdict::Incomparable(Reason::FellToZero { rounds: 4 });
        (fallen.ratio, fallen.low, fallen.high) = (None, None, None);
        assert_eq!(shade(&fallen), Some("regressed"));
        assert_eq!(word(&fallen.verdict), "fell to zero");
        assert_eq!(with_sign(&fallen).0, "0 <b>↓</b>");
        assert_eq!(ratio_text(&fallen), "0");
        fallen.verdict = Verdict::Incomparable(Reason::NotMeasured);
        assert_eq!(shade(&fallen), Some("muted"));
        assert_eq!(with_sign(&fallen).0, "– <b>?</b>");
    }
}
