//! The rounds of a run: the next one, repeated ones, and when the run may end.
//!
//! All of it follows from the plan, the journal and the results, so that a run that was interrupted goes on as it
//! would have gone on.

use std::collections::{BTreeMap, BTreeSet};

use model::{Event, Interleave, Outcome, Plan, StepId, System, Trial, TrialKey};
use stats::{Looks, Next, Options, Selection};

use super::trial::{Conductor, Due, Halt};
use crate::judging;

/// Trials that a system may fail at the same place from its first one on, until it is given up: it is not chance.
const ATTEMPTS: u32 = 2;

pub(super) struct Rounds<'a> {
    plan: &'a Plan,
    begun: BTreeMap<u32, Begun>,
    starts: BTreeMap<String, Start>,
    pub(super) failed: u32,
}

/// How often the trials of a system failed from its first one on, all in this step; `None` once one did not.
type Start = Option<(Option<StepId>, u32)>;

#[derive(Debug, Default)]
struct Begun {
    systems: BTreeSet<String>,
    is_disturbed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    round: u32,
    /// Where it is none of the planned ones.
    again: Option<Again>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Again {
    disturbed: u32,
    /// How often it has been run again, this time counted.
    times: u32,
    most: u32,
}

impl<'a> Rounds<'a> {
    pub(super) fn of(plan: &'a Plan, journal: &[(TrialKey, Outcome)]) -> Self {
        let mut rounds = Self { plan, begun: BTreeMap::new(), starts: BTreeMap::new(), failed: 0 };
        for (key, outcome) in journal {
            rounds.note(key, outcome);
        }
        rounds
    }

    /// The same where a run begins or is resumed: every system is tried again, because its trouble may be mended.
    pub(super) fn resumed(mut self) -> Self {
        self.starts.clear();
        self
    }

    fn note(&mut self, key: &TrialKey, outcome: &Outcome) {
        let round = self.begun.entry(key.round).or_default();
        round.systems.insert(key.system.clone());
        round.is_disturbed |= outcome.is_quarantined();
        self.failed += u32::from(outcome.is_failed());
        let failed = if let Outcome::Failed { step, .. } = outcome { Some(step) } else { None };
        match self.starts.get_mut(&key.system) {
            None => {
                let start = failed.map(|step| (step.clone(), 1));
                self.starts.insert(key.system.clone(), start);
            }
            Some(Some((step, times))) if failed == Some(step) => *times += 1,
            // Once given up is given up for good.
            Some(Some((_, ATTEMPTS..))) => {}
            Some(start) => *start = None,
        }
    }

    /// The systems that may still have trials, in the order of these.
    pub(super) fn systems_left(&self) -> Vec<usize> {
        let planned = self.plan.judged_rounds().chain(self.plan.profiled_rounds());
        let planned = planned.flat_map(|round| self.left_of(round));
        // The whole of it, because it may be disturbed and run once more.
        let again = self.next_again();
        let again = again.map(|turn| self.plan.trials_of(turn.round));
        let mut left = Vec::new();
        for trial in planned.chain(again.into_iter().flatten()) {
            if !left.contains(&trial.system) {
                left.push(trial.system);
            }
        }
        left
    }

    /// Where the first trials of a system all failed, where it is given up.
    fn given_up(&self, system: &str) -> Option<&Option<StepId>> {
        let (step, times) = self.starts.get(system)?.as_ref()?;
        (*times >= ATTEMPTS).then_some(step)
    }

    /// Can nothing come of further rounds, because the base is given up or all that it is compared with?
    fn is_pointless(&self) -> bool {
        let is_given_up = |system: &System| self.given_up(&system.name).is_some();
        let systems = self.plan.systems.iter();
        let mut judged = systems.filter(|s| !s.control && s.name != self.plan.base);
        let first = judged.next();
        self.given_up(&self.plan.base).is_some()
            || first.is_some_and(|first| is_given_up(first) && judged.all(is_given_up))
    }

    /// The first unfinished planned round; after these a repeated one.
    fn next(&self) -> Option<Turn> {
        if self.is_pointless() {
            return None;
        }
        let mut planned = self.plan.judged_rounds();
        match planned.find(|round| !self.is_finished(*round)) {
            Some(round) => Some(Turn { round, again: None }),
            None => self.next_again(),
        }
    }

