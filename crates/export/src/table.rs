//! The tables: the columns of each, and how one piece of a run becomes its row.

use model::{Cell, Clock, Comparison, Evidence, IntervalNumbers, RunId, StepHistogram, StepPlace};

use crate::{Column, Value};

/// The columns with which a table of steps begins.
const PLACE: [Column; 6] = [
    Column::text("run"),
    Column::count("round"),
    Column::count("position"),
    Column::text("system"),
    Column::text("step"),
    Column::count("clients"),
];

/// One measurement a row.
pub const MEASUREMENTS: &[Column] =
    &after_place::<3, 9>([Column::text("metric"), Column::text("unit"), Column::number("value")]);

/// One operation kind in one interval a row.
pub const INTERVALS: &[Column] = &after_place::<12, 18>([
    Column::count("interval"),
    Column::count("start_ns"),
    Column::count("length_ns"),
    Column::text("kind"),
    Column::count("ops"),
    Column::count("rows"),
    Column::count("errors"),
    Column::count("retries"),
    Column::count("p50_ns"),
    Column::count("p99_ns"),
    Column::count("max_ns"),
    Column::count("stalled_ns"),
]);

/// One bucket of one merged histogram a row.
pub const HISTOGRAMS: &[Column] = &after_place::<4, 10>([
    Column::text("kind"),
    Column::text("clock"),
    Column::count("value_ns"),
    Column::count("count"),
]);

/// One comparison a row.
pub const COMPARISONS: &[Column] = &[
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

pub fn measurement<'a>(run: &'a RunId, cell: &'a Cell) -> [Value<'a>; 9] {
    [
        Value::Text(&run.0),
        cell.round.into(),
        cell.position.into(),
        Value::Text(&cell.system),
        Value::Text(&cell.step.0),
        cell.clients.into(),
        Value::Text(&cell.metric.0),
        Value::Text(cell.unit.name()),
        Value::Number(cell.value),
    ]
}

/// The rows of one interval, one for each kind of its step.
pub fn interval<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    interval: &'a IntervalNumbers,
) -> impl Iterator<Item = [Value<'a>; 18]> {
    place.kinds.iter().zip(&interval.kinds).map(move |(kind, numbers)| {
        let own = [
            interval.index.into(),
            Value::Count(interval.start.0),
            Value::Count(interval.length.0),
            Value::Text(kind),
            Value::Count(numbers.ops),
            Value::Count(numbers.rows),
            Value::Count(numbers.errors),
            Value::Count(numbers.retries),
            Value::Count(numbers.p50.0),
            Value::Count(numbers.p99.0),
            Value::Count(numbers.max.0),
            Value::Count(interval.stalled.0),
        ];
        with_place(run, place, own)
    })
}

/// The rows of one histogram, in rising order; empty buckets have none.
pub fn histogram<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    histogram: &'a StepHistogram,
) -> impl Iterator<Item = [Value<'a>; 10]> {
    let kind = Value::Text(&histogram.kind);
    let clock = Value::Text(Clock::of(histogram.is_response).word());
    histogram.latency.counts().map(move |(value, count)| {
        with_place(run, place, [kind, clock, Value::Count(value.0), Value::Count(count)])
    })
}

/// Words of a comparison that its row borrows.
pub struct Words {
    reason: String,
    outlying: String,
}

impl Words {
    /// The reason of an uncertain verdict, and the outlying rounds: `3 7`.
    pub fn of(comparison: &Comparison) -> Self {
        let evidence = comparison.evidence.iter();
        let outlying = evidence.flat_map(|evidence| &evidence.outlying).map(u32::to_string);
        let outlying: Vec<String> = outlying.collect();
        Self { reason: comparison.verdict.reason(), outlying: outlying.join(" ") }
    }
}

pub fn comparison<'a>(
    run: &'a RunId,
    comparison: &'a Comparison,
    words: &'a Words,
) -> [Value<'a>; 23] {
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

/// The columns of the place, then a table's own.
const fn after_place<const OWN: usize, const ALL: usize>(own: [Column; OWN]) -> [Column; ALL] {
    let mut all = [PLACE[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < PLACE.len() { PLACE[at] } else { own[at - PLACE.len()] };
        at += 1;
    }
    all
}

/// The place of a row, then its own values.
fn with_place<'a, const OWN: usize, const ALL: usize>(
    run: &'a RunId,
    place: &'a StepPlace,
    own: [Value<'a>; OWN],
) -> [Value<'a>; ALL] {
    let place = [
        Value::Text(&run.0),
        place.trial.round.into(),
        place.trial.position.into(),
        Value::Text(&place.trial.system),
        Value::Text(&place.step.0),
        place.clients.into(),
    ];
    std::array::from_fn(|at| if at < PLACE.len() { place[at] } else { own[at - PLACE.len()] })
}
