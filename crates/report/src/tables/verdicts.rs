//! Each candidate against the base, a line a comparison.

use model::{
    Comparison, Group, Interleave, Metric, MetricId, Reason, Step, Verdict, describe, metrics,
};

use super::told_once;
use crate::findings::FOREIGN_PERCENT;
use crate::report::At;
use crate::verdict::{self, is_certain, usable_ratio};
use crate::{Cell, Columns, Header, Report, Table, format};

/// By so much, in logarithms, another cost must have changed more than the CPU to be named: others merely move along.
const MORE_THAN_CPU: f64 = 1.5;

/// What a table of verdicts shows: unless told otherwise, all steps of all systems, each in the metric that decides it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// One system, which is then named in the title; all when `None`.
    pub system: Option<String>,
    /// Every metric, or only that which decides each step.
    pub all_metrics: bool,
    /// Leave out what is unchanged or not decided.
    pub decided_only: bool,
    /// The same in the control's table, where each system has its own.
    pub control_decided_only: bool,
}

impl Shown {
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

impl<'a> Report<'a> {
    /// Each candidate against the base: the comparisons that `shown` asks for.
    pub fn verdicts(&self, shown: &Shown) -> Table {
        let (names, columns) = columns(shown);
        let (mut parts, mut told) = (Vec::new(), Vec::new());
        // Of hundreds of systems only the one that is asked for is gone through.
        for system in self.candidates().filter(|s| shown.is_of(s.name)) {
            for group in self.groups.iter() {
                let mut rows = Vec::new();
                for step in self.steps_of(group) {
                    for compared in compared(self.at(system, step), shown) {
                        let row = columns.row(&compared);
                        told.extend(told_outlying(compared.1, row.iter().take(names)));
                        rows.push(row);
                    }
                }
                // Under headings the systems would be mixed.
                let is_of_one = shown.system.is_some();
                let title = if is_of_one { group.title.clone() } else { String::new() };
                parts.push((title, rows));
            }
        }
        let mut note = format!(
            "q is the p-value adjusted for false discoveries over the steps; a change needs {} at most.",
            stats::USUAL_Q
        );
        note.push_str(of_slices(self));
        let told = note_of_outlying(shown.system.as_deref(), told);
        note.extend(told.map(|line| format!("\n{line}")));
        let title = match &shown.system {
            Some(system) => format!("{system} against {}", self.base),
            None => format!("Verdicts against {}", self.base),
        };
        Table::in_parts(title, note, columns.headers(), parts)
    }

    /// Of each candidate that has something to show; what several notes say stands below the first of them only.
    pub fn verdicts_by_system(&self, shown: &Shown) -> Vec<Table> {
        let tables = self.candidates().map(|system| {
            let of_one = Shown {
                system: Some(system.name.to_owned()),
                decided_only: shown.decided_only
                    || (system.is_control && shown.control_decided_only),
                ..shown.clone()
            };
            self.verdicts(&of_one)
        });
        told_once(tables.filter(|table| !table.rows.is_empty()).map(without_same_why))
    }

    /// Why a verdict is what it is; of a control no further rounds are asked for, because its noise is the result.
    pub(crate) fn reason(&self, comparison: &Comparison) -> String {
        let is_control = self.input.data.info.plan.is_control(&comparison.system);
        match &comparison.verdict {
            Verdict::Inconclusive(Reason::TooNoisy { .. }) if is_control => {
                "noise of a copy of the base".to_owned()
            }
            verdict => verdict.reason(),
        }
    }

    /// Where what decides a step certainly changed, the costs that may explain it: the CPU, and what else changed most,
    /// `server.cpu/o ×1.42, w/o ×2.06`. Costs that certainly changed the other way explain nothing.
    pub(crate) fn moved_with(&self, step: &Step, comparison: &Comparison) -> Option<String> {
        if comparison.metric != step.metric || !is_certain(&comparison.verdict) {
            return None;
        }
        let mut movers = self.movers(step, &comparison.system);
        // A cost rises where something gets worse.
        let is_worse = comparison.verdict.is_regression();
        movers.retain(|(_, ratio)| (*ratio > 1.0) == is_worse);
        let is_cpu = |cost: &Comparison| describe(&cost.metric).is_some_and(Metric::is_cpu);
        let cpus = movers.iter().filter(|(cost, _)| is_cpu(cost));
        // That of the server says more than that of the host.
        let place = |cost: &Comparison| metrics().position(|metric| metric.id == cost.metric.0);
        let cpu = cpus.min_by_key(|(cost, _)| place(cost));
        let of_cpu = cpu.map_or(0.0, |(_, ratio)| ratio.ln().abs());
        let is_other = |(cost, ratio): &&(&Comparison, f64)| {
            !is_cpu(cost) && ratio.ln().abs() >= MORE_THAN_CPU * of_cpu
        };
        let told = cpu.into_iter().chain(movers.iter().find(is_other));
        let told = told.map(|(cost, ratio)| format!("{} ×{}", cost.metric, format::ratio(*ratio)));
        Some(format::joined(told, ", ")).filter(|told| !told.is_empty())
    }