    /// The repeats after the planned rounds: for each disturbed one, until one was not or there were as many as may be.
    fn next_again(&self) -> Option<Turn> {
        let most = self.plan.course.reruns();
        let mut round = self.plan.last_planned_round();
        for disturbed in self.plan.judged_rounds().filter(|round| self.is_disturbed(*round)) {
            for times in 1..=most {
                round += 1;
                let systems = self.plan.systems_of(disturbed);
                while self.plan.systems_of(round) != systems || !self.plan.owns(round) {
                    round += 1;
                }
                let again = Again { disturbed, times, most };
                if !self.is_finished(round) {
                    return Some(Turn { round, again: Some(again) });
                }
                if !self.is_disturbed(round) {
                    break;
                }
            }
        }
        None
    }

    /// The first unfinished round of those that are profiled, after all that are judged.
    fn next_profiled(&self) -> Option<u32> {
        let mut rounds = self.plan.profiled_rounds();
        rounds.find(|round| !self.is_finished(*round)).filter(|_| !self.is_pointless())
    }

    /// The looks of the plan and the rounds there are to look at: those that each system has which is not given
    /// up. Between two rounds only, so that half a round decides nothing; and not after one that was disturbed, which
    /// says no more than was known before.
    fn to_look_at(&self) -> Option<(Looks, u32)> {
        let looks = Looks::of(self.plan).filter(|_| !self.plan.judged_rounds().is_empty())?;
        let judged = self.begun.iter().filter(|(round, _)| !self.plan.is_profiled(**round));
        let (last, begun) = judged.clone().next_back()?;
        let whole =
            judged.filter(|(round, begun)| self.is_finished(**round) && !begun.is_disturbed);
        let whole: Vec<Vec<usize>> = whole.map(|(round, _)| self.plan.systems_of(*round)).collect();
        let systems = self.plan.systems.iter().enumerate();
        let compared = systems.filter(|(_, system)| {
            system.name != self.plan.base && self.given_up(&system.name).is_none()
        });
        let of_each =
            compared.map(|(place, _)| whole.iter().filter(|round| round.contains(&place)).count());
        let rounds = of_each.min()? as u32;
        let is_new = self.is_finished(*last) && !begun.is_disturbed;
        (is_new && rounds >= looks.min()).then_some((looks, rounds))
    }

    fn left_of(&self, round: u32) -> Vec<Trial> {
        let trials = self.plan.trials_of(round).into_iter();
        trials.filter(|trial| !self.is_done(trial)).collect()
    }

    /// Has the trial an outcome, or will it never have one?
    fn is_done(&self, trial: &Trial) -> bool {
        let system = self.plan.systems.get(trial.system);
        system.is_some_and(|system| self.is_settled(trial.round, system))
    }

    fn is_settled(&self, round: u32, system: &System) -> bool {
        let begun = self.begun.get(&round);
        begun.is_some_and(|begun| begun.systems.contains(&system.name))
            || self.given_up(&system.name).is_some()
    }

    fn is_begun(&self, round: u32) -> bool {
        self.begun.contains_key(&round)
    }

    fn is_finished(&self, round: u32) -> bool {
        let systems = self.plan.systems_of(round).into_iter();
        let mut systems = systems.filter_map(|place| self.plan.systems.get(place));
        // Without the other system the base has nothing to do.
        let is_alone = self.plan.course.pairs
            && systems.clone().any(|system| self.given_up(&system.name).is_some());
        let is_settled = |system: &System| self.is_settled(round, system);
        is_alone || self.is_begun(round) && systems.all(is_settled)
    }

