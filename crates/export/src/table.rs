//! The tables: the columns of each, and how one piece of a run becomes its row.

use model::{
    Cell, Clock, Comparison, Evidence, IntervalNumbers, KindNumbers, RunId, StepHistogram,
    StepPlace,
};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    /// A whole number, zero or more.
    Count,
    Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: lower-case letters and `_`.
    pub name: &'static str,
    pub kind: ColumnType,
    /// May a row have no value there?
    pub optional: bool,
}

impl Column {
    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Text, optional: false }
    }

    pub(crate) const fn count(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Count, optional: false }
    }

    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Number, optional: false }
    }

    /// A real number that a row may lack.
    pub(crate) const fn maybe(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Number, optional: true }
    }
}

/// A missing one is `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value<'a> {
    Absent,
    Text(&'a str),
    Count(u64),
    /// A real number; finite.
    Number(f64),
}

impl Value<'_> {
    /// A number; `None` for missing and non-finite ones.
    pub(crate) fn maybe(number: Option<f64>) -> Self {
        number.filter(|number| number.is_finite()).map_or(Self::Absent, Self::Number)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

/// The columns with which a table of steps begins.
const PLACE: [Column; 6] = [
    Column::text("run"),
    Column::count("round"),
    Column::count("position"),
    Column::text("system"),
    Column::text("step"),
    Column::count("clients"),
];

pub const MEASUREMENTS: &[Column] =
    &after_place::<3, 9>([Column::text("metric"), Column::text("unit"), Column::number("value")]);

/// One operation kind in one interval a row.
pub const INTERVALS: &[Column] = &after_place::<12, 18>(columns(&INTERVAL));

/// One bucket of one merged histogram a row.
pub const HISTOGRAMS: &[Column] = &after_place::<4, 10>([
    Column::text("kind"),
    Column::text("clock"),
    Column::count("value_ns"),
    Column::count("count"),
]);

pub const COMPARISONS: &[Column] = &columns(&COMPARISON);

type Filled<F> = (Column, F);

type OfInterval = for<'a> fn(&(&'a IntervalNumbers, &'a str, &'a KindNumbers)) -> Value<'a>;

const INTERVAL: [Filled<OfInterval>; 12] = [
    (Column::count("interval"), |(interval, ..)| interval.index.into()),
    (Column::count("start_ns"), |(interval, ..)| Value::Count(interval.start.0)),
    (Column::count("length_ns"), |(interval, ..)| Value::Count(interval.length.0)),
    (Column::text("kind"), |(_, kind, _)| Value::Text(kind)),
    (Column::count("ops"), |(.., numbers)| Value::Count(numbers.ops)),
    (Column::count("rows"), |(.., numbers)| Value::Count(numbers.rows)),
    (Column::count("errors"), |(.., numbers)| Value::Count(numbers.errors)),
    (Column::count("retries"), |(.., numbers)| Value::Count(numbers.retries)),
    (Column::count("p50_ns"), |(.., numbers)| Value::Count(numbers.p50.0)),
    (Column::count("p99_ns"), |(.., numbers)| Value::Count(numbers.p99.0)),
    (Column::count("max_ns"), |(.., numbers)| Value::Count(numbers.max.0)),
    (Column::count("stalled_ns"), |(interval, ..)| Value::Count(interval.stalled.0)),
];

struct Compared<'a> {
    run: &'a RunId,
    one: &'a Comparison,
    words: &'a Words,
}

impl Compared<'_> {
    fn evidence(&self, number: impl FnOnce(&Evidence) -> Option<f64>) -> Value<'static> {
        Value::maybe(self.one.evidence.as_ref().and_then(number))
    }
}

type OfComparison = for<'a> fn(&Compared<'a>) -> Value<'a>;

