//! Comparisons: a family for each number, and the verdict as a set of states.

use std::io::Write;

use model::{Comparison, RunId};

use super::{end, head, labels, number};
use crate::ExportError;

const VERDICT: &str = "backslide_comparison_verdict";

const STATES: [&str; 5] = ["regressed", "improved", "unchanged", "inconclusive", "incomparable"];

/// A number of a comparison: its family, unit, help text, and the number.
type Number = (&'static str, &'static str, &'static str, fn(&Comparison) -> Option<f64>);

const NUMBERS: [Number; 5] = [
    (
        "backslide_comparison_ratio",
        "ratio",
        "geometric mean over the rounds of the system over the base",
        |comparison| comparison.ratio,
    ),
    (
        "backslide_comparison_low_ratio",
        "ratio",
        "lower end of the 95 % interval of the ratio",
        |comparison| comparison.low,
    ),
    (
        "backslide_comparison_high_ratio",
        "ratio",
        "upper end of the 95 % interval of the ratio",
        |comparison| comparison.high,
    ),
    ("backslide_comparison_rounds", "rounds", "complete rounds behind the ratio", |comparison| {
        Some(f64::from(comparison.rounds))
    }),
    ("backslide_comparison_q_value", "", "p-value adjusted for false discoveries", |comparison| {
        comparison.q_value
    }),
];

pub fn comparisons(
    run: &RunId,
    comparisons: &[Comparison],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for (name, unit, help, value) in NUMBERS {
        head(out, name, "gauge", unit, help)?;
        for comparison in comparisons {
            if let Some(value) = value(comparison).filter(|value| value.is_finite()) {
                let labels = labels_of(run, comparison);
                writeln!(out, "{name}{{{labels}}} {}", number(value))?;
            }
        }
    }
    head(out, VERDICT, "stateset", "", "what is concluded")?;
    for comparison in comparisons {
        let labels = labels_of(run, comparison);
        for state in STATES {
            let holds = u8::from(comparison.verdict.word() == state);
            writeln!(out, "{VERDICT}{{{labels},{VERDICT}=\"{state}\"}} {holds}")?;
        }
    }
    Ok(end(out)?)
}

fn labels_of(run: &RunId, comparison: &Comparison) -> String {
    labels(&[
        ("run", &run.0),
        ("base", &comparison.base),
        ("system", &comparison.system),
        ("step", &comparison.step.0),
        ("clients", &comparison.clients.to_string()),
        ("metric", &comparison.metric.0),
    ])
}
