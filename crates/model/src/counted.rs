//! Which trials count.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Outcome, Plan, RunData, RunInfo, RunState, TrialRecord};

/// Rounds below which no verdict is given: two agree by chance too easily.
pub const FEWEST_ROUNDS: u32 = 3;

/// Do disturbed trials of a finished run count like completed ones? They do if some system shares fewer undisturbed
/// rounds with the base than a verdict needs and were planned, and they would add rounds. The control does not count.
pub fn counts_disturbed<'a>(
    plan: &Plan,
    outcomes: impl IntoIterator<Item = (u32, &'a str, &'a Outcome)>,
) -> bool {
    let judged = outcomes.into_iter().filter(|(_, system, _)| !plan.is_control(system));
    let own = (1..=plan.rounds).filter(|round| plan.owns(*round)).count() as u32;
    lacks_quiet(&plan.base, FEWEST_ROUNDS.min(own / plan.cycle()), judged)
}

/// Does some system share fewer than `fewest` quiet rounds with the base, and would disturbed trials add rounds?
fn lacks_quiet<'a>(
    base: &str,
    fewest: u32,
    outcomes: impl IntoIterator<Item = (u32, &'a str, &'a Outcome)>,
) -> bool {
    let mut rounds: BTreeMap<&str, Rounds> = BTreeMap::new();
    for (round, system, outcome) in outcomes {
        let of_system = rounds.entry(system).or_default();
        if outcome.is_quarantined() {
            of_system.disturbed.insert(round);
        } else if outcome.is_completed() {
            of_system.quiet.insert(round);
        }
    }
    let Some(of_base) = rounds.get(base) else { return false };
    let is_alone = rounds.len() == 1;
    rounds.iter().filter(|(system, _)| is_alone || **system != base).any(|(_, of_system)| {
        let quiet = of_system.quiet.intersection(&of_base.quiet).count();
        quiet < fewest as usize && of_system.ended().intersection(&of_base.ended()).count() > quiet
    })
}

/// The rounds in which a system did all that was planned.
#[derive(Default)]
struct Rounds {
    quiet: BTreeSet<u32>,
    disturbed: BTreeSet<u32>,
}

impl Rounds {
    fn ended(&self) -> BTreeSet<u32> {
        self.quiet.union(&self.disturbed).copied().collect()
    }
}

impl RunInfo {
    /// Do trials that were disturbed count? Not before the run is finished: their rounds may run again.
    pub fn counts_disturbed(&self, trials: &[TrialRecord]) -> bool {
        let outcomes = trials.iter().map(|one| (one.round, one.system.as_str(), &one.outcome));
        self.was_finished() && counts_disturbed(&self.plan, outcomes)
    }

    /// Is nothing left that will be judged?
    pub fn was_finished(&self) -> bool {
        // Rounds are added only to finished runs.
        self.state == RunState::Finished || !self.plan.course.added.is_empty()
    }
}

impl RunData {
    pub fn counts_disturbed(&self) -> bool {
        self.info.counts_disturbed(&self.trials)
    }

    pub fn counted(&self) -> impl Iterator<Item = &TrialRecord> + Clone {
        let counts_disturbed = self.counts_disturbed();
        let trials = self.trials.iter();
        trials.filter(move |trial| trial.outcome.counts(counts_disturbed))
    }
}

impl Outcome {
    pub const fn counts(&self, disturbed: bool) -> bool {
        self.is_completed() || disturbed && self.is_quarantined()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How base and candidate ended in each round: `q` quarantined, `f` failed.
    fn counts(fewest: u32, ended: &[(&str, &str)]) -> bool {
        let outcome = |letter: &str| match letter {
            "q" => Outcome::Quarantined { reason: String::new() },
            "f" => Outcome::Failed { step: None, reason: String::new(), log_tail: Vec::new() },
            _ => Outcome::Completed,
        };
        let ended = (1..).zip(ended);
        let ended: Vec<(u32, &str, Outcome)> = ended
            .flat_map(|(round, (base, candidate))| {
                [(round, "base", outcome(base)), (round, "candidate", outcome(candidate))]
            })
            .collect();
        let outcomes = ended.iter().map(|(round, system, outcome)| (*round, *system, outcome));
        lacks_quiet("base", fewest, outcomes)
    }

    #[test]
    fn disturbed_trials_count_where_fewer_than_three_rounds_were_quiet() {
        let quiet = ("c", "c");
        assert!(!counts(3, &[quiet, quiet, quiet, ("q", "c")]));
        assert!(counts(3, &[quiet, quiet, ("c", "q"), ("q", "c")]));
        assert!(counts(3, &[("q", "q")]));
        assert!(!counts(3, &[quiet, quiet]));
    }

    #[test]
    fn a_plan_of_fewer_rounds_needs_no_more() {
        assert!(!counts(1, &[("c", "c"), ("q", "q")]));
        assert!(counts(1, &[("q", "c")]));
    }

    #[test]
    fn where_the_other_system_failed_nothing_is_gained() {
        assert!(!counts(3, &[("q", "f"), ("f", "q"), ("c", "f")]));
    }
}
