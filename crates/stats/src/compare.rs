//! A run becomes comparisons: every system against the base, for each step and metric.

use std::collections::{BTreeMap, HashMap};

use model::{Cell, Comparison, Direction, MetricId, Reason, RunData, StepId, Verdict, describe};

use crate::fdr::adjust;
use crate::options::{CompareError, Options};
use crate::paired::Paired;
use crate::selected::Steps;
use crate::verdict::{
    CONFIDENCE, Evidence, FEWEST_ROUNDS, higher_is_better, judge, log_margin, magnitude,
};

/// Compares every system of the run with the base.
///
/// The result is ordered by system as the plan lists them, then by step, then by metric as the
/// run has them. Rules, all of `docs/methodology.md`:
/// - a round is complete for a cell when both systems have a value in it; only complete rounds
///   count, and each yields one log ratio;
/// - two values of which either is zero, negative or not a number have no ratio, and the cell is
///   incomparable. Where both are zero in every complete round (no errors here, none there; no
///   reads here, none there) nothing happened that could be compared, and the cell is left out;
/// - false discoveries are controlled over the steps of one metric for one candidate, counting
///   the cells that a verdict is due for; the metrics that decide their steps count as one.
///
/// # Errors
/// When the base, a metric or a limit of `options` makes no sense for this run.
pub fn compare(data: &RunData, options: &Options) -> Result<Vec<Comparison>, CompareError> {
    let base = options.resolve(data)?;
    let grid = Grid::of(data, options);
    let candidates = data.info.plan.systems.iter().filter(|s| s.name != base);
    Ok(candidates
        .flat_map(|candidate| against_base(&grid, base, &candidate.name, options))
        .collect())
}

fn against_base(
    grid: &Grid<'_>,
    base: &str,
    candidate: &str,
    options: &Options,
) -> Vec<Comparison> {
    let mut drafts: Vec<Draft> = grid
        .rows
        .values()
        .filter_map(|row| draft(row, base, candidate, options))
        .collect();
    let mut families: HashMap<Option<MetricId>, Vec<Judged<'_>>> = HashMap::new();
    for Draft {
        comparison,
        evidence,
    } in &mut drafts
    {
        if let Some(evidence) = *evidence {
            let decides = grid.steps.decides(comparison.ordinal, &comparison.metric);
            let family = (!decides).then(|| comparison.metric.clone());
            let family = families.entry(family).or_default();
            family.push((comparison, evidence));
        }
    }
    for family in families.into_values() {
        judge_family(family, options.q);
    }
    drafts.into_iter().map(|draft| draft.comparison).collect()
}

/// A comparison that a verdict is due for, and what it is judged by.
type Judged<'a> = (&'a mut Comparison, Evidence);

/// Gives their verdicts to the steps of one metric, or to all steps in the metrics that decide them.
fn judge_family(family: Vec<Judged<'_>>, q_limit: f64) {
    let p_values: Vec<f64> = family.iter().map(|(_, evidence)| evidence.p).collect();
    for ((comparison, evidence), q_value) in family.into_iter().zip(adjust(&p_values)) {
        let verdict = judge(&evidence, q_value, q_limit);
        let changed = matches!(verdict, Verdict::Regressed | Verdict::Improved);
        comparison.q_value = Some(q_value);
        comparison.magnitude = changed.then(|| magnitude(&evidence.paired));
        comparison.verdict = verdict;
    }
}

/// A comparison; with its evidence where the verdict has to wait for the other steps.
struct Draft {
    comparison: Comparison,
    evidence: Option<Evidence>,
}

/// `None` where there is nothing to compare: neither side has the metric, or both are zero.
fn draft(row: &Row<'_>, base: &str, candidate: &str, options: &Options) -> Option<Draft> {
    let of = |system: &str| row.values.get(system);
    let (of_base, of_candidate) = (of(base), of(candidate));
    if of_base.is_none() && of_candidate.is_none() {
        return None;
    }
    let pairs = complete_rounds(of_base, of_candidate);
    if !pairs.is_empty() && pairs.iter().all(|(_, b, c)| *b == 0.0 && *c == 0.0) {
        return None;
    }
    let mut comparison = row.blank(base, candidate, pairs.len() as u32);
    let mut evidence = None;
    let broken = |value: f64| !(value.is_finite() && value > 0.0);
    comparison.verdict = if pairs.is_empty() {
        let missing = if of_base.is_none() { base } else { candidate };
        Verdict::Incomparable(Reason::MissingTrials {
            system: missing.to_owned(),
        })
    } else if let Some((_, b, _)) = pairs.iter().find(|(_, b, c)| broken(*b) || broken(*c)) {
        let zero = if broken(*b) { base } else { candidate };
        Verdict::Incomparable(Reason::NoRatio {
            system: zero.to_owned(),
        })
    } else {
        evidence = measure_change(&mut comparison, &pairs, options);
        without_family(&comparison)
    };
    Some(Draft {
        comparison,
        evidence,
    })
}