    fn is_disturbed(&self, round: u32) -> bool {
        self.begun.get(&round).is_some_and(|begun| begun.is_disturbed)
    }
}

impl Conductor<'_> {
    pub(super) fn rounds(&mut self, rounds: &mut Rounds<'_>) -> Result<(), Halt> {
        loop {
            let next = rounds.next();
            let goes_on = self.look(rounds, next.is_some())?;
            let Some(turn) = next.filter(|_| goes_on) else { break };
            if let Some(Again { disturbed, times, most }) = turn.again
                && !rounds.is_begun(turn.round)
            {
                self.emit(&Event::RoundAgain { round: turn.round, disturbed, times, most })?;
            }
            self.round(rounds, turn.round)?;
        }
        while let Some(round) = rounds.next_profiled() {
            let is_embedded = self.plan.systems.iter().any(|system| !system.has_server());
            if self.plan.is_counted(round) && is_embedded && self.counts_in.is_none() {
                return Err(Halt::NeedsValgrind);
            }
            self.round(rounds, round)?;
        }
        if rounds.is_pointless() {
            let why = if rounds.given_up(&self.plan.base).is_some() {
                "its base cannot complete, and every comparison needs the base"
            } else {
                "no system but the base can complete"
            };
            self.warn(format!("the run ends early: {why}; `backslide show {}`", self.run))?;
        }
        Ok(self.keeper.finish()?)
    }

    /// Looks at the run where its plan wants that and it is time. Is there to be another round, if there is one?
    fn look(&mut self, rounds: &Rounds<'_>, has_next: bool) -> Result<bool, Halt> {
        let Some((looks, done)) = rounds.to_look_at() else { return Ok(has_next) };
        let data = self.keeper.load()?;
        let options = Options { metrics: Selection::Deciding, ..judging(&data) };
        let compared = stats::compare(&data, &options)?;
        // Verdicts on a second copy of the base are noise, and not a reason to continue.
        let is_judged = |name: &str| !self.plan.is_control(name) && rounds.given_up(name).is_none();
        let mut judged = compared.iter().filter(|c| is_judged(&c.system)).peekable();
        let mut others = self.plan.systems.iter().filter(|system| system.name != self.plan.base);
        if judged.peek().is_none() && others.any(|system| is_judged(&system.name)) {
            // No trial of these has completed, nor has the base.
            return Ok(has_next);
        }
        let (undecided, goes_on) = match looks.next(done, judged) {
            Next::GoOn { undecided } => (undecided, has_next),
            Next::Decided => (0, false),
            Next::Exhausted { undecided } => (undecided, false),
        };
        self.emit(&Event::Looked { rounds: done, most: looks.max(), undecided, goes_on })?;
        Ok(goes_on)
    }

    fn round(&mut self, rounds: &mut Rounds<'_>, round: u32) -> Result<(), Halt> {
        let each = self.plan.trials_a_round();
        let of = each * self.plan.profiled_rounds().last().unwrap_or(self.plan.rounds).max(round);
        let left = rounds.left_of(round).into_iter().map(|trial| {
            let system = self.plan.systems[trial.system].name.clone();
            let (round, position) = (trial.round, trial.position);
            let key = TrialKey { round, position, system };
            Due { index: each * (round - 1) + position, of, trial, key }
        });
        let left: Vec<Due> = left.collect();
        // Nothing of a profiled round is compared within a second.
        let is_profiled = self.plan.is_profiled(round);
        let interleave = if is_profiled { Interleave::Trials } else { self.plan.course.interleave };
        match interleave {
            Interleave::Slices(_) | Interleave::Turns(_) => {
                self.unless_stopped()?;
                let outcomes = self.trials_at_once(&left)?;
                for (due, outcome) in left.iter().zip(&outcomes) {
                    self.settle(rounds, &due.key, outcome)?;
                }
            }
            Interleave::Trials => {
                for due in &left {
                    self.unless_stopped()?;
                    if rounds.is_pointless() {
                        break;
                    }
                    let outcome = self.trial(due)?;
                    self.settle(rounds, &due.key, &outcome)?;
                }
            }
        }
        Ok(())
    }

    /// Takes note of how a trial ended, and says so where its system is given up for it.
    fn settle(
        &mut self,
        rounds: &mut Rounds<'_>,
        key: &TrialKey,
        outcome: &Outcome,
    ) -> Result<(), Halt> {
        let system = &key.system;
        let was_given_up = rounds.given_up(system).is_some();
        rounds.note(key, outcome);
        let Some(step) = rounds.given_up(system).filter(|_| !was_given_up) else { return Ok(()) };
        let place =
            step.as_ref().map_or("before the first step".to_owned(), |step| format!("in {step}"));
        let end = format!("in its first {ATTEMPTS} trials: it gets no further trials");
        Ok(self.warn(format!("{system} failed {place} {end}"))?)
    }
}

