//! The tables of a history: what changed, then each metric over the builds.

use stats::{Change, History, HistoryLine, Ratio};

use super::{
    confidence, estimate_text, fell_to_zero, name, ratio_text, standing, step_name, value_text,
    verdict,
};
use crate::chart::sparkline::blocks;
use crate::{Cell, Header, Table, Tone, format};

/// The title of the table with a row a line.
pub(super) const LINES: &str = "Lines";

/// Builds at most that have a bar: more would leave no room for numbers.
const MOST_BARS: usize = 40;

/// What changed, what stands apart, and a row a line; with `detail` each line build by build.
pub fn history_tables(history: &History, detail: bool) -> Vec<Table> {
    let mut all = vec![changes(history)];
    all.extend(apart(history));
    all.push(summary(history));
    if detail {
        all.extend(
            history
                .lines
                .iter()
                .map(|line| build_by_build(history, line)),
        );
    }
    all.retain(|table| !table.rows.is_empty());
    all
}

/// A row a change.
fn changes(history: &History) -> Table {
    let rows = history.lines.iter().flat_map(|line| {
        line.changes.iter().map(move |change| {
            let (word, tone) = verdict(line, change);
            let ratio = ratio_text(change.ratio, Some((change.low, change.high)));
            vec![
                Cell::text(step_name(history, line)),
                Cell::text(line.metric.0.clone()),
                Cell::text(name(history, change.at)),
                Cell::number(change.ratio, ratio).marked(tone, word),
                certainty(change),
            ]
        })
    });
    Table {
        title: "Changes".to_owned(),
        note: "The new level over the one before it, with its 95 % interval. Confidence allows for having looked \
               at every build and every step.\n\
               † No run links the builds before and after: the change may come from the day."
            .to_owned(),
        headers: vec![
            Header::words("step"),
            Header::words("metric"),
            Header::words("first build"),
            Header::numbers("ratio", ""),
            Header::numbers("confidence", ""),
        ],
        rows: rows.collect(),
    }
}

/// How sure it is that the level changed, with a mark where the version may not be why.
fn certainty(change: &Change) -> Cell {
    let cell = Cell::number(change.confidence(), confidence(change));
    if change.may_be_day {
        cell.marked(Tone::Plain, "†")
    } else {
        cell
    }
}

/// Builds that belong to no level.
fn apart(history: &History) -> Option<Table> {
    let rows = history.lines.iter().flat_map(|line| {
        let points = line.points.iter().enumerate();
        points.filter_map(move |(build, point)| {
            let point = point.as_ref()?;
            let word = standing(point.standing);
            let row = vec![
                Cell::text(step_name(history, line)),
                Cell::text(line.metric.0.clone()),
                Cell::text(name(history, build)),
                estimate(point.to_previous),
                Cell::text(word),
            ];
            (!word.is_empty()).then_some(row)
        })
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: "Apart from the levels".to_owned(),
        note: "An outlier differs from both its neighbours, which are alike. An unconfirmed build is the last one \
               and was measured alone: the next will show whether it is a change."
            .to_owned(),
        headers: vec![
            Header::words("step"),
            Header::words("metric"),
            Header::words("build"),
            Header::numbers("over the build before", ""),
            Header::words("what"),
        ],
        rows,
    })
}

/// A row a line: its shape, and where it stands with the last build.
fn summary(history: &History) -> Table {
    let rows = history.lines.iter().map(|line| {
        let last = line.points.last().and_then(Option::as_ref);
        vec![
            Cell::text(step_name(history, line)),
            Cell::text(line.metric.0.clone()),
            Cell::text(bars(line)),
            last_value(line),
            estimate(last.and_then(|point| point.to_previous)),
            estimate(last.and_then(|point| point.to_base)),
            Cell::number(line.changes.len() as f64, line.changes.len().to_string()),
        ]
    });
    Table {
        title: LINES.to_owned(),
        note: "Bars are builds in their order, on a log scale of its own for each line. The value of the last build \
               is the geometric mean of its rounds, with its standard error. Intervals of 95 % are single ones, not \
               adjusted for their number."
            .to_owned(),
        headers: vec![
            Header::words("step"),
            Header::words("metric"),
            Header::words(builds_with_bars(history.builds.len())),
            Header::numbers("last build", ""),
            Header::numbers("over the one before", ""),
            Header::numbers(format!("over {}", name(history, history.base)), ""),
            Header::numbers("changes", ""),
        ],
        rows: rows.collect(),
    }
}

