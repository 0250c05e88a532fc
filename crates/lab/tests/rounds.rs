//! Rounds that end early, go on, or are run again, with the fake Dbms: decided by what is kept, so that a run that
//! was interrupted comes to the same end.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{Bench, compare, expand, told};
use lab::{Ended, LabError};
use load::Stop;
use model::{Event, Outcome, Plan, RunData, RunId, RunState, Verdict};
use testkit::{FakeProvider, Fault, Trouble};

/// Only what a test orders is noise: a host may steal less than that, and all else is allowed.
const LIMITS: &str = "quarantine = { steal_percent = 100, foreign_percent = 100_000, throttled_percent = 100_000, \
                      swapped_pages = 4_294_967_295, major_faults = 4_294_967_295 }";

/// A plan of the systems `good` and `bad` that loads a few rows, with these keys; milliseconds a trial.
fn plan(keys: &str) -> Plan {
    expand(&format!(
        "name = \"tiny\"\nseed = 7\nbase = \"good\"\n{keys}\n\
         workload = {{ kind = \"insert\", scale = \"tiny\", rows = 2_000, steps = [\"l.i0\"], \
         statement_timeout = 1 }}\n\
         [[system]]\nbuild = \"sqlite\"\nlabel = \"good\"\n\
         [[system]]\nbuild = \"sqlite\"\nlabel = \"bad\"\n"
    ))
}

/// A provider with noise for a system in some rounds.
fn disturbed(system: &str, rounds: &'static [u32]) -> FakeProvider {
    FakeProvider::default().with(system, Fault::Disturbed { rounds })
}

/// What tells of rounds, in a line each; trials by round and place.
fn line(event: &Event) -> Option<String> {
    match event {
        Event::TrialStarted { trial, index, of } => {
            Some(format!("trial {}-{}, {index} of {of}", trial.round, trial.position))
        }
        Event::Looked { rounds, most, goes_on, .. } => {
            Some(format!("looked after {rounds} of {most}, goes on: {goes_on}"))
        }
        Event::RoundAgain { round, disturbed, times, most } => {
            Some(format!("{round} in place of {disturbed}, {times} of {most}"))
        }
        _ => None,
    }
}

/// Carries a run out; stops where `until` says so.
fn carried_out(
    bench: &mut Bench,
    run: &RunId,
    provider: &FakeProvider,
    until: impl Fn(&Event) -> bool,
) -> (Result<Ended, LabError>, Vec<String>) {
    let stop = Stop::default();
    let asked = stop.clone();
    let mut lines = Vec::new();
    let ended = bench.listen(run, provider, &stop, &mut |event| {
        lines.extend(line(event));
        if until(event) {
            asked.ask();
        }
    });
    (ended, lines)
}

/// Carries a run out to its end.
fn finished(bench: &mut Bench, run: &RunId, provider: &FakeProvider) -> Vec<String> {
    let (ended, lines) = carried_out(bench, run, provider, |_| false);
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    assert_eq!(bench.load(run).info.state, RunState::Finished);
    lines
}

/// Lines that are not of trials.
fn of_rounds(lines: &[String]) -> Vec<&str> {
    let lines = lines.iter().map(String::as_str);
    lines.filter(|line| !line.starts_with("trial ")).collect()
}

/// Rounds and systems of the trials that were quarantined.
fn quarantined(data: &RunData) -> Vec<(u32, &str)> {
    let trials = data.trials.iter();
    let quarantined = trials.filter(|trial| trial.outcome.is_quarantined());
    quarantined.map(|trial| (trial.round, trial.system.as_str())).collect()
}