#[cfg(test)]
mod tests {
    use model::{Bytes, HostShape, RoundsPart};

    use super::*;
    use crate::Builds;

    /// A plan of the systems `a` and `b` with these keys.
    fn plan(keys: &str) -> Plan {
        let system = |label| format!("[[system]]\nbuild = \"sqlite\"\nlabel = \"{label}\"\n");
        let text = format!(
            "name = \"p\"\n{keys}\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n{}{}",
            system("a"),
            system("b")
        );
        let file = plan::read(&text, "p.toml").unwrap();
        let catalog = plan::Catalog::embedded().unwrap();
        let host = HostShape { cpus: 2, memory: Bytes(1 << 30) };
        plan::expand(&file, &catalog, &|_| Ok(Builds::embedded().unwrap()), host).unwrap()
    }

    fn key(round: u32, system: &str) -> TrialKey {
        TrialKey { round, position: 1, system: system.to_owned() }
    }

    fn quarantined() -> Outcome {
        Outcome::Quarantined { reason: "noise".to_owned() }
    }

    /// A journal of whole rounds, with these disturbed.
    fn journal(rounds: u32, disturbed: &[u32]) -> Vec<(TrialKey, Outcome)> {
        let rounds = (1..=rounds).flat_map(|round| {
            let outcome =
                if disturbed.contains(&round) { quarantined() } else { Outcome::Completed };
            [(key(round, "a"), outcome), (key(round, "b"), Outcome::Completed)]
        });
        rounds.collect()
    }

    /// The next round, and for a repeat the replaced round and the number of the try.
    fn next(plan: &Plan, rounds: u32, disturbed: &[u32]) -> Option<(u32, Option<(u32, u32)>)> {
        let turn = Rounds::of(plan, &journal(rounds, disturbed)).next()?;
        Some((turn.round, turn.again.map(|a| (a.disturbed, a.times))))
    }

    #[test]
    fn disturbed_rounds_are_run_again_after_the_planned_ones() {
        let plan = plan("rounds = 3");
        assert_eq!(next(&plan, 0, &[]), Some((1, None)));
        assert_eq!(next(&plan, 2, &[1]), Some((3, None)));
        assert_eq!(next(&plan, 3, &[]), None);
        assert_eq!(next(&plan, 3, &[2]), Some((4, Some((2, 1)))));
        assert_eq!(next(&plan, 4, &[2]), None);
    }

    #[test]
    fn each_is_run_again_as_often_as_the_plan_allows() {
        let twice = plan("rounds = 3");
        assert_eq!(next(&twice, 4, &[1, 3, 4]), Some((5, Some((1, 2)))));
        // The first has had its two; now it is the other's turn.
        assert_eq!(next(&twice, 5, &[1, 3, 4, 5]), Some((6, Some((3, 1)))));
        assert_eq!(next(&twice, 5, &[1, 3, 4]), Some((6, Some((3, 1)))));
        assert_eq!(next(&twice, 6, &[1, 3, 4]), None);
        assert_eq!(next(&twice, 7, &[1, 2, 3, 4, 5, 6, 7]), Some((8, Some((3, 1)))));
        assert_eq!(next(&twice, 9, &[1, 2, 3, 4, 5, 6, 7, 8, 9]), None);
        let never = plan("rounds = 3\nquarantine = { reruns = 0 }");
        assert_eq!(next(&never, 3, &[1]), None);
        let off = plan("rounds = 3\nquarantine = false");
        assert_eq!(next(&off, 3, &[1]), None);
    }

    #[test]
    fn parts_share_out_all_rounds_and_never_repeat_one_under_the_same_number() {
        let whole = plan("rounds = 7\nprofile = 1");
        for of in 1..=8 {
            let mut numbers = BTreeSet::new();
            for number in 1..=of {
                let mut part = whole.clone();
                part.course.part = Some(RoundsPart { number, of });
                let own: Vec<u32> = part.judged_rounds().chain(part.profiled_rounds()).collect();
                assert!(own.windows(2).all(|pair| pair[1] == pair[0] + 1), "{own:?}");
                assert_eq!(part.planned_trials() as usize, 2 * own.len());
                let done = part.judged_rounds().flat_map(|round| {
                    [(key(round, "a"), quarantined()), (key(round, "b"), Outcome::Completed)]
                });
                let done: Vec<_> = done.collect();
                let again = Rounds::of(&part, &done).next().map(|turn| turn.round);
                assert_eq!(again.is_some(), !part.judged_rounds().is_empty());
                for round in own.into_iter().chain(again) {
                    assert!(numbers.insert(round), "round {round} of part {number}/{of}");
                }
            }
            assert!((1..=8).all(|round| numbers.contains(&round)), "{numbers:?}");
        }
    }