/// The newest builds of a line.
fn bars(line: &HistoryLine) -> String {
    let older = line.points.len().saturating_sub(MOST_BARS);
    let newest = line.points.iter().skip(older);
    let values: Vec<Option<f64>> = newest.map(|p| p.as_ref().map(|p| p.value)).collect();
    blocks(&values)
}

/// Which builds have bars, in the head of their column.
fn builds_with_bars(builds: usize) -> String {
    if builds > MOST_BARS {
        format!("last {MOST_BARS} of {builds} builds")
    } else {
        "builds".to_owned()
    }
}

/// The value of the last build, never that of one before it.
fn last_value(line: &HistoryLine) -> Cell {
    let last = value(line, line.points.len().saturating_sub(1));
    if fell_to_zero(line) {
        last.marked(Tone::Regressed, format::FELL_TO_ZERO)
    } else {
        last
    }
}

/// The value of a build; one of zeros has no point.
fn value(line: &HistoryLine, build: usize) -> Cell {
    match line.points.get(build).and_then(Option::as_ref) {
        Some(point) => Cell::number(point.value, value_text(point.value, point.error, line.unit)),
        None if line.zeros.contains(&build) => Cell::number(0.0, format::in_unit(0.0, line.unit)),
        None => Cell::absent(),
    }
}

/// A row a build.
pub(super) fn build_by_build(history: &History, line: &HistoryLine) -> Table {
    let rows = line.points.iter().enumerate().map(|(build, point)| {
        let named = Cell::text(name(history, build));
        let Some(point) = point else {
            return vec![
                named,
                value(line, build),
                Cell::absent(),
                Cell::absent(),
                Cell::default(),
            ];
        };
        let change = line.changes.iter().find(|change| change.at == build);
        let what = match change {
            Some(change) => {
                let (word, tone) = verdict(line, change);
                let ratio = ratio_text(change.ratio, Some((change.low, change.high)));
                Cell::text(format!("level {ratio}")).marked(tone, word)
            }
            None => Cell::text(standing(point.standing)),
        };
        vec![
            named,
            value(line, build),
            estimate(point.to_previous),
            estimate(point.to_base),
            what,
        ]
    });
    Table {
        title: format!("{}, {}", step_name(history, line), line.metric),
        note: days(line),
        headers: vec![
            Header::words("build"),
            Header::numbers("value", format::header_unit(line.unit)),
            Header::numbers("over the one before", ""),
            Header::numbers(format!("over {}", name(history, history.base)), ""),
            Header::words("what"),
        ],
        rows: rows.collect(),
    }
}

/// By how much the values of other days were multiplied; empty where there is one day.
fn days(line: &HistoryLine) -> String {
    // Exactly one where nothing was multiplied.
    let is_other = |factor: f64| factor.total_cmp(&1.0).is_ne();
    let factors = line.days.iter().filter(|(_, factor)| is_other(*factor));
    let factors = factors.map(|(run, factor)| format!("{run} × {}", format::pair(*factor)));
    let factors: Vec<String> = factors.collect();
    if factors.is_empty() {
        return String::new();
    }
    let factors = factors.join(", ");
    format!(
        "Values are those of the first day; others are multiplied, as builds of several runs tell: {factors}."
    )
}

fn estimate(estimate: Option<Ratio>) -> Cell {
    match estimate {
        Some(one) => Cell::number(one.ratio, estimate_text(estimate)),
        None => Cell::absent(),
    }
}