#[test]
fn a_run_ends_at_the_first_look_that_finds_all_decided() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan("rounds = { min = 5, max = 6 }\nquarantine = false"));
    let slow = Trouble::Slow(Duration::from_millis(20));
    let provider = FakeProvider::default().with("bad", Fault::from("INSERT", 1, slow));
    let lines = finished(&mut bench, &run, &provider);
    assert_eq!(of_rounds(&lines), ["looked after 5 of 6, goes on: false"]);
    let data = bench.load(&run);
    assert_eq!(data.trials.len(), 10);
    // A later look comes to the same result.
    assert_eq!(compare(&data)[0].verdict, Verdict::Regressed);
    let error = bench.carry_out(&run, &provider).unwrap_err();
    assert!(matches!(error, LabError::Finished(_)), "{error}");
}

#[test]
fn profiled_rounds_come_last_and_are_in_nothing_that_is_judged() {
    if let Err(error) = profiles::check() {
        return testkit::not_permitted(&error.to_string());
    }
    let mut bench = Bench::new();
    let run = bench.begin(&plan("rounds = { min = 5, max = 6 }\nquarantine = false\nprofile = 1"));
    let slow = Trouble::Slow(Duration::from_millis(20));
    let provider = FakeProvider::default().with("bad", Fault::from("INSERT", 1, slow));
    let lines = finished(&mut bench, &run, &provider);
    let last =
        ["looked after 5 of 6, goes on: false", "trial 7-1, 13 of 14", "trial 7-2, 14 of 14"];
    assert!(lines.ends_with(&last.map(str::to_owned)), "{lines:?}");
    let data = bench.load(&run);
    let outcomes: Vec<&Outcome> = data.trials.iter().map(|trial| &trial.outcome).collect();
    assert_eq!(outcomes[10..], [&Outcome::Profiled; 2]);
    assert!(data.cells.iter().all(|cell| cell.round <= 5));
    assert_eq!(report::rounds(&data), "5 of at most 6 rounds");
    let profiled = bench.lab.store.profiles(&run).unwrap();
    // Of CPU time and of sleep.
    let systems: BTreeSet<&str> = profiled.iter().map(|one| one.trial.system.as_str()).collect();
    assert_eq!((systems.len(), profiled.len()), (2, 4));
    let why = explain::why(&data.info.plan, &[], &profiled);
    assert!(why[0].time.change > 0.0 && why[0].rounds == 1, "{why:?}");
}

#[test]
fn counted_rounds_of_what_runs_here_are_left_to_a_process_under_valgrind() {
    if let Err(error) = profiles::check_counting() {
        return testkit::not_permitted(&error.to_string());
    }
    let mut bench = Bench::new();
    let run = bench.begin(&plan("rounds = 3\nquarantine = false\ncount = 1"));
    for _ in 0..2 {
        let ended = bench.carry_out(&run, &FakeProvider::default()).unwrap();
        assert_eq!(ended, Ended::NeedsValgrind);
        let data = bench.load(&run);
        assert_eq!((data.trials.len(), data.info.state), (6, RunState::Unfinished));
    }
}

#[test]
fn profiled_rounds_are_added_to_a_finished_run_and_change_no_verdict() {
    if let Err(error) = profiles::check() {
        return testkit::not_permitted(&error.to_string());
    }
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 3\n{LIMITS}")));
    let error = bench.lab.add_profiled_rounds(&run, 2, false).unwrap_err();
    assert!(matches!(error, LabError::NotFinished(_)), "{error}");
    // Round 4 takes the place of round 2.
    let provider = disturbed("bad", &[2]);
    finished(&mut bench, &run, &provider);
    let before = bench.load(&run);
    bench.lab.add_profiled_rounds(&run, 2, false).unwrap();
    let first = |event: &Event| matches!(event, Event::TrialFinished { .. });
    let (ended, lines) = carried_out(&mut bench, &run, &provider, first);
    assert_eq!(
        (ended.unwrap(), &lines[..]),
        (Ended::Interrupted, &["trial 5-1, 9 of 12".to_owned()][..])
    );
    let lines = finished(&mut bench, &run, &provider);
    assert_eq!(lines, ["trial 5-2, 10 of 12", "trial 6-1, 11 of 12", "trial 6-2, 12 of 12"]);
    assert_eq!(bench.lab.store.profiles(&run).unwrap().len(), 2 * 4);
    let after = bench.load(&run);
    assert_eq!((&after.cells, compare(&after)), (&before.cells, compare(&before)));
    assert_eq!(report::rounds(&after), "3 rounds, 1 run again");
}

