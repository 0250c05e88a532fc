//! The tables of a history: what changed, then each metric over the builds.

use std::collections::BTreeSet;
use std::fmt::Write;

use stats::{Change, History, HistoryLine, HistoryPoint, Ratio};

use super::{differing, fell_to_zero, name, ratio_of_change, standing, step_name, verdict};
use crate::chart::sparkline::blocks;
use crate::{Cell, Columns, Header, Table, Tone, format};

pub(super) const LINES: &str = "Lines";

/// Builds at most that have a bar: more would leave no room for numbers.
const MOST_BARS: usize = 40;

/// What changed, what stands apart, and a row a line; with `detail` each line build by build.
pub fn history_tables(history: &History, detail: bool) -> Vec<Table> {
    let mut all = vec![changes(history), apart(history), summary(history)];
    if detail {
        all.extend(history.lines.iter().map(|line| build_by_build(history, line)));
    }
    all.retain(|table| !table.rows.is_empty());
    all
}

fn changes(history: &History) -> Table {
    let rows = history.lines.iter().flat_map(|line| line.changes.iter().map(move |c| (line, c)));
    let ratio = |line: &HistoryLine, change: &Change| {
        let (word, tone) = verdict(line, change);
        Cell::number(change.ratio, ratio_of_change(change)).marked(tone, word)
    };
    let mut note = "The new level over the one before it, with its 95 % interval. Confidence accounts for having \
                    looked at every build and every step."
        .to_owned();
    if rows.clone().any(|(_, change)| change.may_be_day) {
        note.push_str(
            "\n† No run links the builds before and after: the change may come from the day.",
        );
    }
    let otherwise = made_otherwise(history);
    if !otherwise.is_empty() {
        let _infallible =
            write!(note, "\n‡ The build was made otherwise than the one before: {otherwise}.");
    }
    of_lines(history, |(line, _): &(&HistoryLine, &Change)| line)
        .words("first build", |(_, change)| Cell::text(name(history, change.at)))
        .numbers("ratio", "", move |(line, change)| ratio(line, change))
        .numbers("confidence", "", move |(_, change)| {
            let is_made_otherwise = differing(history, change.at).next().is_some();
            let marks = [change.may_be_day.then_some("†"), is_made_otherwise.then_some("‡")];
            let marks = format::joined(marks.into_iter().flatten(), " ");
            // Never quite a hundred.
            let confidence = match 100.0 * change.confidence() {
                percent if percent > 99.9 => "> 99.9 %".to_owned(),
                percent => format!("{percent:.1} %"),
            };
            Cell::number(change.confidence(), confidence).marked(Tone::Plain, marks)
        })
        .table("Changes", note, rows)
}

/// `9.7 (compiler gcc 4.4, then gcc 7.5)`: the builds at which something changed, and which were made otherwise than the
/// one before; empty where there are none.
fn made_otherwise(history: &History) -> String {
    let changes = history.lines.iter().flat_map(|line| &line.changes);
    let places: BTreeSet<usize> = changes.map(|change| change.at).collect();
    let builds = places.into_iter().filter_map(|at| {
        let said =
            differing(history, at).map(|(fact, old, new)| format!("{fact} {old}, then {new}"));
        let said = format::joined(said, "; ");
        (!said.is_empty()).then(|| format!("{} ({said})", name(history, at)))
    });
    format::joined(builds, "; ")
}

/// The columns that say which line a row is of.
fn of_lines<'h, T: 'h>(
    history: &'h History,
    line: impl Fn(&T) -> &'h HistoryLine + Copy + 'h,
) -> Columns<'h, T> {
    Columns::new()
        .words("step", move |row| Cell::text(step_name(history, line(row))))
        .words("metric", move |row| Cell::text(line(row).metric.0.clone()))
}

fn apart(history: &History) -> Table {
    let rows = history.lines.iter().flat_map(|line| {
        let points = line.points.iter().enumerate();
        let points = points.filter_map(|(build, point)| Some((build, point.as_ref()?)));
        let apart = points.filter(|(_, point)| !standing(point.standing).is_empty());
        apart.map(move |(build, point)| (line, build, point))
    });
    let note = "An outlier differs from both its neighbours, which are alike. An unconfirmed build is the last one \
                and was measured alone: the next will show whether it is a change.";
    of_lines(history, |(line, ..): &(&HistoryLine, usize, &HistoryPoint)| line)
        .words("build", |(_, build, _)| Cell::text(name(history, *build)))
        .numbers("over the build before", "", |(.., point)| estimate(point.to_previous))
        .words("what", |(.., point)| Cell::text(standing(point.standing)))
        .table("Builds outside the levels", note, rows)
}

