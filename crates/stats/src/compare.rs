//! A run becomes comparisons: every system against the base, for each step and metric.

use std::collections::HashMap;

use model::{
    Cell, Comparison, Direction, FEWEST_ROUNDS, MetricId, Outcome, Reason, RunData, Verdict,
    describe,
};

use crate::conditions;
use crate::family::Priors;
use crate::fdr::adjust;
use crate::grid::{Grid, MetricRow, Round, is_broken, logs, of_hosts, variance_within};
use crate::looks::{Looks, p_among, tail_among};
use crate::moderate::Prior;
use crate::options::{CompareError, Options};
use crate::paired::{Estimate, Paired, ratio_of};
use crate::robust::{hodges_lehmann, outlying, quiet_error, sign_flip};
use crate::rounding::Rounding;
use crate::slices::SlicePairs;
use crate::student::{LEVEL, Quantiles};
use crate::verdict::{Drift, Evidence, Rule, higher_is_better, judge, log_margin, magnitude};

/// A round that moves the mean by less than the margin divided by this is not outlying.
const PARTS_OF_MARGIN: f64 = 4.0;

/// How far rounds may pull the mean before they are outlying: by `error`, or by the `quiet` one if that is smaller.
fn limit_of_pull(error: f64, quiet: Option<f64>, margin: f64) -> f64 {
    quiet.map_or(error, |quiet| error.min(quiet.max(margin / PARTS_OF_MARGIN)))
}

/// Compares every system of the run with the base.
///
/// The result is ordered by system as the plan lists them, then by step, then by metric as the
/// run has them. Rules, all of `docs/statistics.md`:
/// - a round is complete for a cell when both systems have a value in it; only complete rounds
///   count, and each yields one log ratio;
/// - two values of which either is zero, negative or not a number have no ratio, and the cell is
///   incomparable; so it is where their units differ. Where both are zero in every complete round (no
///   errors here, none there; no reads here, none there) nothing happened that could be compared, and
///   the cell is left out. Where more is better, and only the candidate is zero in each of as many
///   rounds as a verdict needs, it fell to zero, which is a regression without a ratio;
/// - where both systems have slices in a round, its log ratio is the mean over the middle half of the
///   pairs (of all, where these are surely another on one side). If the pairs give the larger standard
///   error, the variance is drawn towards theirs; the more rounds, the less;
/// - where three hosts or more measured the rounds, the hosts' means take the place of the rounds' log ratios,
///   and each cell has its own variance only;
/// - a run that its plan has looked at after each round is judged by those looks;
/// - the variance of a cell is steadied by those of its family: one metric, one class of steps;
/// - false discoveries are controlled over the steps of one metric for one candidate, counting
///   the cells that a verdict is due for; the metrics that decide their steps count as one. What is
///   not asked for counts with the rest of its family, and is left out of the answer.
///
/// # Errors
/// When the base, a metric or a limit of `options` makes no sense for this run.
pub fn compare(data: &RunData, options: &Options) -> Result<Vec<Comparison>, CompareError> {
    let base = options.resolve(data)?;
    let grid = Grid::of(data, options);
    let quantiles = Quantiles::default();
    let looks = options.looks.or_else(|| Looks::of(&data.info.plan));
    let question = Question {
        data,
        base,
        options,
        priors: Priors::of(&grid, data),
        rounding: Rounding::of(data),
        grid,
        rule: Rule { q_limit: options.q, looks, quantiles: &quantiles },
    };
    let candidates = data.info.plan.systems.iter().filter(|s| s.name != base);
    Ok(candidates.flat_map(|candidate| question.answer(&candidate.name)).collect())
}

struct Question<'a> {
    data: &'a RunData,
    base: &'a str,
    options: &'a Options,
    grid: Grid<'a>,
    rounding: Rounding<'a>,
    priors: Priors,
    rule: Rule<'a>,
}

/// A comparison; with its evidence where the verdict has to wait for the other steps.
struct Draft {
    is_asked: bool,
    comparison: Comparison,
    evidence: Option<Evidence>,
}

type Judged<'a> = (&'a mut Comparison, Evidence);