#[test]
fn a_finished_run_gets_rounds_until_all_is_decided_and_counts_the_looks() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 2\n{LIMITS}")));
    // Round 3 takes the place of round 1.
    let provider = disturbed("bad", &[1]);
    finished(&mut bench, &run, &provider);
    assert_eq!(bench.load(&run).trials.len(), 6);
    let error = bench.lab.add_rounds(&run, 2).unwrap_err().to_string();
    assert_eq!(error, format!("`--rounds` must be above 2, which run {run} has already"));
    bench.lab.add_rounds(&run, 4).unwrap();
    // Asked for again after an interruption.
    bench.lab.add_rounds(&run, 4).unwrap();
    let lines = finished(&mut bench, &run, &provider);
    // Rounds 2 and 3 are good ones; a verdict needs three.
    let first = "looked after 2 of 4, goes on: true";
    assert_eq!((lines[0].as_str(), lines[1].as_str()), (first, "trial 4-1, 7 of 8"), "{lines:?}");
    let data = bench.load(&run);
    let course = &data.info.plan.course;
    assert_eq!((data.info.plan.rounds, course.first_look), (4, Some(2)));
    assert_eq!(data.info.state, RunState::Finished);
}

#[test]
fn a_run_with_profiled_rounds_gets_no_others() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan("rounds = 1\nquarantine = false"));
    finished(&mut bench, &run, &FakeProvider::default());
    bench.lab.add_profiled_rounds(&run, 1, false).unwrap();
    let error = bench.lab.add_rounds(&run, 4).unwrap_err();
    assert!(matches!(error, LabError::CannotHaveMore(_)), "{error}");
}

#[test]
fn added_rounds_that_cannot_begin_are_taken_back() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan("rounds = 1\nquarantine = false"));
    finished(&mut bench, &run, &FakeProvider::default());
    let planned = bench.load(&run).info.plan;
    for is_profiled in [true, false] {
        let before = if is_profiled {
            bench.lab.add_profiled_rounds(&run, 1, false).unwrap()
        } else {
            bench.lab.add_rounds(&run, 2).unwrap()
        };
        assert_eq!(bench.load(&run).info.state, RunState::Unfinished);
        bench.lab.take_back_added_rounds(&run, &before).unwrap();
        let info = bench.load(&run).info;
        assert_eq!((info.state, &info.plan), (RunState::Finished, &planned));
    }
}

#[test]
fn a_run_goes_on_to_the_last_round_where_nothing_is_decided() {
    let mut bench = Bench::new();
    // Two rounds decide nothing, whatever they say.
    let run = bench.begin(&plan("rounds = { min = 2, max = 3 }\nquarantine = false"));
    let lines = finished(&mut bench, &run, &FakeProvider::default());
    assert_eq!(
        of_rounds(&lines),
        ["looked after 2 of 3, goes on: true", "looked after 3 of 3, goes on: false"]
    );
    assert_eq!(bench.load(&run).trials.len(), 6);
}

