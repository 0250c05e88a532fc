//! Many builds in order: what each metric of each step did over them, and where it changed.

mod page;
mod picture;
mod tables;

use std::fmt::Write;

use model::{Direction, describe};
use serde::Serialize;
use stats::{At, Change, Copied, History, HistoryLine, HistoryPoint, Ratio, Standing};

use crate::chart::sparkline::Spark;
use crate::page::tone as tone_class;
use crate::{Tone, format, markdown, object, pretty_json};

pub use page::history_html;
pub use picture::history_svg;
pub use tables::{history_tables, of_two_builds};

/// Lines that fell to zero which a sentence names at most.
const MOST_FALLEN: usize = 5;

/// The history in Markdown with GitHub's tables. Names are escaped.
pub fn history_markdown(history: &History) -> String {
    let title = format!("# {}\n\n{}\n\n", heading(history), history_sentence(history));
    history_tables(history, true).iter().fold(title, |text, table| text + &markdown::table(table))
}

fn heading(history: &History) -> String {
    format!("History of {}", format::plural(history.builds.len(), "build"))
}

pub fn history_sentence(history: &History) -> String {
    let lines = || history.lines.iter();
    let directions: Vec<Option<bool>> = lines()
        .flat_map(|line| line.changes.iter().map(|change| direction(line, change)))
        .collect();
    let count = |of: Option<bool>| directions.iter().filter(|one| **one == of).count();
    let (worse, better, other) = (count(Some(false)), count(Some(true)), count(None));
    let tested = lines().filter(|line| line.is_tested()).count();
    let untested = lines().count() - tested;
    let (tested, worse) = (format::plural(tested, "line"), format::plural(worse, "change"));
    let mut text = format!("{tested} tested: {worse} for the worse, {better} for the better");
    if other > 0 {
        let _infallible = write!(text, ", {other} in metrics where neither direction is better");
    }
    text.push('.');
    if untested > 0 {
        let _infallible = write!(
            text,
            " {untested} could not be tested: a test needs 8 builds, or builds of one run in several rounds."
        );
    }
    let changes = || history.lines.iter().flat_map(|line| &line.changes);
    let of_days = changes().filter(|change| change.may_be_day).count();
    let made_otherwise =
        changes().filter(|change| differing(history, change.at).next().is_some()).count();
    let day = "the day: no run links the builds before and after. Measure one version in both runs";
    let making = "the compiler, the allocator or the flags, which change at the same build";
    text + &fallen(history)
        + &may_come_from(of_days, day)
        + &may_come_from(made_otherwise, making)
        + &copies(history)
}

/// How many changes something else than the version explains as well.
fn may_come_from(count: usize, what: &str) -> String {
    if count == 0 { String::new() } else { format!(" {count} of these may come from {what}.") }
}

/// What differs in how the build at this place and the one before it were made: the fact, its old value and its new one.
fn differing(history: &History, at: usize) -> impl Iterator<Item = (&'static str, &str, &str)> {
    let before = at.checked_sub(1).and_then(|before| history.builds.get(before));
    let both = before.zip(history.builds.get(at));
    both.into_iter().flat_map(|(before, after)| before.made.differences(&after.made))
}

/// What was imported or measured once and is there twice.
fn copies(history: &History) -> String {
    let told = history.copies.iter().map(|copy| {
        let Copied { run, of, system, rounds } = copy;
        let rounds = format::plural(*rounds as usize, "round");
        format!(" {run} repeats {rounds} of {system} of {of} to the last digit: counted once.")
    });
    told.collect()
}

/// ` The last build fell to zero in l.i1, rate.`; empty where it did in no line.
fn fallen(history: &History) -> String {
    let lines = history.lines.iter().filter(|line| fell_to_zero(line));
    let names = lines.map(|line| format!("{}, {}", step_name(history, line), line.metric));
    let names = format::first(MOST_FALLEN, names.collect(), |more| format!("{more} more"));
    if names.is_empty() {
        return String::new();
    }
    format!(" The last build fell to zero in {}.", names.join("; "))
}

/// Is nothing left with the last build, where more is better? Zeros are no part of a series, so that no change says it.
fn fell_to_zero(line: &HistoryLine) -> bool {
    let is_loss = describe(&line.metric).is_some_and(|is| is.direction == Direction::Higher);
    is_loss && line.ends_at_zero()
}

/// What a build is called: by what tells it from the others.
fn name(history: &History, place: usize) -> String {
    let Some(at) = history.builds.get(place) else { return String::new() };
    let same =
        |of: fn(&At) -> &str| history.builds.iter().filter(|other| of(other) == of(at)).count() > 1;
    match (same(At::system), same(|at| &at.build)) {
        (false, _) => at.system().to_owned(),
        (true, false) => at.build.clone(),
        // `r2, r3 mysql`.
        (true, true) => format!("{} {}", format::joined(at.runs(), ", "), at.system()),
    }
}