    #[test]
    fn profiled_rounds_have_numbers_of_their_own_and_are_not_looked_at() {
        let plan = plan("rounds = { min = 2, max = 3 }\nprofile = 2");
        let mut done = journal(3, &[2]);
        let rounds = |done: &[(TrialKey, Outcome)]| {
            let rounds = Rounds::of(&plan, done);
            let next = rounds.next().map(|turn| turn.round);
            (next, rounds.next_profiled(), rounds.to_look_at().map(|(_, whole)| whole))
        };
        // What is run again comes first, and has the numbers after theirs.
        assert_eq!(rounds(&done), (Some(6), Some(4), Some(2)));
        done.extend([(key(6, "a"), Outcome::Completed), (key(6, "b"), Outcome::Completed)]);
        assert_eq!(rounds(&done), (None, Some(4), Some(3)));
        done.extend([(key(4, "a"), Outcome::Profiled), (key(4, "b"), Outcome::Profiled)]);
        assert_eq!(rounds(&done), (None, Some(5), Some(3)));
        assert_eq!(Rounds::of(&plan, &done).systems_left().len(), 2);
        done.extend([(key(5, "a"), Outcome::Profiled), (key(5, "b"), Outcome::Profiled)]);
        assert_eq!(rounds(&done), (None, None, Some(3)));
        assert!(Rounds::of(&plan, &done).systems_left().is_empty());
    }

    #[test]
    fn once_profiled_rounds_were_added_nothing_else_is_left() {
        let mut plan = plan("rounds = { min = 2, max = 6 }");
        // Round 2 was disturbed and given up, and rounds 5 and 6 were not needed.
        let mut done = journal(4, &[2]);
        assert_eq!(Rounds::of(&plan, &done).next().map(|turn| turn.round), Some(5));
        plan.add_profiled_rounds(4, 2, false);
        let rounds = |done: &[(TrialKey, Outcome)]| {
            let rounds = Rounds::of(&plan, done);
            (rounds.next(), rounds.next_profiled(), rounds.to_look_at().map(|(_, whole)| whole))
        };
        assert_eq!(rounds(&done), (None, Some(7), None));
        assert_eq!(Rounds::of(&plan, &done).systems_left().len(), 2);
        for round in [7, 8] {
            done.extend([
                (key(round, "a"), Outcome::Profiled),
                (key(round, "b"), Outcome::Profiled),
            ]);
        }
        assert_eq!(rounds(&done), (None, None, None));
        assert!(Rounds::of(&plan, &done).systems_left().is_empty());
    }

    #[test]
    fn rounds_are_added_after_all_others_and_in_whole_cycles() {
        let mut plan = pairs("rounds = 2\nprofile = 1");
        let numbers = |plan: &Plan| plan.profiled_rounds().collect::<Vec<u32>>();
        assert_eq!(numbers(&plan), [5, 6]);
        // Round 7 took the place of a disturbed one.
        plan.add_profiled_rounds(7, 1, false);
        plan.add_profiled_rounds(10, 1, true);
        assert_eq!(numbers(&plan), [5, 6, 9, 10, 11, 12]);
        assert_eq!((plan.last_planned_round(), plan.planned_trials()), (6, 20));
        assert!(!plan.is_profiled(7) && plan.is_profiled(12));
        let counted = plan.profiled_rounds().filter(|round| plan.is_counted(*round));
        assert_eq!(
            counted.collect::<Vec<u32>>(),
            plan.course.added[1].clone().collect::<Vec<u32>>()
        );
    }

