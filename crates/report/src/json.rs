//! Comparisons for programs.

use model::{Comparison, Evidence};
use serde::Serialize;

use crate::pretty_json;

/// One comparison under the contract that does not change without a version bump.
#[derive(Serialize)]
struct Line<'a> {
    step: &'a str,
    metric: &'a str,
    unit: &'static str,
    base: &'a str,
    system: &'a str,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    rounds: u32,
    q_value: Option<f64>,
    verdict: &'static str,
    reason: String,
    /// Its fields are part of the contract too.
    evidence: Option<&'a Evidence>,
}

/// A JSON list of `{step, metric, unit, base, system, ratio, low, high, rounds, q_value, verdict,
/// reason, evidence}`, indented, with a newline at its end. What there is not is `null`, a reason that there
/// is not is empty.
pub fn json(comparisons: &[Comparison]) -> String {
    let lines: Vec<Line<'_>> = comparisons.iter().map(line).collect();
    pretty_json(&lines).unwrap_or_else(|_| unreachable!("strings and numbers always serialise"))
}

fn line(comparison: &Comparison) -> Line<'_> {
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    Line {
        step: &comparison.step.0,
        metric: &comparison.metric.0,
        unit: comparison.unit.name(),
        base: &comparison.base,
        system: &comparison.system,
        ratio: finite(comparison.ratio),
        low: finite(comparison.low),
        high: finite(comparison.high),
        rounds: comparison.rounds,
        q_value: finite(comparison.q_value),
        verdict: comparison.verdict.word(),
        reason: comparison.verdict.reason(),
        evidence: comparison.evidence.as_ref(),
    }
}
