//! What is told of trials that were quarantined and of the rounds that they cost: before a run, while it runs, and
//! after it.

use std::cmp::Reverse;

use model::{Outcome, Plan, RunData, TrialKey, TrialRecord, counts_disturbed};
use report::disturbed_rounds;
use report::format::plural;

use crate::printer::Printer;

/// Quarantined trials that are told one by one; of more it is told what disturbed how many.
const ONE_BY_ONE: usize = 3;

/// What a trial met whose reason names nothing that is known.
const SOMETHING: &str = "something else disturbed the host";

/// Warns of comparisons that include quarantined trials, because too few rounds of the run were undisturbed.
pub(crate) fn warn(data: &RunData, printer: Printer) {
    if let Some(warning) = compared(data) {
        printer.note(&warning);
    }
}

/// This warning, if the run needs it.
pub(crate) fn compared(data: &RunData) -> Option<String> {
    let run = &data.info.id;
    data.counts_disturbed().then(|| {
        format!(
            "warning: too few rounds of {run} were undisturbed for a verdict, so comparisons include quarantined trials"
        )
    })
}

/// Which trials a plan sets aside, and how often their rounds are run again.
pub(crate) fn limits(plan: &Plan) -> String {
    let Some(limits) = plan.course.quarantine else {
        return "quarantine is off: no trial is set aside, whatever disturbs the host".to_owned();
    };
    let disturbed = lab::limits_in_words(&limits);
    match limits.reruns {
        0 => format!("set aside, and not run again: rounds with a step where {disturbed}"),
        times => {
            let times = plural(times as usize, "time");
            let more = plural(plan.rounds_again() as usize, "more round");
            format!(
                "set aside and run again: rounds with a step where {disturbed}; at most {times} each, at most {more} in total"
            )
        }
    }
}

/// What is said when the first round of a run is lost; it may be run again so often.
pub(crate) fn lost(round: u32, reason: &str, reruns: u32) -> String {
    let what = reason.split("; ").next().unwrap_or(reason);
    let again = match reruns {
        0 => "is set aside and not run again (`reruns` is 0)".to_owned(),
        times => format!(
            "is set aside and run again after the planned rounds, at most {}",
            plural(times as usize, "time")
        ),
    };
    format!(
        "warning: round {round} was disturbed ({what}), {again}; `quarantine = false` in the plan, above its first \
         table, switches that off"
    )
}

/// The quarantined trials of a run: each with its reason where they are few, else what disturbed how many, with the
/// first of each.
pub(crate) fn trials(trials: &[TrialRecord]) -> Vec<String> {
    let quarantined = trials.iter().filter_map(|trial| {
        let reason = trial.outcome.quarantined_for()?;
        Some((format!("round {}, {}", trial.round, trial.system), reason))
    });
    let quarantined: Vec<(String, &str)> = quarantined.collect();
    if quarantined.len() <= ONE_BY_ONE {
        let each = quarantined.iter();
        return each.map(|(name, reason)| format!("\n{name} was quarantined: {reason}")).collect();
    }
    let reasons: Vec<&str> = quarantined.iter().map(|(_, reason)| *reason).collect();
    let mut lines = vec![format!("\n{} trials were quarantined:", quarantined.len())];
    lines.extend(by_kind(&reasons).iter().map(|kind| {
        let (name, reason) = &quarantined[kind.first];
        let (trials, told) = (kind.trials, kind.told);
        format!("  {trials} because {told}; the first was {name}: {reason}")
    }));
    lines
}

/// What is said of them at the end of a run; `None` where there are none.
pub(crate) fn at_the_end(plan: &Plan, journal: &[(TrialKey, Outcome)]) -> Option<String> {
    let outcomes = journal.iter().map(|(key, outcome)| (key.round, outcome));
    let rounds = disturbed_rounds(plan, outcomes)?;
    let each = journal.iter().map(|(key, outcome)| (key.round, key.system.as_str(), outcome));
    let used = if counts_disturbed(plan, each) {
        ". Too few rounds are complete for a verdict, so comparisons include the disturbed ones"
    } else {
        ""
    };
    let reasons = journal.iter().map(|(_, outcome)| outcome.quarantined_for());
    let reasons: Vec<&str> = reasons.flatten().collect();
    let kinds = by_kind(&reasons);
    let kinds: Vec<String> =
        kinds.iter().map(|kind| format!("{} in {}", kind.told, kind.trials)).collect();
    let trials = plural(reasons.len(), "trial");
    Some(format!("{trials} quarantined ({}); {rounds}{used}", kinds.join(", ")))
}

struct Disturbance {
    told: &'static str,
    /// How many trials met it, and which was the first of them.
    trials: usize,
    first: usize,
}

/// The kinds that reasons name, the most frequent first. A reason may name several.
fn by_kind(reasons: &[&str]) -> Vec<Disturbance> {
    let mut kinds: Vec<Disturbance> = Vec::new();
    for (at, reason) in reasons.iter().enumerate() {
        let mut named = lab::kinds_of_disturbance(reason);
        if named.is_empty() {
            named.push(SOMETHING);
        }
        for told in named {
            match kinds.iter_mut().find(|kind| kind.told == told) {
                Some(kind) => kind.trials += 1,
                None => kinds.push(Disturbance { told, trials: 1, first: at }),
            }
        }
    }
    kinds.sort_by_key(|kind| Reverse(kind.trials));
    kinds
}

#[cfg(test)]
mod tests {
    use model::Quarantine;

    use super::*;
    use testkit::made_up::{self, micro::Micro};

    const LIMITS: Quarantine = Quarantine {
        steal_permille: 100,
        foreign_permille: 300,
        throttled_permille: 100,
        swapped_pages: 256,
        major_faults: 1_000,
        reruns: 2,
    };