    #[test]
    fn a_round_goes_on_where_it_was_left() {
        let plan = plan("rounds = 2");
        let mut done = journal(2, &[1]);
        done.push((key(3, "b"), quarantined()));
        let rounds = Rounds::of(&plan, &done);
        assert_eq!(rounds.next().map(|turn| turn.round), Some(3));
        assert!(rounds.is_begun(3));
        let left = rounds.left_of(3);
        let left: Vec<&str> = left.iter().map(|t| plan.systems[t.system].name.as_str()).collect();
        assert_eq!(left, ["a"]);
        // It is disturbed already, so that both may be needed once more.
        let mut systems = rounds.systems_left();
        systems.sort_unstable();
        assert_eq!(systems, [0, 1]);
    }

    #[test]
    fn a_disturbed_round_needs_its_systems_again_before_its_turn_comes() {
        let plan = plan("rounds = 2");
        let left = |disturbed: &[u32]| {
            let mut done = journal(2, disturbed);
            done.pop();
            Rounds::of(&plan, &done).systems_left()
        };
        assert_eq!(left(&[]), [1]);
        assert_eq!(left(&[1]), [1, 0]);
    }

    #[test]
    fn looks_are_taken_between_rounds_that_were_not_disturbed() {
        let plan = plan("rounds = { min = 2, max = 4 }");
        let looked = |done: &[(TrialKey, Outcome)]| {
            let look = Rounds::of(&plan, done).to_look_at();
            look.map(|(_, rounds)| rounds)
        };
        assert_eq!(looked(&journal(0, &[])), None);
        assert_eq!(looked(&journal(1, &[])), None);
        assert_eq!(looked(&journal(2, &[])), Some(2));
        assert_eq!(looked(&journal(3, &[1])), Some(2));
        assert_eq!(looked(&journal(3, &[3])), None);
        assert_eq!(looked(&journal(5, &[1])), Some(4));
        let mut half = journal(3, &[]);
        half.pop();
        assert_eq!(looked(&half), None);
        let fixed = self::plan("rounds = 4");
        assert!(Rounds::of(&fixed, &journal(4, &[])).to_look_at().is_none());
    }

    /// A journal of these trials: round, system, and the step in which it failed, if it did; `-` for before
    /// the first.
    fn with_failures(trials: &[(u32, &str, Option<&str>)]) -> Vec<(TrialKey, Outcome)> {
        let trials = trials.iter().map(|(round, system, failed)| {
            let outcome = match failed {
                None => Outcome::Completed,
                Some(step) => Outcome::Failed {
                    step: (*step != "-").then(|| StepId::new(*step)),
                    reason: String::new(),
                    log_tail: Vec::new(),
                },
            };
            (key(*round, system), outcome)
        });
        trials.collect()
    }

    #[test]
    fn a_run_ends_when_its_base_or_all_others_fail_twice_at_the_same_place() {
        let plan = plan("rounds = 8");
        let next = |trials: &[(u32, &str, Option<&str>)]| {
            let next = Rounds::of(&plan, &with_failures(trials)).next();
            next.map(|turn| turn.round)
        };
        let fails = Some("l.i0");
        assert_eq!(plan.base, "a");
        assert_eq!(next(&[(1, "a", fails), (1, "b", None)]), Some(2));
        assert_eq!(next(&[(1, "a", fails), (1, "b", None), (2, "a", fails)]), None);
        assert_eq!(next(&[(1, "a", None), (1, "b", Some("-")), (2, "b", Some("-"))]), None);
        // At different places, or after one that completed, it may be chance.
        let apart = [(1, "a", Some("-")), (1, "b", None), (2, "b", None), (2, "a", fails)];
        assert_eq!(next(&apart), Some(3));
        let late = [
            (1, "a", None),
            (1, "b", None),
            (2, "a", fails),
            (2, "b", None),
            (3, "a", fails),
            (3, "b", None),
        ];
        assert_eq!(next(&late), Some(4));
    }