impl Question<'_> {
    /// The comparisons of one candidate that are asked for, judged with all of their families.
    fn answer(&self, candidate: &str) -> Vec<Comparison> {
        let differs = conditions::of_systems((self.data, self.base), (self.data, candidate));
        let rows = self.grid.rows.values();
        let mut drafts: Vec<Draft> =
            rows.filter_map(|row| self.draft(row, candidate, differs.as_ref())).collect();
        let mut families: HashMap<Option<MetricId>, Vec<Judged<'_>>> = HashMap::new();
        for Draft { comparison, evidence, .. } in &mut drafts {
            if let Some(evidence) = *evidence {
                let steps = &self.grid.steps;
                let decides = steps.decides(comparison.ordinal, &comparison.metric);
                let family = (!decides).then(|| comparison.metric.clone());
                families.entry(family).or_default().push((comparison, evidence));
            }
        }
        for family in families.into_values() {
            judge_family(family, &self.rule);
        }
        drafts.into_iter().filter(|draft| draft.is_asked).map(|draft| draft.comparison).collect()
    }

    /// `None` where there is nothing to compare: neither side has the metric, or both are zero.
    fn draft(
        &self,
        row: &MetricRow<'_>,
        candidate: &str,
        differs: Option<&Reason>,
    ) -> Option<Draft> {
        let base = self.base;
        if !row.has(base) && !row.has(candidate) {
            return None;
        }
        let rounds = row.complete_rounds(base, candidate);
        let is_nothing = |round: &Round| round.base == 0.0 && round.candidate == 0.0;
        if !rounds.is_empty() && rounds.iter().all(is_nothing) {
            return None;
        }
        let mut comparison = blank(row.first, base, candidate, rounds.len() as u32);
        let mut evidence = None;
        if let Some(reason) = differs {
            comparison.verdict = Verdict::Incomparable(reason.clone());
        } else if rounds.is_empty() {
            let missing = if row.has(base) { candidate } else { base };
            comparison.verdict = Verdict::Incomparable(self.why_missing(missing, row.has(missing)));
        } else if let Some([of_base, of_candidate]) = row.different_units(base, candidate) {
            comparison.verdict = Verdict::Incomparable(Reason::Different {
                what: "unit".to_owned(),
                base: of_base,
                candidate: of_candidate,
            });
        } else if let Some(logs) = logs(&rounds) {
            if rule(&comparison.metric).0 == Direction::Neither {
                comparison.verdict = Verdict::Inconclusive(Reason::NotJudged);
            }
            let prior = self.priors.of_cell(row, &rounds, self.data);
            evidence = self.measure_change(&mut comparison, &rounds, &logs, prior.as_ref());
        } else {
            comparison.verdict = Verdict::Incomparable(without_ratio(&comparison, &rounds));
        }
        Some(Draft { is_asked: row.is_asked, comparison, evidence })
    }

    /// Why a system has no value in any complete round; whether it has one in another.
    fn why_missing(&self, system: &str, has_values: bool) -> Reason {
        let of_system = || self.data.trials.iter().filter(move |trial| trial.system == system);
        let failed = of_system().find_map(|trial| match &trial.outcome {
            Outcome::Failed { reason, .. } => Some(reason.clone()),
            Outcome::Completed | Outcome::Profiled | Outcome::Quarantined { .. } => None,
        });
        let counts_disturbed = self.data.counts_disturbed();
        let mut excluded = of_system().filter(|trial| !trial.outcome.counts(counts_disturbed));
        let quarantined = excluded.find_map(|trial| trial.outcome.quarantined_for());
        let is_measured = self.data.counted().any(|trial| trial.system == system);
        let system = system.to_owned();
        match (failed, quarantined) {
            _ if is_measured && !has_values => Reason::NoValue { system },
            (Some(why), _) => Reason::FailedTrials { system, why },
            (None, Some(why)) => {
                let why = why.to_owned();
                Reason::QuarantinedTrials { system, why }
            }
            (None, None) => Reason::MissingTrials { system },
        }
    }

    /// Fills in ratio, interval and evidence; returns the evidence if a verdict is due.
    fn measure_change(
        &self,
        comparison: &mut Comparison,
        rounds: &[Round],
        logs: &[f64],
        prior: Option<&Prior>,
    ) -> Option<Evidence> {
        let means = of_hosts(rounds, logs);
        // A host favours a system in many steps at once: these tell nothing of how far hosts differ.
        let prior = prior.filter(|_| means.is_none());
        let independent = means.as_deref().unwrap_or(logs);
        let paired = Paired::of(independent)?;
        comparison.ratio = Some(paired.ratio());
        let numbers = rounds.iter().map(|round| round.number);
        let by_round: Vec<(u32, f64)> = numbers.zip(logs.iter().copied()).collect();
        let pairs = by_round.iter().map(|(round, log)| (*round, ratio_of(*log)));
        comparison.pairs = pairs.collect();
        let (direction, usual) = rule(&comparison.metric);
        let margin = self.options.margin(&comparison.metric, usual);
        let slices = slice_pairs(rounds);
        let estimate = Estimate::of(paired, prior)?
            .with_pairs(slices.map_or(0.0, |slices| slices.error))
            .with_rounding(self.rounding.error(&comparison.metric, rounds));
        let Rule { looks, quantiles, .. } = self.rule;
        let interval = estimate.interval(tail_among(looks, paired.rounds, LEVEL), quantiles);
        comparison.low = interval.map(|(low, _)| ratio_of(low));
        comparison.high = interval.map(|(_, high)| ratio_of(high));
        let p_value = estimate.p_value();
        let centre = hodges_lehmann(independent)?;
        // Rounds of several hosts are not independent of each other.
        let quiet = means.is_none().then(|| quiet_error(logs, centre)).flatten();
        let outlying = outlying(&by_round, centre, limit_of_pull(estimate.error(), quiet, margin));
        comparison.evidence = Some(model::Evidence {
            sd: estimate.of_round(comparison.rounds, estimate.sd),
            sd_of_rounds: estimate.of_round(comparison.rounds, estimate.spread.rounds),
            df: estimate.df(),
            prior_df: estimate.prior_df,
            margin,
            p_value,
            sign_flip: sign_flip(independent),
            centre: ratio_of(centre),
            outlying,
            slice_pairs: slices.map(|slices| slices.effective),
            within: variance_within(rounds),
        });
        let higher_is_better = higher_is_better(direction)?;
        let whole: Vec<f64> = rounds.iter().map(Round::log_of_windows).collect();
        let whole = Paired::of(&of_hosts(rounds, &whole).unwrap_or(whole))?.mean;
        let drifts: Option<Vec<f64>> = rounds.iter().map(|round| round.drift).collect();
        (paired.rounds >= FEWEST_ROUNDS).then(|| Evidence {
            estimate,
            rounds: comparison.rounds,
            interval,
            whole,
            drift: drifts.and_then(|drifts| Drift::of(&drifts)),
            higher_is_better,
            margin: log_margin(margin),
            p: p_among(looks, paired.rounds, p_value),
        })
    }
}

