//! Each candidate against the base, a line a comparison.

use model::{Comparison, Interleave, MetricId, Reason, StepInfo, Verdict};

use super::outlying;
use crate::deciding;
use crate::format;
use crate::table::{Cell, Header, Table, Tone};
use crate::view::{Seen, View, is_certain, usable_ratio};

/// Costs that may explain a change of throughput.
const COSTS: [&str; 8] = [
    "server.cpu/o",
    "server.cs/o",
    "cpu/o",
    "cs/o",
    "r/o",
    "rKB/o",
    "w/o",
    "wKB/o",
];

/// Of these, what every operation costs, be it in memory or on disk.
const CPU: [&str; 2] = ["server.cpu/o", "cpu/o"];

/// By so much another cost must have changed more than the CPU, in logarithms, to be named beside it: what merely
/// moves along says nothing.
const MORE_THAN_CPU: f64 = 1.5;

/// Which comparisons a table of verdicts shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// One system, which is then named in the title; all when `None`.
    pub system: Option<String>,
    /// Every metric, or only that which decides each step.
    pub all_metrics: bool,
    /// Leave out what is unchanged or not decided.
    pub decided_only: bool,
}

impl Shown {
    /// All steps of all systems, each in the metric that decides it.
    pub(crate) fn decisions() -> Self {
        Self::default()
    }

    /// Is the table of this system?
    fn is_of(&self, system: &str) -> bool {
        let one = self.system.as_deref();
        one.is_none_or(|one| one == system)
    }

    /// Does the table have a row for it? `deciding` is the metric that decides the step of the comparison.
    pub(crate) fn shows(&self, deciding: &MetricId, comparison: &Comparison) -> bool {
        self.is_of(&comparison.system)
            && (self.all_metrics || comparison.metric == *deciding)
            && (!self.decided_only || is_certain(&comparison.verdict))
    }
}

pub(crate) fn verdicts(view: &View<'_>, shown: &Shown) -> Table {
    let headers = headers(shown);
    // Under headings the systems would be mixed.
    let has_headings = shown.system.is_some();
    let (mut rows, mut told) = (Vec::new(), Vec::new());
    // Of hundreds of systems only the one that is asked for is gone through.
    let systems = view.candidates().filter(|s| shown.is_of(s.name));
    for system in systems {
        for group in &view.groups {
            let steps = group.places.clone();
            let steps = steps.filter_map(|place| view.steps.get(place));
            let of_group: Vec<(&StepInfo, &Comparison)> = steps
                .flat_map(|step| {
                    let compared = compared(view, system, step, shown).into_iter();
                    compared.map(move |comparison| (step, comparison))
                })
                .collect();
            if has_headings && !(of_group.is_empty() || group.title.is_empty()) {
                rows.push(Table::heading(&group.title, headers.len()));
            }
            for (step, comparison) in of_group {
                let names = names(view, step, comparison, shown);
                told.extend(outlying::told(comparison, &names));
                let said = said(view, step, comparison);
                rows.push(names.into_iter().chain(said).collect());
            }
        }
    }
    let mut note = "q is the p-value adjusted for false discoveries over the steps.".to_owned();
    note.push_str(of_slices(view));
    let told = outlying::note(shown.system.as_deref(), told);
    note.extend(told.map(|line| format!("\n{line}")));
    Table {
        title: match &shown.system {
            Some(system) => format!("{system} against {}", view.base),
            None => format!("Verdicts against {}", view.base),
        },
        note,
        headers,
        rows,
    }
}