#[test]
fn a_run_goes_on_where_the_first_trials_failed() {
    for failing in [&["bad"][..], &["good", "bad"]] {
        let mut bench = Bench::new();
        let run = bench.begin(&plan("rounds = { min = 1, max = 2 }\nquarantine = false"));
        let dies = Fault::from("INSERT", 3, Trouble::Dies);
        let failing =
            failing.iter().fold(FakeProvider::default(), |all, system| all.with(system, dies));
        let in_the_second = |event: &Event| match event {
            Event::TrialStarted { trial, .. } => trial.round == 2,
            _ => false,
        };
        let (ended, _) = carried_out(&mut bench, &run, &failing, in_the_second);
        assert_eq!(ended.unwrap(), Ended::Interrupted);
        let (ended, lines) = carried_out(&mut bench, &run, &FakeProvider::default(), |_| false);
        assert!(matches!(ended, Ok(Ended::Finished { .. })), "{ended:?}");
        assert_eq!(lines.last().unwrap(), "looked after 2 of 2, goes on: false");
    }
}

#[test]
fn a_run_that_was_interrupted_looks_between_whole_rounds_only() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan("rounds = { min = 2, max = 3 }\nquarantine = false"));
    let provider = FakeProvider::default();
    let at_the_look = |event: &Event| matches!(event, Event::Looked { .. });
    let (ended, lines) = carried_out(&mut bench, &run, &provider, at_the_look);
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    assert_eq!(lines.last().unwrap(), "looked after 2 of 3, goes on: true");

    // It looks again, finds the same, and is stopped in the middle of the third round.
    let in_the_third = |event: &Event| match event {
        Event::TrialStarted { trial, .. } => (trial.round, trial.position) == (3, 2),
        _ => false,
    };
    let (ended, lines) = carried_out(&mut bench, &run, &provider, in_the_third);
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    assert_eq!(
        lines,
        ["looked after 2 of 3, goes on: true", "trial 3-1, 5 of 6", "trial 3-2, 6 of 6"]
    );
    assert_eq!(
        finished(&mut bench, &run, &provider),
        ["trial 3-2, 6 of 6", "looked after 3 of 3, goes on: false"]
    );
}

#[test]
fn a_disturbed_round_is_run_again_and_its_numbers_are_in_no_comparison() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 3\n{LIMITS}")));
    let lines = finished(&mut bench, &run, &disturbed("bad", &[2]));
    assert_eq!(of_rounds(&lines), ["4 in place of 2, 1 of 2"]);
    assert_eq!(lines.last().unwrap(), "trial 4-2, 8 of 8");

    let data = bench.load(&run);
    assert_eq!(quarantined(&data), [(2, "bad")]);
    let reasons = data.trials.iter().filter(|trial| trial.outcome.is_quarantined());
    let reasons: Vec<String> = reasons.map(|trial| told(&trial.outcome)).collect();
    assert!(
        reasons[0].starts_with("quarantined: l.i0: other guests took ")
            && reasons[0].ends_with(" % of all CPUs (limit 100 %)"),
        "{reasons:?}"
    );
    let rounds_of = |system: &str| {
        let cells = data.cells.iter().filter(|cell| cell.system == system);
        let mut rounds: Vec<u32> = cells.map(|cell| cell.round).collect();
        rounds.dedup();
        rounds.sort_unstable();
        rounds.dedup();
        rounds
    };
    assert_eq!(rounds_of("good"), [1, 2, 3, 4]);
    assert_eq!(rounds_of("bad"), [1, 3, 4]);
    let compared = compare(&data);
    let rounds: Vec<u32> = compared[0].pairs.iter().map(|(round, _)| *round).collect();
    assert_eq!(rounds, [1, 3, 4]);
    // With SQLite all that is not backslide's is foreign.
    assert!(data.cells.iter().any(|cell| cell.metric.0 == "foreign"));
    // Its work is kept all the same.
    let record = bench.record(&run, 2, "bad", &data.steps[0].id.0);
    assert!(record.kinds.iter().any(|kind| kind.sums.ops > 0), "{record:?}");
}

