//! A history for programs.

use model::RunId;
use serde::Serialize;
use stats::{At, Change, Copied, History, HistoryLine, HistoryPoint, Ratio};

use super::{standing, verdict};
use crate::{object, pretty_json};

/// A JSON object `{builds, base, lines, copies}`, indented, with a newline at its end: `base` and the `build` of a
/// change are places in `builds`, and each line has one point a build, `null` where it has no value; `zeros` are
/// the places of builds that have zero in every round.
pub fn history_json(history: &History) -> String {
    pretty_json(&object! {
        builds: list(&history.builds, build),
        base: history.base,
        lines: list(&history.lines, line),
        copies: list(&history.copies, copy),
    })
}

fn list<'a, T, F>(all: &'a [T], fields: impl Fn(&'a T) -> F) -> Vec<F> {
    all.iter().map(fields).collect()
}

fn build(at: &At) -> impl Serialize {
    let run = at.runs.first().map_or("", |run| &run.0);
    object! { run: run, runs: list(&at.runs, |run| &run.0), system: &at.system, build: &at.build }
}

fn copy(copied: &Copied) -> impl Serialize {
    let Copied { run, of, system, rounds } = copied;
    object! { run: &run.0, of: &of.0, system: system, rounds: rounds }
}

fn line(line: &HistoryLine) -> impl Serialize {
    object! {
        step: &line.step.0,
        clients: line.clients,
        metric: &line.metric.0,
        unit: line.unit.name(),
        tested: line.is_tested(),
        points: list(&line.points, |point| point.as_ref().map(of_point)),
        changes: list(&line.changes, |change| of_change(line, change)),
        zeros: &line.zeros,
        days: list(&line.days, day),
    }
}

fn day((run, factor): &(RunId, f64)) -> impl Serialize {
    object! { run: &run.0, factor: factor }
}

fn of_point(point: &HistoryPoint) -> impl Serialize {
    let word = standing(point.standing);
    object! {
        value: point.value,
        error: point.error,
        rounds: list(&point.rounds, |one| (one.round, one.value)),
        runs: list(&point.rounds, |one| &one.run.0),
        previous: point.to_previous.map(ratio),
        base: point.to_base.map(ratio),
        standing: if word.is_empty() { "level" } else { word },
    }
}

fn ratio(Ratio { ratio, ends }: Ratio) -> impl Serialize {
    object! { ratio: ratio, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) }
}

fn of_change(line: &HistoryLine, change: &Change) -> impl Serialize {
    object! {
        build: change.at,
        ratio: change.ratio,
        low: change.low,
        high: change.high,
        confidence: change.confidence(),
        p_value: change.p_value,
        q_value: change.q_value,
        verdict: verdict(line, change).0,
        may_be_day: change.may_be_day,
    }
}
