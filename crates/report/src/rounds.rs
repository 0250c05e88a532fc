//! How many rounds a run has, in words.

use std::collections::BTreeMap;

use model::{Outcome, Plan, RunData, RunState};

use crate::format::plural;

/// The rounds that a plan asks for: `4 rounds`, `3 to 12 rounds`.
pub fn planned_rounds(plan: &Plan) -> String {
    let most = plural(plan.rounds as usize, "round");
    match plan.fewest_rounds() {
        None => most,
        Some(least) => format!("{least} to {most}"),
    }
}

/// `4 rounds`, `2 of 4 rounds` for a run that was given up, `3 of at most 12 rounds` where it may end early: those not
/// disturbed. What was run again for disturbed ones is told besides.
pub fn rounds(data: &RunData) -> String {
    let plan = &data.info.plan;
    let planned = plural(plan.rounds as usize, "round");
    let judged = data.trials.iter().filter(|trial| !plan.is_profiled(trial.round));
    let last = judged.clone().map(|trial| trial.round).max();
    let given_up = last.filter(|last| data.info.state == RunState::Finished && *last < plan.rounds);
    let told = if plan.course.first_look.is_none() {
        given_up.map_or_else(|| planned.clone(), |last| format!("{last} of {planned}"))
    } else {
        // Rounds with a trial of every system not yet given up, and without a quarantined trial.
        let rounds = by_round(judged.clone().map(|trial| (trial.round, &trial.outcome)));
        let goes_on = |system: &usize, round: u32| {
            let mut of_system = judged.clone().filter(|t| t.system == plan.systems[*system].name);
            let is_under_way = !data.info.was_finished() && Some(round) == last;
            is_under_way || of_system.any(|trial| trial.round >= round)
        };
        let whole = |(number, round): &(&u32, &Ended)| {
            let systems = plan.systems_of(**number);
            let due = systems.iter().filter(|system| goes_on(system, **number)).count();
            round.trials == due && !round.is_disturbed
        };
        format!("{} of at most {planned}", rounds.iter().filter(whole).count())
    };
    match again(data) {
        0 => told,
        again => format!("{told}, {again} run again"),
    }
}

/// `1 of 3 rounds complete, 7 disturbed`; `None` where none was disturbed. Each outcome comes with its round.
pub fn disturbed_rounds<'a>(
    plan: &Plan,
    outcomes: impl Iterator<Item = (u32, &'a Outcome)>,
) -> Option<String> {
    let rounds = by_round(outcomes.filter(|(round, _)| !plan.is_profiled(*round)));
    let all = plan.trials_a_round() as usize;
    let complete = rounds.values().filter(|round| round.completed == all);
    let disturbed = rounds.values().filter(|round| round.is_disturbed);
    let (complete, disturbed) = (complete.count(), disturbed.count());
    let at_most = plan.course.first_look.map_or("", |_| "at most ");
    let planned = plural(plan.rounds as usize, "round");
    let told = format!("{complete} of {at_most}{planned} complete, {disturbed} disturbed");
    (disturbed > 0).then_some(told)
}

#[derive(Default)]
struct Ended {
    trials: usize,
    completed: usize,
    is_disturbed: bool,
}

fn by_round<'a>(outcomes: impl Iterator<Item = (u32, &'a Outcome)>) -> BTreeMap<u32, Ended> {
    let mut rounds: BTreeMap<u32, Ended> = BTreeMap::new();
    for (round, outcome) in outcomes {
        let ended = rounds.entry(round).or_default();
        ended.trials += 1;
        ended.completed += usize::from(outcome.is_completed());
        ended.is_disturbed |= outcome.is_quarantined();
    }
    rounds
}

/// Rounds that took the place of others.
pub(crate) fn again(data: &RunData) -> usize {
    let plan = &data.info.plan;
    let mut further: Vec<u32> = data.trials.iter().map(|trial| trial.round).collect();
    further.retain(|round| *round > plan.last_planned_round() && !plan.is_profiled(*round));
    further.sort_unstable();
    further.dedup();
    further.len()
}