#[test]
fn a_disturbed_round_is_run_again_twice_at_most() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 3\n{LIMITS}")));
    let lines = finished(&mut bench, &run, &disturbed("good", &[1, 3, 4, 5]));
    assert_eq!(
        of_rounds(&lines),
        ["4 in place of 1, 1 of 2", "5 in place of 1, 2 of 2", "6 in place of 3, 1 of 2"]
    );
    let data = bench.load(&run);
    assert_eq!(data.trials.len(), 12);
    assert_eq!(quarantined(&data), [(1, "good"), (3, "good"), (4, "good"), (5, "good")]);
    let unheard = bench.begin(&plan("rounds = 3\nquarantine = false"));
    let lines = finished(&mut bench, &unheard, &disturbed("good", &[1, 2, 3]));
    assert!(of_rounds(&lines).is_empty());
    assert!(quarantined(&bench.load(&unheard)).is_empty());
}

#[test]
fn a_run_that_was_interrupted_in_a_round_that_is_run_again_goes_on_there() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 2\n{LIMITS}")));
    let provider = disturbed("good", &[1]);
    let in_the_third = |event: &Event| match event {
        Event::TrialStarted { trial, .. } => (trial.round, trial.position) == (3, 2),
        _ => false,
    };
    let (ended, lines) = carried_out(&mut bench, &run, &provider, in_the_third);
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    assert_eq!(of_rounds(&lines), ["3 in place of 1, 1 of 2"]);
    assert_eq!(finished(&mut bench, &run, &provider), ["trial 3-2, 6 of 6"]);
    let data = bench.load(&run);
    assert_eq!(quarantined(&data), [(1, "good")]);
    let order: Vec<(u32, u32)> = data.trials.iter().map(|t| (t.round, t.position)).collect();
    assert_eq!(order, [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]);
}

#[test]
fn looks_count_rounds_that_were_not_disturbed() {
    let mut bench = Bench::new();
    let keys = format!("rounds = {{ min = 2, max = 3 }}\n{LIMITS}");
    let run = bench.begin(&plan(&keys));
    let lines = finished(&mut bench, &run, &disturbed("bad", &[1]));
    assert_eq!(
        of_rounds(&lines),
        [
            "looked after 2 of 3, goes on: true",
            "4 in place of 1, 1 of 2",
            "looked after 3 of 3, goes on: false"
        ]
    );
    assert_eq!(bench.load(&run).trials.len(), 8);
}

#[test]
fn a_trial_that_failed_is_not_run_again() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 2\n{LIMITS}")));
    let provider = disturbed("bad", &[1, 2]).with("bad", Fault::from("INSERT", 3, Trouble::Dies));
    let (ended, lines) = carried_out(&mut bench, &run, &provider, |_| false);
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 2 });
    assert!(of_rounds(&lines).is_empty());
    let failed = |trial: &&model::TrialRecord| matches!(trial.outcome, Outcome::Failed { .. });
    assert_eq!(bench.load(&run).trials.iter().filter(failed).count(), 2);
}

#[test]
fn a_run_whose_base_cannot_complete_ends_and_says_why() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(&format!("rounds = 8\n{LIMITS}")));
    // Its rounds are disturbed, too, which is no reason to run them again.
    let provider = disturbed("bad", &[1, 2]).with("good", Fault::from("INSERT", 3, Trouble::Dies));
    let mut warnings = Vec::new();
    let ended = bench.listen(&run, &provider, &Stop::default(), &mut |event| {
        if let Event::Warning { text } = event {
            warnings.push(text.clone());
        }
    });
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 2 });
    let of_run = |text: &&String| text.contains("first 2 trials") || text.contains("ends early");
    let told: Vec<&String> = warnings.iter().filter(of_run).collect();
    assert_eq!(
        told,
        [
            "good failed in l.i0 in its first 2 trials: it gets no further trials",
            &format!(
                "the run ends early: its base cannot complete, and every comparison needs the base; `backslide show {run}`"
            )
        ]
    );
    let data = bench.load(&run);
    assert_eq!(data.info.state, RunState::Finished);
    assert!(data.trials.iter().all(|trial| trial.round <= 2), "{:?}", data.trials.len());
}