/// What a ratio is of where a step was measured in slices.
fn of_slices(view: &View<'_>) -> &'static str {
    match view.input.data.info.plan.course.interleave {
        Interleave::Trials => "",
        Interleave::Slices(_) => {
            "\nIn steps measured in slices the ratio is the mean of pairs of neighbouring slices; absolute values are of whole windows, whose ratio may be another."
        }
    }
}

/// The same for people, who need no last column where nothing stands in it; programs find it always.
pub(crate) fn without_empty_why(mut table: Table) -> Table {
    let is_empty = |row: &Vec<Cell>| row.last().is_none_or(|cell| cell.text.is_empty());
    if table.rows.iter().all(is_empty) {
        table.headers.pop();
        for row in &mut table.rows {
            row.pop();
        }
    }
    table
}

fn headers(shown: &Shown) -> Vec<Header> {
    let mut headers = Vec::new();
    if shown.system.is_none() {
        headers.push(Header::words("system"));
    }
    headers.push(Header::words("step"));
    if shown.all_metrics {
        headers.push(Header::words("metric"));
    }
    headers.extend([
        Header::numbers("ratio", ""),
        Header::numbers("95 % interval", "").spared(1),
        Header::numbers("rounds", "").spared(4),
        Header::numbers("q", "").spared(3),
        Header::words("verdict"),
        Header::words("why").spared(2),
    ]);
    headers
}

/// The comparisons of a system in a step that have a row.
fn compared<'a>(
    view: &View<'a>,
    system: &Seen<'_>,
    step: &StepInfo,
    shown: &Shown,
) -> Vec<&'a Comparison> {
    let deciding = view.deciding(step);
    let mut compared = if shown.all_metrics {
        view.compared(system.name, step).to_vec()
    } else {
        view.decision(system.name, step).into_iter().collect()
    };
    compared.retain(|c| shown.shows(&deciding, c));
    compared
}

/// The cells that name a row.
fn names(view: &View<'_>, step: &StepInfo, comparison: &Comparison, shown: &Shown) -> Vec<Cell> {
    let mut cells = Vec::new();
    if shown.system.is_none() {
        cells.push(Cell::text(comparison.system.clone()));
    }
    let label = view.label(step);
    if shown.all_metrics {
        cells.push(Cell::text(label));
        cells.push(Cell::text(comparison.metric.0.clone()));
    } else {
        let name = deciding::beside(&label, &comparison.metric);
        cells.push(Cell::text(name));
    }
    cells
}

/// The cells that say what was found.
fn said(view: &View<'_>, step: &StepInfo, comparison: &Comparison) -> [Cell; 6] {
    let reason = reason(view, comparison);
    let why = if reason.is_empty() {
        moved_with(view, step, comparison).unwrap_or_default()
    } else {
        reason
    };
    let verdict = Cell::text(comparison.verdict.word()).with_tone(tone(&comparison.verdict));
    [
        comparison.ratio.map_or_else(Cell::absent, |ratio| {
            Cell::number(ratio, format::ratio_of(comparison))
        }),
        format::interval(comparison).map_or_else(Cell::absent, Cell::text),
        Cell::number(
            f64::from(comparison.rounds),
            format::count(u64::from(comparison.rounds)),
        ),
        comparison
            .q_value
            .map_or_else(Cell::absent, |q| Cell::number(q, format::q_value(q))),
        outlying::signed(verdict, !outlying::rounds(comparison).is_empty()),
        Cell::text(why),
    ]
}

/// Why a verdict is what it is; of a control no further rounds are asked for, because its noise is the result.
pub(crate) fn reason(view: &View<'_>, comparison: &Comparison) -> String {
    let is_control = view.input.data.info.plan.is_control(&comparison.system);
    match &comparison.verdict {
        Verdict::Inconclusive(Reason::TooNoisy { .. }) if is_control => {
            "noise of a copy of the base".to_owned()
        }
        verdict => verdict.reason(),
    }
}

/// What the colour of a verdict is.
pub(crate) const fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Regressed | Verdict::Incomparable(Reason::FellToZero { .. }) => Tone::Regressed,
        Verdict::Improved => Tone::Improved,
        Verdict::Unchanged => Tone::Plain,
        Verdict::Inconclusive(_) | Verdict::Incomparable(_) => Tone::Muted,
    }
}

