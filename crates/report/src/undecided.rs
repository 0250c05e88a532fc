//! What is known of steps that are not decided: an interval excludes much, and a cost may be certain.

use std::collections::BTreeMap;

use model::{Comparison, Interleave, Metric, Nanos, Reason, Verdict, describe};

use crate::format;
use crate::verdict::usable_ratio;
use crate::{Report, deciding};

/// Losses beyond this are told in no sentence: to exclude them says nothing.
const LARGEST_LOSS: u32 = 50;

impl Report<'_> {
    /// `, ratios 0.95–1.08; a loss of more than 6 % is ruled out in 7; about 6 more rounds (25m00s) would decide 5`.
    pub(crate) fn undecided(&self, list: &[&Comparison]) -> Option<String> {
        let known = [ratios(list), excluded(list), self.more_rounds(list), self.certain_cost(list)];
        let known: Vec<String> = known.into_iter().flatten().collect();
        (!known.is_empty()).then(|| format!(", {}", known.join("; ")))
    }

    /// The fewest further rounds that would decide half of the steps that rounds decide.
    fn more_rounds(&self, list: &[&Comparison]) -> Option<String> {
        let mut needed: Vec<u32> = list.iter().filter_map(|c| more_rounds(c)).collect();
        needed.sort_unstable();
        let most = *needed.get(needed.len().checked_sub(1)? / 2)?;
        let decided = needed.iter().filter(|rounds| **rounds <= most).count();
        let of_all = match (decided, list.len()) {
            (1, 1) => "it".to_owned(),
            (decided, all) if decided == all => "all of them".to_owned(),
            (decided, _) => decided.to_string(),
        };
        let time = Nanos(self.round_time().0 * u64::from(most));
        let rounds = format::plural(most as usize, "more round");
        Some(format!("about {rounds} ({time}) would decide {of_all}"))
    }

    /// How long a round took, in the mean. Trials that alternate run at the same time.
    fn round_time(&self) -> Nanos {
        let mut rounds: BTreeMap<u32, u64> = BTreeMap::new();
        for trial in &self.input.data.trials {
            let took = rounds.entry(trial.round).or_default();
            *took = match self.input.data.info.plan.course.interleave {
                Interleave::Trials => *took + trial.duration.0,
                Interleave::Slices(_) | Interleave::Turns(_) => trial.duration.0.max(*took),
            };
        }
        Nanos(rounds.values().sum::<u64>() / (rounds.len() as u64).max(1))
    }

    /// The CPU of an operation that changed most for certain, in a step whose rate is not decided.
    fn certain_cost(&self, list: &[&Comparison]) -> Option<String> {
        let costs = list.iter().flat_map(|comparison| {
            let step = self.step_of(comparison);
            step.map(|step| self.movers(step, &comparison.system)).unwrap_or_default()
        });
        let is_cpu = |cost: &Comparison| describe(&cost.metric).is_some_and(Metric::is_cpu);
        let of_cpu = costs.filter(|(cost, _)| is_cpu(cost));
        let (cost, ratio) = of_cpu.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs()))?;
        let moved = if ratio > 1.0 { "rose" } else { "fell" };
        let (told, step) = (format::ratio_and_interval(cost), self.label_of(cost));
        Some(format!("{} certainly {moved}: {told} in {step}", cost.metric))
    }
}

fn more_rounds(comparison: &Comparison) -> Option<u32> {
    match comparison.verdict {
        Verdict::Inconclusive(Reason::TooNoisy { more_rounds }) => more_rounds,
        _ => None,
    }
}

/// `ratios 0.95–1.08`; of one step with its interval.
fn ratios(list: &[&Comparison]) -> Option<String> {
    if let [one] = list {
        let name = deciding::beside(&one.step.0, &one.metric);
        return usable_ratio(one).map(|_| format!("{name}: {}", format::ratio_and_interval(one)));
    }
    let ratios = || list.iter().filter_map(|c| usable_ratio(c));
    let [low, high] = [ratios().reduce(f64::min)?, ratios().reduce(f64::max)?];
    Some(format!("ratios {}–{}", format::ratio(low), format::ratio(high)))
}

/// The smallest loss, in whole per cent, that the intervals of two steps in three exclude.
fn excluded(list: &[&Comparison]) -> Option<String> {
    let mut losses: Vec<u32> = list.iter().filter_map(|c| largest_loss(c)).collect();
    losses.sort_unstable();
    let of_most = *losses.get((2 * list.len()).div_ceil(3).checked_sub(1)?)?;
    if list.len() == 1 || of_most > LARGEST_LOSS {
        return None;
    }
    let excluding = losses.iter().filter(|loss| **loss <= of_most).count();
    let of_all = if excluding == list.len() { "all".to_owned() } else { excluding.to_string() };
    Some(format!("a loss of more than {of_most} % is ruled out in {of_all}"))
}

/// The loss at the worse end of the interval, in per cent, rounded up; 0 where that end is no loss.
fn largest_loss(comparison: &Comparison) -> Option<u32> {
    let ends = [comparison.low?, comparison.high?];
    let gains = ends.map(|ratio| deciding::gain_of(&comparison.metric, ratio));
    let worst = gains[0].min(gains[1]);
    (worst.is_finite() && worst > 0.0).then(|| (100.0 * (1.0 - worst)).max(0.0).ceil() as u32)
}