/// The precision of the slice pairs of all rounds; `None` if a round has none.
fn slice_pairs(rounds: &[Round]) -> Option<SlicePairs> {
    let of_round = |round: &Round| (!round.slices.is_empty()).then(|| round.slices.clone());
    SlicePairs::of(&rounds.iter().map(of_round).collect::<Option<Vec<_>>>()?)
}

/// Gives their verdicts to the steps of one metric, or to all steps in the metrics that decide them.
fn judge_family(family: Vec<Judged<'_>>, rule: &Rule<'_>) {
    let p_values: Vec<f64> = family.iter().map(|(_, evidence)| evidence.p).collect();
    for ((comparison, evidence), q_value) in family.into_iter().zip(adjust(&p_values)) {
        let verdict = judge(&evidence, q_value, rule);
        let changed = matches!(verdict, Verdict::Regressed | Verdict::Improved);
        comparison.q_value = Some(q_value);
        comparison.magnitude = changed.then(|| magnitude(evidence.estimate.paired.mean));
        comparison.verdict = verdict;
    }
}

fn without_ratio(comparison: &Comparison, rounds: &[Round]) -> Reason {
    if fell_to_zero(&comparison.metric, rounds) {
        return Reason::FellToZero { rounds: comparison.rounds };
    }
    let of_base = rounds.iter().find_map(|round| {
        let is_broken = [round.base, round.candidate].map(is_broken);
        is_broken.contains(&true).then_some(is_broken[0])
    });
    let broken = if of_base == Some(true) { &comparison.base } else { &comparison.system };
    Reason::NoRatio { system: broken.clone() }
}

/// Has the candidate fallen to zero in as many rounds as a verdict needs, where more is better?
fn fell_to_zero(metric: &MetricId, rounds: &[Round]) -> bool {
    let falls = |round: &Round| !is_broken(round.base) && round.candidate == 0.0;
    rounds.len() >= FEWEST_ROUNDS as usize
        && rule(metric).0 == Direction::Higher
        && rounds.iter().all(falls)
}

/// Its better direction and its margin. A metric that no table describes is not judged.
fn rule(metric: &MetricId) -> (Direction, f64) {
    describe(metric).map_or((Direction::Neither, 0.0), |is| (is.direction, is.margin))
}

/// A comparison of the cells like this one that says nothing yet.
fn blank(cell: &Cell, base: &str, candidate: &str, rounds: u32) -> Comparison {
    Comparison {
        step: cell.step.clone(),
        ordinal: cell.ordinal,
        clients: cell.clients,
        metric: cell.metric.clone(),
        unit: cell.unit,
        base: base.to_owned(),
        system: candidate.to_owned(),
        ratio: None,
        low: None,
        high: None,
        rounds,
        pairs: Vec::new(),
        q_value: None,
        verdict: Verdict::Inconclusive(Reason::TooFewRounds { have: rounds, need: FEWEST_ROUNDS }),
        magnitude: None,
        evidence: None,
    }
}

#[cfg(test)]
mod tests;