/// What a step is called: with its clients where it was run with several numbers of them.
fn step_name(history: &History, line: &HistoryLine) -> String {
    let mut same = history.lines.iter().filter(|other| other.step == line.step);
    if same.any(|other| other.clients != line.clients) {
        format!("{} ×{}", line.step, line.clients)
    } else {
        line.step.0.clone()
    }
}

/// Is a change for the better? `None` where neither direction is.
fn direction(line: &HistoryLine, change: &Change) -> Option<bool> {
    let up = change.ratio > 1.0;
    match describe(&line.metric).map_or(Direction::Neither, |is| is.direction) {
        Direction::Higher => Some(up),
        Direction::Lower => Some(!up),
        Direction::Neither => None,
    }
}

fn verdict(line: &HistoryLine, change: &Change) -> (&'static str, Tone) {
    match direction(line, change) {
        Some(true) => ("improved", Tone::Improved),
        Some(false) => ("regressed", Tone::Regressed),
        None => ("changed", Tone::Plain),
    }
}

/// The word for what a build is in its line; empty for the usual.
const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Level => "",
        Standing::Outlier => "outlier",
        Standing::Unconfirmed => "unconfirmed",
    }
}

fn ratio_of_change(change: &Change) -> String {
    format::with_ends(change.ratio, Some((change.low, change.high)), format::pair)
}

fn spark(history: &History, line: &HistoryLine) -> Spark {
    let builds = line.points.len();
    let values = line.points.iter().map(|point| Some(point.as_ref()?.value));
    let borders = line.changes.iter().map(|change| change.at);
    let from = std::iter::once(0).chain(borders.clone());
    let to = borders.chain(std::iter::once(builds));
    let mean = |from: usize, to: usize| {
        let of_level = line.points.iter().take(to).skip(from).flatten();
        let logs = of_level.filter(|p| p.standing == Standing::Level).map(|p| p.value.ln());
        let logs: Vec<f64> = logs.collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    let changes = line.changes.iter().map(|change| {
        let (word, tone) = verdict(line, change);
        let said = format!("{}: {word}, {}", name(history, change.at), ratio_of_change(change));
        (change.at, tone_class(tone).unwrap_or_default(), said)
    });
    let changes: Vec<(usize, &'static str, String)> = changes.collect();
    let apart = line.points.iter().enumerate().filter_map(|(build, point)| {
        let word = standing(point.as_ref()?.standing);
        (!word.is_empty()).then(|| (build, format!("{}: {word}", name(history, build))))
    });
    let said = format::joined(changes.iter().map(|(_, _, said)| said), "; ");
    Spark {
        values: values.collect(),
        levels: from.zip(to).filter_map(|(from, to)| Some((from, to, mean(from, to)?))).collect(),
        text: if said.is_empty() { "no change".to_owned() } else { said },
        apart: apart.collect(),
        changes,
    }
}

/// A JSON object `{builds, base, lines, copies}`, indented, with a newline at its end: `base` and the `build` of a
/// change are places in `builds`, and each line has one point a build, `null` where it has no value; `zeros` are
/// the places of builds that have zero in every round.
pub fn history_json(history: &History) -> String {
    pretty_json(&object! {
        builds: list(&history.builds, json_of_build),
        base: history.base,
        lines: list(&history.lines, json_of_line),
        copies: list(&history.copies, |Copied { run, of, system, rounds }| {
            object! { run: &run.0, of: &of.0, system: system, rounds: rounds }
        }),
    })
}

fn list<'a, T, F>(all: &'a [T], fields: impl Fn(&'a T) -> F) -> Vec<F> {
    all.iter().map(fields).collect()
}

fn json_of_build(at: &At) -> impl Serialize {
    let run = at.runs().next().map_or("", |run| &run.0);
    object! {
        run: run,
        runs: list(&at.of, |(run, _)| &run.0),
        system: at.system(),
        build: &at.build,
        compiler: &at.made.compiler,
        allocator: &at.made.allocator,
        flags: &at.made.flags,
    }
}

fn json_of_line(line: &HistoryLine) -> impl Serialize {
    object! {
        step: &line.step.0,
        clients: line.clients,
        metric: &line.metric.0,
        unit: line.unit.name(),
        tested: line.is_tested(),
        points: list(&line.points, |point| point.as_ref().map(json_of_point)),
        changes: list(&line.changes, |change| json_of_change(line, change)),
        zeros: &line.zeros,
        days: list(&line.days, |(run, factor)| object! { run: &run.0, factor: factor }),
    }
}

fn json_of_point(point: &HistoryPoint) -> impl Serialize {
    let word = standing(point.standing);
    object! {
        value: point.value,
        error: point.error,
        rounds: list(&point.rounds, |one| (one.round, one.value)),
        runs: list(&point.rounds, |one| &one.run.0),
        previous: point.to_previous.map(json_of_ratio),
        base: point.to_base.map(json_of_ratio),
        standing: if word.is_empty() { "level" } else { word },
    }
}

fn json_of_ratio(Ratio { ratio, ends }: Ratio) -> impl Serialize {
    object! { ratio: ratio, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) }
}

fn json_of_change(line: &HistoryLine, change: &Change) -> impl Serialize {
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

#[cfg(test)]
mod tests;