    /// The costs of a system in a step that certainly changed, with their ratios; what changed most comes first.
    pub(crate) fn movers(&self, step: &Step, system: &str) -> Vec<(&'a Comparison, f64)> {
        // The slower a step, the more other programs do meanwhile.
        let is_quiet = !self.is_shared(step, system) && !self.is_shared(step, self.base);
        let explains =
            |metric: &&Metric| metric.explains && (is_quiet || metric.group != Group::Host);
        let mut costs: Vec<&Metric> = metrics().filter(explains).collect();
        // Of two that changed alike, the host's says more than the server's.
        costs.reverse();
        let mut movers: Vec<(&Comparison, f64)> = costs
            .iter()
            .filter_map(|metric| self.comparison(system, step, metric.id))
            .filter(|cost| is_certain(&cost.verdict))
            .filter_map(|cost| Some((cost, usable_ratio(cost)?)))
            .collect();
        movers.sort_by(|a, b| b.1.ln().abs().total_cmp(&a.1.ln().abs()));
        movers
    }

    /// Did other programs use much of the CPUs in most rounds?
    fn is_shared(&self, step: &Step, system: &str) -> bool {
        let foreign = self.median(system, step, MetricId::FOREIGN);
        foreign.is_some_and(|percent| percent > FOREIGN_PERCENT)
    }

    /// The evidence behind the ratios that decide a step: systems × rounds; `None` without any pair.
    pub(crate) fn pairs(&self, step: &Step) -> Option<Table> {
        let evidence: Vec<&Comparison> =
            self.candidates_at(step).filter_map(At::decision).collect();
        let mut rounds: Vec<u32> =
            evidence.iter().flat_map(|c| c.pairs.iter().map(|(round, _)| *round)).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let columns = rounds.iter().map(|round| {
            let cell = move |c: &&Comparison| {
                let pair = c.pairs.iter().find(|(r, _)| r == round);
                let cell = Cell::of(pair.map(|(_, ratio)| *ratio), format::pair);
                signed_where(pair.is_some() && outlying(c).contains(round), cell)
            };
            (Header::numbers(format!("round {round}"), ""), cell)
        });
        let has_outlying = evidence.iter().any(|c| !outlying(c).is_empty());
        let note = if has_outlying { format!("{SIGN} Outlying. {PULL}") } else { String::new() };
        let table = Columns::new()
            .words("system", |c: &&Comparison| Cell::text(&c.system))
            .each(columns)
            .table("Ratio to the base in each round", note, evidence);
        (!rounds.is_empty()).then_some(table)
    }
}

/// What a ratio is of where a step was measured in slices.
fn of_slices(report: &Report<'_>) -> &'static str {
    match report.input.data.info.plan.course.interleave {
        Interleave::Trials => "",
        Interleave::Turns(_) => {
            "\nIn steps of a fixed time the ratio is the mean of pairs of neighbouring turns; absolute values are of whole windows, so their ratio may differ."
        }
        Interleave::Slices(_) => {
            "\nIn steps measured in slices the ratio is the mean of pairs of neighbouring slices; absolute values are of whole windows, so their ratio may differ."
        }
    }
}

/// For people: what is the same in each row of the last column is told in a note. Programs always find the column.
pub(crate) fn without_same_why(mut table: Table) -> Table {
    let rows = table.rows.iter().filter(|row| !Table::is_heading(row));
    let mut whys = rows.map(|row| row.last().map_or("", |cell| cell.text.as_str()));
    let why = whys.next().unwrap_or_default();
    if whys.clone().all(|other| other == why) && (why.is_empty() || whys.next().is_some()) {
        let told = format!("Why, in each row: {why}.\n");
        table.note = if why.is_empty() { table.note } else { told + &table.note };
        table.headers.pop();
        for row in &mut table.rows {
            row.pop();
        }
    }
    table
}

type Compared<'r> = (At<'r>, &'r Comparison);

fn compared<'r>(at: At<'r>, shown: &Shown) -> Vec<Compared<'r>> {
    let mut compared = if shown.all_metrics {
        at.comparisons().to_vec()
    } else {
        at.decision().into_iter().collect()
    };
    compared.retain(|c| shown.shows(&at.step.metric, c));
    compared.into_iter().map(|comparison| (at, comparison)).collect()
}

