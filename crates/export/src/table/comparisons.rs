//! One comparison a row.

use model::{Comparison, Evidence, RunId};

use crate::{Column, Value};

pub const COLUMNS: &[Column] = &[
    Column::text("run"),
    Column::text("step"),
    Column::count("clients"),
    Column::text("metric"),
    Column::text("unit"),
    Column::text("base"),
    Column::text("system"),
    Column::maybe("ratio"),
    Column::maybe("low"),
    Column::maybe("high"),
    Column::count("rounds"),
    Column::maybe("q_value"),
    Column::text("verdict"),
    Column::text("reason"),
    Column::maybe("sd"),
    Column::maybe("df"),
    Column::maybe("prior_df"),
    Column::maybe("margin"),
    Column::maybe("p_value"),
    Column::maybe("sign_flip"),
    Column::maybe("centre"),
    Column::text("outlying"),
    Column::maybe("slice_pairs"),
];

/// Words of a comparison that its row borrows.
pub struct Words {
    reason: String,
    outlying: String,
}

impl Words {
    /// The reason of an uncertain verdict, and the outlying rounds: `3 7`.
    pub fn of(comparison: &Comparison) -> Self {
        let evidence = comparison.evidence.iter();
        let outlying = evidence.flat_map(|evidence| &evidence.outlying);
        let outlying: Vec<String> = outlying.map(u32::to_string).collect();
        Self { reason: comparison.verdict.reason(), outlying: outlying.join(" ") }
    }
}

pub fn row<'a>(run: &'a RunId, comparison: &'a Comparison, words: &'a Words) -> [Value<'a>; 23] {
    let evidence = comparison.evidence.as_ref();
    let maybe = |number: fn(&Evidence) -> f64| Value::maybe(evidence.map(number));
    [
        Value::Text(&run.0),
        Value::Text(&comparison.step.0),
        comparison.clients.into(),
        Value::Text(&comparison.metric.0),
        Value::Text(comparison.unit.name()),
        Value::Text(&comparison.base),
        Value::Text(&comparison.system),
        Value::maybe(comparison.ratio),
        Value::maybe(comparison.low),
        Value::maybe(comparison.high),
        comparison.rounds.into(),
        Value::maybe(comparison.q_value),
        Value::Text(comparison.verdict.word()),
        Value::Text(&words.reason),
        maybe(|evidence| evidence.sd),
        maybe(|evidence| evidence.df),
        maybe(|evidence| evidence.prior_df),
        maybe(|evidence| evidence.margin),
        maybe(|evidence| evidence.p_value),
        Value::maybe(evidence.and_then(|evidence| evidence.sign_flip)),
        maybe(|evidence| evidence.centre),
        Value::Text(&words.outlying),
        Value::maybe(evidence.and_then(|evidence| evidence.slice_pairs)),
    ]
}
