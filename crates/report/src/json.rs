//! Comparisons for programs.

use model::Comparison;
use serde::Serialize;

use crate::{Report, pretty_json};

/// An object of JSON: these fields in this order, each with any value that serialises.
#[macro_export]
macro_rules! object {
    ($($field:ident: $value:expr),+ $(,)?) => {{
        #[expect(non_camel_case_types, reason = "the type of each field has the field's name")]
        let object = {
            #[derive(::serde::Serialize)]
            struct Object<$($field),+> {
                $($field: $field),+
            }
            Object { $($field: $value),+ }
        };
        object
    }};
}

impl Report<'_> {
    /// All comparisons as a JSON list of `{step, metric, unit, base, system, ratio, low, high, rounds, q_value,
    /// verdict, reason, evidence}`, indented, with a newline at its end. Missing values are `null`, a missing reason
    /// is empty. These fields are a contract: `docs/formats.md`.
    pub fn json(&self) -> String {
        let all: Vec<_> = self.input.comparisons.iter().map(fields).collect();
        pretty_json(&all)
    }
}

fn fields(one: &Comparison) -> impl Serialize {
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    object! {
        step: &one.step.0,
        metric: &one.metric.0,
        unit: one.unit.name(),
        base: &one.base,
        system: &one.system,
        ratio: finite(one.ratio),
        low: finite(one.low),
        high: finite(one.high),
        rounds: one.rounds,
        q_value: finite(one.q_value),
        verdict: one.verdict.word(),
        reason: one.verdict.reason(),
        evidence: &one.evidence,
    }
}