/// The columns that name a row, and how many they are; the others follow them.
fn columns<'r>(shown: &Shown) -> (usize, Columns<'r, Compared<'r>>) {
    let mut columns: Columns<'r, Compared<'r>> = Columns::new();
    if shown.system.is_none() {
        columns = columns.words("system", |(_, c)| Cell::text(&c.system));
    }
    let label = |at: &At<'r>| at.report.label(at.step);
    columns = if shown.all_metrics {
        let metric = |(_, c): &Compared<'r>| Cell::text(&c.metric.0);
        columns.words("step", move |(at, _)| Cell::text(label(at))).words("metric", metric)
    } else {
        let name = move |at: &At<'r>, c: &Comparison| verdict::beside(&label(at), &c.metric);
        columns.words("step", move |(at, c)| Cell::text(name(at, c)))
    };
    let names = columns.headers().len();
    let spared = |text: &str, spare: u8| Header::numbers(text, "").spared(spare);
    let columns = columns
        .numbers("ratio", "", |(_, c)| Cell::of(c.ratio, |_| format::ratio_of(c)))
        .column(spared("95 % interval", 1), |(_, c)| {
            format::interval(c).map_or_else(Cell::absent, Cell::text)
        })
        .column(spared("rounds", Header::FEW_MISS + 1), |(_, c)| Cell::count(c.rounds.into()))
        .column(spared("q", Header::FEW_MISS), |(_, c)| Cell::of(c.q_value, format::q_value))
        .words("verdict", |(_, c)| {
            let word = Cell::text(c.verdict.word()).with_tone(verdict::tone(&c.verdict));
            signed_where(!outlying(c).is_empty(), word)
        })
        .column(Header::words("why").spared(2), |(at, c)| {
            let reason = Some(at.report.reason(c)).filter(|reason| !reason.is_empty());
            Cell::text(reason.or_else(|| at.report.moved_with(at.step, c)).unwrap_or_default())
        });
    (names, columns)
}

/// Beside outlying rounds, which pull the ratio away from what the others say, and beside the verdicts that have any.
const SIGN: &str = "*";

const PULL: &str = "Such rounds pull the ratio away from Hodges and Lehmann's estimate by more than its standard error; none is dropped.";

/// Verdicts whose rounds a note tells; what is more is counted.
const MOST: usize = 20;

fn outlying(comparison: &Comparison) -> &[u32] {
    comparison.evidence.as_ref().map_or(&[], |evidence| evidence.outlying.as_slice())
}

fn signed_where(is_outlying: bool, cell: Cell) -> Cell {
    let tone = cell.tone;
    if is_outlying { cell.marked(tone, SIGN) } else { cell }
}

/// `rounds 3, 7 of l.i0`, where the cells that name a row say `l.i0`; `None` without such a round.
fn told_outlying<'c>(
    comparison: &Comparison,
    names: impl Iterator<Item = &'c Cell>,
) -> Option<String> {
    let rounds = outlying(comparison);
    let word = match rounds {
        [] => return None,
        [_] => "round",
        [_, _, ..] => "rounds",
    };
    let names = format::joined(names.map(|cell| &cell.text), ", ");
    Some(format!("{word} {} of {names}", format::joined(rounds, ", ")))
}

/// Names the rounds, and the system where no row of the table does; `None` without any.
fn note_of_outlying(of_one: Option<&str>, told: Vec<String>) -> Option<String> {
    let told = format::first(MOST, told, |more| format!("those of {more} more verdicts"));
    let system = of_one.map_or_else(String::new, |system| format!(" in {system}"));
    (!told.is_empty()).then(|| format!("{SIGN} Outlying{system}: {}. {PULL}", told.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_is_counted() {
        let verdicts = |count: usize| (1..=count).map(|n| format!("round 1 of s{n}")).collect();
        assert_eq!(note_of_outlying(None, verdicts(0)), None);
        let most = note_of_outlying(None, verdicts(MOST)).unwrap();
        assert!(most.starts_with("* Outlying: round 1 of s1; round 1 of s2; "));
        assert!(most.contains("; round 1 of s20. Such rounds"), "{most}");
        let more = note_of_outlying(None, verdicts(MOST + 3)).unwrap();
        assert!(more.contains("; round 1 of s20; those of 3 more verdicts. Such rounds"), "{more}");
    }
}