/// One build of a history over its base, a row a line; the base is measured in another run.
pub fn of_two_builds(history: &History, place: usize) -> Table {
    let point = |line: &HistoryLine| line.points.get(place).and_then(Option::as_ref)?.to_base;
    let note = "The systems are from different runs. A step has an interval only if both runs measured a common \
                build, which shows how much the runs differ. The 95 % intervals are not adjusted for multiple \
                comparisons.";
    of_lines(history, |line: &&HistoryLine| *line)
        .numbers(&name(history, history.base), "", |line| value(line, history.base))
        .numbers(&name(history, place), "", move |line| value(line, place))
        .numbers("ratio", "", move |line| estimate(point(line)))
        .table("Steps", note, &history.lines)
}

/// A row a line: its shape, and where it stands with the last build.
fn summary(history: &History) -> Table {
    let over = |line: &HistoryLine, of: fn(&HistoryPoint) -> Option<Ratio>| {
        estimate(line.points.last().and_then(Option::as_ref).and_then(of))
    };
    let changes = |line: &HistoryLine| {
        Cell::number(line.changes.len() as f64, line.changes.len().to_string())
    };
    let bars = match history.builds.len() {
        builds if builds > MOST_BARS => format!("last {MOST_BARS} of {builds} builds"),
        _ => "builds".to_owned(),
    };
    let note = "Bars are builds in order; each line has its own log scale. The value of the last build \
                is the geometric mean of its rounds, with its standard error. The 95 % intervals are not \
                adjusted for multiple comparisons.";
    of_lines(history, |line: &&HistoryLine| *line)
        .column(Header::words(bars).spared(1), |line| {
            let newest = line.points.iter().skip(line.points.len().saturating_sub(MOST_BARS));
            let values: Vec<Option<f64>> =
                newest.map(|point| Some(point.as_ref()?.value)).collect();
            Cell::text(blocks(&values))
        })
        .numbers("last build", "", |line| {
            // Never that of one before it.
            let last = value(line, line.points.len().saturating_sub(1));
            if fell_to_zero(line) {
                last.marked(Tone::Regressed, format::FELL_TO_ZERO)
            } else {
                last
            }
        })
        .column(spared("over the one before", 3), move |line| over(line, |at| at.to_previous))
        .column(spared(over_base(history), 2), move |line| over(line, |at| at.to_base))
        .numbers("changes", "", move |line| changes(line))
        .table(LINES, note, &history.lines)
}

/// A column of numbers that gives way where a terminal has no room for it.
fn spared(head: impl Into<String>, spare: u8) -> Header {
    Header::numbers(head, "").spared(spare)
}

fn over_base(history: &History) -> String {
    format!("over {}", name(history, history.base))
}

/// `12,345 ± 0.4 %`, the standard error of the value of a build; one of zeros has no point.
fn value(line: &HistoryLine, build: usize) -> Cell {
    match line.points.get(build).and_then(Option::as_ref) {
        Some(point) => {
            let error = point.error.map(|error| format!(" ± {:.1} %", 100.0 * error));
            let text = format::in_unit(point.value, line.unit) + &error.unwrap_or_default();
            Cell::number(point.value, text)
        }
        None if line.zeros.contains(&build) => Cell::number(0.0, format::in_unit(0.0, line.unit)),
        None => Cell::absent(),
    }
}

pub(super) fn build_by_build(history: &History, line: &HistoryLine) -> Table {
    let point = |build: usize| line.points.get(build).and_then(Option::as_ref);
    let over = move |build: usize, of: fn(&HistoryPoint) -> Option<Ratio>| {
        estimate(point(build).and_then(of))
    };
    let what = |build: usize| match line.changes.iter().find(|change| change.at == build) {
        Some(change) => {
            let (word, tone) = verdict(line, change);
            Cell::text(format!("level {}", ratio_of_change(change))).marked(tone, word)
        }
        None => Cell::text(point(build).map_or("", |point| standing(point.standing))),
    };
    Columns::new()
        .words("build", |build: &usize| Cell::text(name(history, *build)))
        .numbers("value", format::header_unit(line.unit), |build| value(line, *build))
        .column(spared("over the one before", 2), |build| over(*build, |at| at.to_previous))
        .column(spared(over_base(history), 1), |build| over(*build, |at| at.to_base))
        .words("what", |build| what(*build))
        .table(
            format!("{}, {}", step_name(history, line), line.metric),
            days(line),
            0..line.points.len(),
        )
}

/// By how much the values of other days were multiplied; empty where there is one day.
fn days(line: &HistoryLine) -> String {
    // Exactly one where nothing was multiplied.
    let is_other = |factor: f64| factor.total_cmp(&1.0).is_ne();
    let factors = line.days.iter().filter(|(_, factor)| is_other(*factor));
    let factors = factors.map(|(run, factor)| format!("{run} × {}", format::pair(*factor)));
    let factors = format::joined(factors, ", ");
    if factors.is_empty() {
        return factors;
    }
    format!(
        "Values are those of the first day; others are multiplied, as builds of several runs tell: {factors}."
    )
}

fn estimate(estimate: Option<Ratio>) -> Cell {
    let ends = estimate.and_then(|one| one.ends);
    Cell::of(estimate.map(|one| one.ratio), |ratio| format::with_ends(ratio, ends, format::pair))
}
