//! What is told of rounds that ended early, were disturbed and run again.

use model::{Outcome, RoundsPart, RunData, RunState, TrialRecord};
use report::Report;
use testkit::made_up::{self, Shape};

use crate::input;

/// Three systems in four rounds; the trial of the second in round 2 was quarantined.
fn disturbed() -> RunData {
    let mut data = made_up::run(&Shape::usual());
    let system = data.info.plan.systems[1].name.clone();
    for trial in &mut data.trials {
        if trial.round == 2 && trial.system == system {
            trial.outcome = Outcome::Quarantined {
                reason: "qr100: other processes took 80.0 % of one CPU (limit 30 %)".into(),
            };
        }
    }
    data.cells.retain(|cell| !(cell.round == 2 && cell.system == system));
    data
}

#[test]
fn quarantined_trials_are_listed_with_their_reason_and_did_not_fail() {
    let data = disturbed();
    let input = input(&data, &[]);
    let findings = Report::new(&input).findings();
    let told = findings.iter().find(|finding| finding.title.starts_with("Quarantined"));
    let told = told.unwrap();
    assert_eq!(told.title, "Quarantined: 1 trial");
    assert!(
        told.text.contains("round 2: qr100: other processes took 80.0 % of one CPU (limit 30 %)."),
        "{}",
        told.text
    );
    assert!(!findings.iter().any(|finding| finding.title.contains("failed")));
    let trials = Report::new(&input).trials();
    let outcomes = trials.rows.iter().filter_map(|row| row.last());
    assert_eq!(outcomes.filter(|cell| cell.text == "quarantined").count(), 1);
    assert!(Report::new(&input).markdown().contains("- **quarantined**: "));
    let page = Report::new(&input).html();
    assert!(page.contains("Failed and quarantined trials"));
    assert!(page.contains("(limit 30 %)"));
}

#[test]
fn quarantined_trials_that_count_are_told_as_such() {
    let mut data = disturbed();
    for trial in data.trials.iter_mut().filter(|trial| trial.round > 1) {
        trial.outcome = Outcome::Quarantined { reason: "qr100: noise".into() };
    }
    let input = input(&data, &[]);
    let findings = Report::new(&input).findings();
    let told = findings.iter().find(|finding| finding.title == "Quarantined: 9 trials");
    assert!(told.unwrap().text.contains("Tables therefore include these trials"), "{findings:?}");
    assert!(Report::new(&input).html().contains("Listed below, and included in tables."));
}

#[test]
fn a_page_says_how_many_rounds_its_ratios_rest_on() {
    for (data, told) in [
        (made_up::run(&Shape::usual()), "over 4 rounds measured for both systems"),
        (disturbed(), "over up to 4 rounds measured for both systems"),
    ] {
        let comparisons = made_up::comparisons(&data);
        let page = Report::new(&input(&data, &comparisons)).html();
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn rounds_are_told_as_they_were_planned_and_as_they_came() {
    let mut data = disturbed();
    assert_eq!(report::rounds(&data), "4 rounds");
    assert_eq!(report::planned_rounds(&data.info.plan), "4 rounds");
    // One more in place of the second.
    let again: Vec<_> = data.trials.iter().filter(|trial| trial.round == 1).cloned().collect();
    for mut trial in again {
        trial.round = 5;
        data.trials.push(trial);
    }
    assert_eq!(report::rounds(&data), "4 rounds, 1 run again");
    let note = Report::new(&input(&data, &[])).trials().note;
    assert!(note.ends_with("Rounds after 4 take the place of disturbed ones."), "{note}");

    data.info.plan.rounds = 12;
    data.info.plan.course.first_look = Some(3);
    assert_eq!(report::rounds(&data), "4 of at most 12 rounds");
    assert_eq!(report::planned_rounds(&data.info.plan), "3 to 12 rounds");
    // One system was given up after two rounds.
    let mut given_up = data.clone();
    let last = given_up.info.plan.systems.last().unwrap().name.clone();
    given_up.trials.retain(|trial| trial.system != last || trial.round <= 2);
    assert_eq!(report::rounds(&given_up), "4 of at most 12 rounds");
    given_up.info.state = RunState::Unfinished;
    assert_eq!(report::rounds(&given_up), "3 of at most 12 rounds");
    // Three rounds of the base with each of the two others.
    data.info.plan.course.pairs = true;
    assert_eq!(report::planned_rounds(&data.info.plan), "6 to 12 rounds");
    data.info.plan.course.pairs = false;
    data.info.state = RunState::Unfinished;
    let findings = Report::new(&input(&data, &[])).findings();
    let systems = data.info.plan.systems.len();
    let told = format!(
        "{} of at most {} trials ended so far; 4 of at most 12 rounds complete, 1 disturbed.",
        5 * systems,
        12 * systems
    );
    assert!(findings.iter().any(|finding| finding.text.starts_with(&told)), "{told}");
}

#[test]
fn disturbed_trials_of_a_part_do_not_count_once_its_own_rounds_were_run_again() {
    let mut data = disturbed();
    assert!(!data.counts_disturbed());
    // Rounds 1 and 2 of 8 are its own, and round 9 takes the place of the second.
    data.info.plan.rounds = 8;
    data.info.plan.course.part = Some(RoundsPart { number: 1, of: 4 });
    data.trials.retain(|trial| trial.round <= 2);
    assert!(data.counts_disturbed());
    let again = data.trials.clone().into_iter().filter(|trial| trial.round == 1);
    data.trials.extend(again.map(|trial| TrialRecord { round: 9, ..trial }));
    assert!(!data.counts_disturbed());
}

#[test]
fn disturbed_trials_count_also_while_profiled_rounds_are_added() {
    let mut data = disturbed();
    data.trials.retain(|trial| trial.round <= 2);
    assert!(data.counts_disturbed());
    data.info.state = RunState::Unfinished;
    assert!(!data.counts_disturbed());
    data.info.plan.add_profiled_rounds(4, 1, false);
    assert!(data.counts_disturbed());
}

#[test]
fn a_run_that_was_given_up_has_fewer_rounds_than_planned() {
    let mut data = made_up::run(&Shape::usual());
    assert_eq!(report::rounds(&data), "4 rounds");
    data.trials.retain(|trial| trial.round <= 2);
    assert_eq!(report::rounds(&data), "2 of 4 rounds");
    data.info.state = RunState::Unfinished;
    assert_eq!(report::rounds(&data), "4 rounds");
}
