//! A history for programs.

use model::RunId;
use serde::Serialize;
use stats::{Change, Copied, History, HistoryLine, HistoryPoint, Ratio};

use super::{direction, standing};
use crate::pretty_json;

#[derive(Serialize)]
struct Whole<'a> {
    builds: Vec<Entry<'a>>,
    base: usize,
    lines: Vec<Line<'a>>,
    copies: Vec<Copy<'a>>,
}

#[derive(Serialize)]
struct Copy<'a> {
    run: &'a str,
    of: &'a str,
    system: &'a str,
    rounds: u32,
}

#[derive(Serialize)]
struct Entry<'a> {
    run: &'a str,
    runs: Vec<&'a str>,
    system: &'a str,
    build: &'a str,
}

#[derive(Serialize)]
struct Line<'a> {
    step: &'a str,
    clients: u32,
    metric: &'a str,
    unit: &'static str,
    tested: bool,
    points: Vec<Option<Point<'a>>>,
    changes: Vec<Step>,
    zeros: &'a [usize],
    days: Vec<Day<'a>>,
}

#[derive(Serialize)]
struct Day<'a> {
    run: &'a str,
    factor: f64,
}

#[derive(Serialize)]
struct Point<'a> {
    value: f64,
    error: Option<f64>,
    rounds: Vec<(u32, f64)>,
    runs: Vec<&'a str>,
    previous: Option<RatioLine>,
    base: Option<RatioLine>,
    standing: &'static str,
}

#[derive(Serialize)]
struct RatioLine {
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct Step {
    build: usize,
    ratio: f64,
    low: f64,
    high: f64,
    confidence: f64,
    p_value: f64,
    q_value: f64,
    verdict: &'static str,
    may_be_day: bool,
}

/// A JSON object `{builds, base, lines, copies}`, indented, with a newline at its end: `base` and the `build` of a
/// change are places in `builds`, and each line has one point a build, `null` where it has no value; `zeros` are
/// the places of builds that have zero in every round.
pub fn history_json(history: &History) -> String {
    let builds = history.builds.iter().map(|at| Entry {
        run: at.runs.first().map_or("", |run| &run.0),
        runs: at.runs.iter().map(|run| run.0.as_str()).collect(),
        system: &at.system,
        build: &at.build,
    });
    let whole = Whole {
        builds: builds.collect(),
        base: history.base,
        lines: history.lines.iter().map(line).collect(),
        copies: history.copies.iter().map(copy).collect(),
    };
    pretty_json(&whole).unwrap_or_else(|_| unreachable!("strings and numbers always serialise"))
}

fn copy(copied: &Copied) -> Copy<'_> {
    Copy {
        run: &copied.run.0,
        of: &copied.of.0,
        system: &copied.system,
        rounds: copied.rounds,
    }
}

fn line(line: &HistoryLine) -> Line<'_> {
    Line {
        step: &line.step.0,
        clients: line.clients,
        metric: &line.metric.0,
        unit: line.unit.name(),
        tested: line.is_tested(),
        points: line.points.iter().map(|p| p.as_ref().map(point)).collect(),
        changes: line
            .changes
            .iter()
            .map(|change| step(line, change))
            .collect(),
        zeros: &line.zeros,
        days: line.days.iter().map(day).collect(),
    }
}

fn day((run, factor): &(RunId, f64)) -> Day<'_> {
    Day {
        run: &run.0,
        factor: *factor,
    }
}

fn point(point: &HistoryPoint) -> Point<'_> {
    Point {
        value: point.value,
        error: point.error,
        rounds: point
            .rounds
            .iter()
            .map(|one| (one.round, one.value))
            .collect(),
        runs: point.rounds.iter().map(|one| one.run.0.as_str()).collect(),
        previous: point.to_previous.map(ratio),
        base: point.to_base.map(ratio),
        standing: match standing(point.standing) {
            "" => "level",
            word => word,
        },
    }
}

fn ratio(estimate: Ratio) -> RatioLine {
    RatioLine {
        ratio: estimate.ratio,
        low: estimate.ends.map(|(low, _)| low),
        high: estimate.ends.map(|(_, high)| high),
    }
}

fn step(line: &HistoryLine, change: &Change) -> Step {
    Step {
        build: change.at,
        ratio: change.ratio,
        low: change.low,
        high: change.high,
        confidence: change.confidence(),
        p_value: change.p_value,
        q_value: change.q_value,
        verdict: match direction(line, change) {
            Some(true) => "improved",
            Some(false) => "regressed",
            None => "changed",
        },
        may_be_day: change.may_be_day,
    }
}