/// Fills in ratio and interval; yields the evidence where a verdict is due.
fn measure_change(
    comparison: &mut Comparison,
    pairs: &[(u32, f64, f64)],
    options: &Options,
) -> Option<Evidence> {
    let logs: Vec<f64> = pairs.iter().map(|(_, b, c)| c.ln() - b.ln()).collect();
    let paired = Paired::of(&logs)?;
    let interval = paired.interval(CONFIDENCE);
    comparison.ratio = Some(paired.ratio());
    comparison.low = interval.map(|(low, _)| low.exp());
    comparison.high = interval.map(|(_, high)| high.exp());
    comparison.pairs = pairs
        .iter()
        .zip(&logs)
        .map(|((round, _, _), log)| (*round, log.exp()))
        .collect();
    let (direction, margin) = rule(&comparison.metric);
    let higher_is_better = higher_is_better(direction)?;
    if paired.rounds < FEWEST_ROUNDS {
        return None;
    }
    Some(Evidence {
        paired,
        higher_is_better,
        margin: log_margin(options.min_effect.unwrap_or(margin)),
        p: paired.p_value()?,
    })
}

/// The verdict of a cell with a ratio, as far as it does not depend on the other steps.
fn without_family(comparison: &Comparison) -> Verdict {
    Verdict::Inconclusive(match rule(&comparison.metric).0 {
        Direction::Neither => Reason::NotJudged,
        Direction::Higher | Direction::Lower => Reason::TooFewRounds {
            have: comparison.rounds,
            need: FEWEST_ROUNDS,
        },
    })
}

/// Which direction of a metric is better, and its margin. A metric that no table describes is
/// shown and not judged: nobody said which way is better.
fn rule(metric: &MetricId) -> (Direction, f64) {
    describe(metric).map_or((Direction::Neither, 0.0), |is| (is.direction, is.margin))
}

/// The rounds in which both have a value: (round, base, candidate), by round.
fn complete_rounds(
    base: Option<&BTreeMap<u32, f64>>,
    candidate: Option<&BTreeMap<u32, f64>>,
) -> Vec<(u32, f64, f64)> {
    let (Some(base), Some(candidate)) = (base, candidate) else {
        return Vec::new();
    };
    base.iter()
        .filter_map(|(round, b)| Some((*round, *b, *candidate.get(round)?)))
        .collect()
}

/// All values of the run, by step and metric.
struct Grid<'a> {
    steps: Steps<'a>,
    /// Ordered by step, then by the place at which the run first has the metric.
    rows: BTreeMap<(u32, &'a StepId, usize), Row<'a>>,
}

/// All values of one step and metric.
struct Row<'a> {
    first: &'a Cell,
    /// By system, then by round.
    values: HashMap<&'a str, BTreeMap<u32, f64>>,
}

impl<'a> Grid<'a> {
    fn of(data: &'a RunData, options: &Options) -> Self {
        let mut places: HashMap<&MetricId, usize> = HashMap::new();
        let mut rows: BTreeMap<(u32, &StepId, usize), Row<'a>> = BTreeMap::new();
        let steps = Steps::of(data);
        let selected = |cell: &&Cell| steps.selects(&options.metrics, cell);
        for cell in data.cells.iter().filter(selected) {
            let next = places.len();
            let place = *places.entry(&cell.metric).or_insert(next);
            let row = rows.entry((cell.ordinal, &cell.step, place));
            let row = row.or_insert_with(|| Row {
                first: cell,
                values: HashMap::new(),
            });
            let rounds = row.values.entry(&cell.system).or_default();
            rounds.insert(cell.round, cell.value);
        }
        Self { steps, rows }
    }
}

impl Row<'_> {
    /// A comparison that says nothing yet.
    fn blank(&self, base: &str, candidate: &str, rounds: u32) -> Comparison {
        let Cell {
            step,
            ordinal,
            clients,
            metric,
            unit,
            ..
        } = self.first;
        Comparison {
            step: step.clone(),
            ordinal: *ordinal,
            clients: *clients,
            metric: metric.clone(),
            unit: *unit,
            base: base.to_owned(),
            system: candidate.to_owned(),
            ratio: None,
            low: None,
            high: None,
            rounds,
            pairs: Vec::new(),
            q_value: None,
            verdict: Verdict::Inconclusive(Reason::TooFewRounds {
                have: rounds,
                need: FEWEST_ROUNDS,
            }),
            magnitude: None,
        }
    }
}

#[cfg(test)]
mod tests;