    /// The trials of three systems in four rounds, those of the second in these rounds quarantined; and their plan.
    fn run(disturbed: &[(u32, &str)]) -> (Plan, Vec<TrialRecord>) {
        let micro = Micro { tests: 1, ..Micro::usual() };
        let mut data = made_up::micro::run(&micro);
        let second = data.info.plan.systems[1].name.clone();
        let trials = data.trials.iter_mut();
        for trial in trials.filter(|trial| trial.system == second) {
            let of_round = disturbed.iter().find(|(round, _)| *round == trial.round);
            if let Some((_, reason)) = of_round {
                trial.outcome = Outcome::Quarantined { reason: (*reason).to_owned() };
            }
        }
        (data.info.plan, data.trials)
    }

    const FOREIGN: &str = "scan: other processes took 80.0 % of one CPU (limit 30 %); scan: x";
    const BOTH: &str = "scan: other processes took 40.0 % of one CPU (limit 30 %), 300 pages a second were swapped \
                        (limit 256)";

    fn rounds_of(disturbed: &[(u32, &str)]) -> Option<String> {
        let (plan, trials) = run(disturbed);
        let outcomes = trials.iter().map(|trial| (trial.round, &trial.outcome));
        disturbed_rounds(&plan, outcomes)
    }

    #[test]
    fn a_plan_says_what_is_set_aside_and_how_often_it_is_run_again() {
        let (mut plan, _) = run(&[]);
        plan.course.quarantine = None;
        insta::assert_snapshot!(limits(&plan), @"quarantine is off: no trial is set aside, whatever disturbs the host");
        plan.course.quarantine = Some(LIMITS);
        insta::assert_snapshot!(limits(&plan), @"set aside and run again: rounds with a step where other processes took more than 30 % of one CPU, other guests took more than 10 % of all CPUs, a quota held processes back for more than 10 % of one CPU, more than 256 pages a second were swapped or the server had more than 1000 major page faults a second; at most 2 times each, at most 8 more rounds in total");
        let never = Quarantine { reruns: 0, ..LIMITS };
        plan.course.quarantine = Some(never);
        let told = limits(&plan);
        let begin = "set aside, and not run again: rounds with a step where other processes took";
        assert!(told.starts_with(begin) && told.ends_with(" a second"), "{told}");
    }

    #[test]
    fn the_first_lost_round_is_told_with_the_way_out() {
        insta::assert_snapshot!(lost(2, FOREIGN, 2), @"warning: round 2 was disturbed (scan: other processes took 80.0 % of one CPU (limit 30 %)), is set aside and run again after the planned rounds, at most 2 times; `quarantine = false` in the plan, above its first table, switches that off");
        insta::assert_snapshot!(lost(1, "noise", 0), @"warning: round 1 was disturbed (noise), is set aside and not run again (`reruns` is 0); `quarantine = false` in the plan, above its first table, switches that off");
    }

    #[test]
    fn rounds_are_complete_where_every_system_has_a_trial() {
        assert_eq!(rounds_of(&[]), None);
        let told = rounds_of(&[(1, FOREIGN), (3, FOREIGN), (4, BOTH)]).unwrap();
        assert_eq!(told, "1 of 4 rounds complete, 3 disturbed");
        let (mut plan, trials) = run(&[(1, FOREIGN)]);
        plan.course.first_look = Some(3);
        plan.rounds = 12;
        // Half a round is none.
        let outcomes = trials.iter();
        let outcomes = outcomes.filter(|trial| trial.round < 4 || trial.position == 1);
        let told = disturbed_rounds(&plan, outcomes.map(|trial| (trial.round, &trial.outcome)));
        let expected = "2 of at most 12 rounds complete, 1 disturbed";
        assert_eq!(told.as_deref(), Some(expected));
    }

    #[test]
    fn a_few_quarantined_trials_are_told_one_by_one() {
        assert!(trials(&run(&[]).1).is_empty());
        let lines = trials(&run(&[(1, FOREIGN), (2, "noise"), (4, BOTH)]).1);
        let first = format!("\nround 1, mysql-9.7.4/z12a was quarantined: {FOREIGN}");
        assert_eq!((lines.len(), &lines[0]), (3, &first));
    }

    #[test]
    fn more_are_told_by_what_disturbed_them() {
        let (plan, all) = run(&[(1, "noise"), (2, FOREIGN), (3, FOREIGN), (4, BOTH)]);
        insta::assert_snapshot!(trials(&all).join("\n").trim_start(), @"
        4 trials were quarantined:
          3 because other processes took CPU time; the first was round 2, mysql-9.7.4/z12a: scan: other processes took 80.0 % of one CPU (limit 30 %); scan: x
          1 because something else disturbed the host; the first was round 1, mysql-9.7.4/z12a: noise
          1 because pages of memory were swapped; the first was round 4, mysql-9.7.4/z12a: scan: other processes took 40.0 % of one CPU (limit 30 %), 300 pages a second were swapped (limit 256)
        ");
        let journal = all.iter().map(|trial| {
            let key = TrialKey {
                round: trial.round,
                position: trial.position,
                system: trial.system.clone(),
            };
            (key, trial.outcome.clone())
        });
        let journal: Vec<(TrialKey, Outcome)> = journal.collect();
        let told = at_the_end(&plan, &journal).unwrap();
        insta::assert_snapshot!(told, @"4 trials quarantined (other processes took CPU time in 3, something else disturbed the host in 1, pages of memory were swapped in 1); 0 of 4 rounds complete, 4 disturbed. Too few rounds are complete for a verdict, so comparisons include the disturbed ones");
    }
}