/// A verdict as people read it where its reason has no room.
pub(crate) const fn word(verdict: &Verdict) -> &'static str {
    if verdict.fell_to_zero() {
        format::FELL_TO_ZERO
    } else {
        verdict.word()
    }
}

/// Where what decides a step certainly changed, the costs that may explain it: the CPU, and what else changed most,
/// `server.cpu/o ×1.42, w/o ×2.06`. Costs that certainly changed the other way explain nothing.
pub(crate) fn moved_with(
    view: &View<'_>,
    step: &StepInfo,
    comparison: &Comparison,
) -> Option<String> {
    if comparison.metric != view.deciding(step) || !is_certain(&comparison.verdict) {
        return None;
    }
    let mut movers = movers(view, step, &comparison.system);
    // A cost rises where something gets worse.
    let is_worse = comparison.verdict.is_regression();
    movers.retain(|(_, ratio)| (*ratio > 1.0) == is_worse);
    let of = |id: &str| movers.iter().find(|(cost, _)| cost.metric.0 == id);
    let cpu = CPU.into_iter().find_map(of);
    let of_cpu = cpu.map_or(0.0, |(_, ratio)| ratio.ln().abs());
    let is_other = |(cost, ratio): &&(&Comparison, f64)| {
        !CPU.contains(&cost.metric.0.as_str()) && ratio.ln().abs() >= MORE_THAN_CPU * of_cpu
    };
    let told = cpu.into_iter().chain(movers.iter().find(is_other));
    let told: Vec<String> = told
        .map(|(cost, ratio)| format!("{} ×{}", cost.metric, format::ratio(*ratio)))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// The costs of a system in a step that certainly changed, with their ratios; what changed most comes first.
pub(crate) fn movers<'a>(
    view: &View<'a>,
    step: &StepInfo,
    system: &str,
) -> Vec<(&'a Comparison, f64)> {
    // Of two that changed alike, the host's says more than the server's.
    let costs = COSTS.iter().rev();
    let mut movers: Vec<(&Comparison, f64)> = costs
        .filter_map(|metric| view.comparison(system, step, metric))
        .filter(|cost| is_certain(&cost.verdict))
        .filter_map(|cost| Some((cost, usable_ratio(cost)?)))
        .collect();
    movers.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
    movers
}

/// The evidence behind the ratios that decide a step: systems × rounds; `None` without any pair.
pub(crate) fn pairs(view: &View<'_>, step: &StepInfo) -> Option<Table> {
    let evidence: Vec<&Comparison> = view
        .candidates()
        .filter_map(|s| view.decision(s.name, step))
        .collect();
    let mut rounds: Vec<u32> = evidence
        .iter()
        .flat_map(|c| c.pairs.iter().map(|(round, _)| *round))
        .collect();
    rounds.sort_unstable();
    rounds.dedup();
    if rounds.is_empty() {
        return None;
    }
    let columns = rounds
        .iter()
        .map(|r| Header::numbers(format!("round {r}"), ""));
    let rows = evidence.iter().map(|c| {
        let outlying = outlying::rounds(c);
        let values = rounds.iter().map(|round| {
            let pair = c.pairs.iter().find(|(r, _)| r == round);
            pair.map_or_else(Cell::absent, |(_, ratio)| {
                let cell = Cell::number(*ratio, format::pair(*ratio));
                outlying::signed(cell, outlying.contains(round))
            })
        });
        std::iter::once(Cell::text(c.system.clone()))
            .chain(values)
            .collect()
    });
    let has_outlying = evidence.iter().any(|c| !outlying::rounds(c).is_empty());
    Some(Table {
        title: "Ratio to the base in each round".to_owned(),
        note: if has_outlying {
            outlying::note_of_rounds()
        } else {
            String::new()
        },
        headers: std::iter::once(Header::words("system"))
            .chain(columns)
            .collect(),
        rows: rows.collect(),
    })
}