    #[test]
    fn a_system_that_is_given_up_holds_no_round_open() {
        let text = "rounds = 3";
        let mut plan = plan(text);
        let mut third = plan.systems[1].clone();
        "c".clone_into(&mut third.name);
        plan.systems.push(third);
        let fails = Some("l.i0");
        let mut done = Vec::new();
        for round in 1..=2 {
            done.extend([(round, "a", None), (round, "b", fails), (round, "c", None)]);
        }
        let rounds = Rounds::of(&plan, &with_failures(&done));
        let left = |rounds: &Rounds<'_>, round| {
            let left = rounds.left_of(round).into_iter();
            let mut names: Vec<String> =
                left.map(|trial| plan.systems[trial.system].name.clone()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(left(&rounds, 3), ["a", "c"]);
        assert_eq!(rounds.systems_left().len(), 2);
        done.extend([(3, "a", None), (3, "c", None)]);
        let rounds = Rounds::of(&plan, &with_failures(&done));
        assert!(rounds.is_finished(3));
        assert_eq!(rounds.next(), None);
    }

    /// A plan of the pairs a and b, a and c.
    fn pairs(keys: &str) -> Plan {
        let mut plan = plan(keys);
        let mut third = plan.systems[1].clone();
        "c".clone_into(&mut third.name);
        plan.systems.push(third);
        plan.course.pairs = true;
        plan.rounds *= plan.cycle();
        plan
    }

    #[test]
    fn a_disturbed_pair_is_run_again_as_that_pair() {
        let plan = pairs("rounds = 2");
        let done = |trials: &[(u32, &str, bool)]| -> Vec<(TrialKey, Outcome)> {
            let outcome = |fine| if fine { Outcome::Completed } else { quarantined() };
            trials
                .iter()
                .map(|(round, system, fine)| (key(*round, system), outcome(*fine)))
                .collect()
        };
        let mut journal = done(&[(1, "a", true), (1, "b", true), (2, "a", true), (2, "c", false)]);
        journal.extend(done(&[(3, "a", true)]));
        let next = |journal: &[(TrialKey, Outcome)]| {
            let rounds = Rounds::of(&plan, journal);
            let turn = rounds.next()?;
            let left = rounds.left_of(turn.round).into_iter();
            let mut names: Vec<&str> =
                left.map(|trial| plan.systems[trial.system].name.as_str()).collect();
            names.sort_unstable();
            Some((turn.round, turn.again.map(|again| again.disturbed), names))
        };
        assert_eq!(next(&journal), Some((3, None, vec!["b"])));
        journal.extend(done(&[(3, "b", true), (4, "a", true), (4, "c", true)]));
        // Round 5 would be of a and b.
        assert_eq!(next(&journal), Some((6, Some(2), vec!["a", "c"])));
        journal.extend(done(&[(6, "a", true), (6, "c", false)]));
        assert_eq!(next(&journal), Some((8, Some(2), vec!["a", "c"])));
        journal.extend(done(&[(8, "a", true), (8, "c", true)]));
        assert_eq!(next(&journal), None);
    }

    #[test]
    fn the_base_does_not_run_without_a_partner_and_looks_count_rounds_of_each() {
        let plan = pairs("rounds = { min = 2, max = 4 }");
        let fails = Some("l.i0");
        let mut done = vec![(1, "a", None), (1, "b", fails), (2, "a", None), (2, "c", None)];
        let looked = |done: &[(u32, &str, Option<&str>)]| {
            let journal = with_failures(done);
            Rounds::of(&plan, &journal).to_look_at().map(|(_, rounds)| rounds)
        };
        assert_eq!(looked(&done), None);
        done.extend([(3, "a", None), (3, "b", fails)]);
        let journal = with_failures(&done);
        let next = Rounds::of(&plan, &journal).next().map(|turn| turn.round);
        assert_eq!(next, Some(4));
        done.extend([(4, "a", None), (4, "c", None)]);
        assert_eq!(looked(&done), Some(2));
        // b is given up: round 5 would be of a and b.
        let journal = with_failures(&done);
        assert_eq!(Rounds::of(&plan, &journal).next().map(|turn| turn.round), Some(6));
        // The rounds that b misses do not delay the looks at c.
        done.extend([(6, "a", None), (6, "c", None)]);
        assert_eq!(looked(&done), Some(3));
    }

    #[test]
    fn failed_trials_are_counted_and_quarantined_ones_are_none_of_them() {
        let plan = plan("rounds = 1");
        let failed = Outcome::Failed { step: None, reason: String::new(), log_tail: Vec::new() };
        let rounds = Rounds::of(&plan, &[(key(1, "a"), failed), (key(1, "b"), quarantined())]);
        assert_eq!(rounds.failed, 1);
        assert!(rounds.is_finished(1) && rounds.is_disturbed(1));
    }
}