const COMPARISON: [Filled<OfComparison>; 23] = [
    (Column::text("run"), |of| Value::Text(&of.run.0)),
    (Column::text("step"), |of| Value::Text(&of.one.step.0)),
    (Column::count("clients"), |of| of.one.clients.into()),
    (Column::text("metric"), |of| Value::Text(&of.one.metric.0)),
    (Column::text("unit"), |of| Value::Text(of.one.unit.name())),
    (Column::text("base"), |of| Value::Text(&of.one.base)),
    (Column::text("system"), |of| Value::Text(&of.one.system)),
    (Column::maybe("ratio"), |of| Value::maybe(of.one.ratio)),
    (Column::maybe("low"), |of| Value::maybe(of.one.low)),
    (Column::maybe("high"), |of| Value::maybe(of.one.high)),
    (Column::count("rounds"), |of| of.one.rounds.into()),
    (Column::maybe("q_value"), |of| Value::maybe(of.one.q_value)),
    (Column::text("verdict"), |of| Value::Text(of.one.verdict.word())),
    (Column::text("reason"), |of| Value::Text(&of.words.reason)),
    (Column::maybe("sd"), |of| of.evidence(|evidence| Some(evidence.sd))),
    (Column::maybe("df"), |of| of.evidence(|evidence| Some(evidence.df))),
    (Column::maybe("prior_df"), |of| of.evidence(|evidence| Some(evidence.prior_df))),
    (Column::maybe("margin"), |of| of.evidence(|evidence| Some(evidence.margin))),
    (Column::maybe("p_value"), |of| of.evidence(|evidence| Some(evidence.p_value))),
    (Column::maybe("sign_flip"), |of| of.evidence(|evidence| evidence.sign_flip)),
    (Column::maybe("centre"), |of| of.evidence(|evidence| Some(evidence.centre))),
    (Column::text("outlying"), |of| Value::Text(&of.words.outlying)),
    (Column::maybe("slice_pairs"), |of| of.evidence(|evidence| evidence.slice_pairs)),
];

pub fn measurement<'a>(run: &'a RunId, cell: &'a Cell) -> [Value<'a>; 9] {
    let (metric, unit) = (Value::Text(&cell.metric.0), Value::Text(cell.unit.name()));
    let Cell { round, position, system, step, clients, .. } = cell;
    let place = place(run, (*round, *position), system, &step.0, *clients);
    with_place(place, [metric, unit, Value::Number(cell.value)])
}

/// The rows of one interval, one for each kind of its step.
pub fn interval<'a>(
    run: &'a RunId,
    place: &'a StepPlace,
    interval: &'a IntervalNumbers,
) -> impl Iterator<Item = [Value<'a>; 18]> {
    place.kinds.iter().zip(&interval.kinds).map(move |(kind, numbers)| {
        let of = (interval, kind.as_str(), numbers);
        with_place(place_of(run, place), INTERVAL.map(|(_, value)| value(&of)))
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
        let own = [kind, clock, Value::Count(value.0), Value::Count(count)];
        with_place(place_of(run, place), own)
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
    let of = Compared { run, one: comparison, words };
    COMPARISON.map(|(_, value)| value(&of))
}

const fn columns<F, const ALL: usize>(filled: &[Filled<F>; ALL]) -> [Column; ALL] {
    let mut all = [filled[0].0; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = filled[at].0;
        at += 1;
    }
    all
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

fn place<'a>(
    run: &'a RunId,
    (round, position): (u32, u32),
    system: &'a str,
    step: &'a str,
    clients: u32,
) -> [Value<'a>; 6] {
    let names = [run.0.as_str(), system, step].map(Value::Text);
    [names[0], round.into(), position.into(), names[1], names[2], clients.into()]
}

fn place_of<'a>(
    run: &'a RunId,
    StepPlace { trial, step, clients, .. }: &'a StepPlace,
) -> [Value<'a>; 6] {
    place(run, (trial.round, trial.position), &trial.system, &step.0, *clients)
}

/// The place of a row, then its own values.
fn with_place<'a, const OWN: usize, const ALL: usize>(
    place: [Value<'a>; 6],
    own: [Value<'a>; OWN],
) -> [Value<'a>; ALL] {
    std::array::from_fn(|at| if at < PLACE.len() { place[at] } else { own[at - PLACE.len()] })
}
