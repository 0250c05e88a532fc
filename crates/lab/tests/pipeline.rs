//! From a plan to a report with the fake Dbms: what happens in which order, what is kept, what is
//! done again.

mod common;

use std::collections::BTreeMap;

use common::{ALL_STEPS, Bench, LOAD_ONLY, RANGES, compare, insert, plan, to_report};
use lab::{Ended, Lab, LabError};
use load::Stop;
use model::{Event, RunState};
use testkit::FakeProvider;

#[test]
fn a_plan_becomes_a_report() {
    let mut bench = Bench::new();
    let plan = plan(2, ALL_STEPS);
    let run = bench.begin(&plan);
    let provider = FakeProvider::default();
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 0 });

    let data = bench.load(&run);
    assert_eq!(data.info.state, RunState::Finished);
    let order: Vec<(u32, u32, &str)> =
        data.trials.iter().map(|t| (t.round, t.position, t.system.as_str())).collect();
    let planned = plan.trials();
    let planned = planned.iter().map(|t| {
        let system = plan.systems[t.system].name.as_str();
        (t.round, t.position, system)
    });
    assert_eq!(order, planned.collect::<Vec<_>>());
    assert!(data.trials.iter().all(|t| t.outcome.is_completed()));
    let steps: Vec<&str> = data.steps.iter().map(|s| s.id.0.as_str()).collect();
    assert_eq!(steps, ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"]);

    let comparisons = compare(&data);
    assert_eq!(comparisons.len(), steps.len());
    assert!(comparisons.iter().all(|c| c.ratio.is_some() && c.rounds == 2));
    let input = to_report(&data, &comparisons);
    let markdown = report::Report::new(&input).markdown();
    assert!(steps.iter().all(|step| markdown.contains(step)), "{markdown}");
    assert!(report::Report::new(&input).html().contains("good"));
    assert!(bench.instances().is_empty());
}

#[test]
fn systems_of_a_round_get_the_same_rows_and_rounds_get_others() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(2, LOAD_ONLY));
    let provider = FakeProvider::default();
    bench.carry_out(&run, &provider).unwrap();
    let mut rounds: BTreeMap<String, Vec<(usize, u64)>> = BTreeMap::new();
    for held in provider.held() {
        let (round, _position) = held.instance.rsplit_once('-').unwrap();
        let round = rounds.entry(round.to_owned()).or_default();
        round.push((held.rows, held.checksum));
    }
    let rounds: Vec<_> = rounds.into_values().collect();
    // What is loaded and not deleted: 2,000 rows and the 100 that `l.x` begins with.
    assert!(rounds.iter().flatten().all(|(rows, _)| *rows == 2_100));
    assert_eq!(rounds[0][0], rounds[0][1]);
    assert_eq!(rounds[1][0], rounds[1][1]);
    assert_ne!(rounds[0][0].1, rounds[1][0].1);
}

#[test]
fn one_trial_in_order() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, RANGES));
    let provider = FakeProvider::default();
    let diary = provider.diary();
    bench
        .listen(&run, &provider, &Stop::default(), &mut |event| {
            diary.note(line(event));
        })
        .unwrap();
    let mut lines = provider.diary().lines();
    // What a probe cannot read here is told, and is another thing on each machine.
    lines.retain(|line| !line.starts_with("warning: "));
    lines.dedup();
    let trial = lines.split(|line| line.starts_with("trial finished")).next().unwrap();
    insta::assert_snapshot!(trial.join("\n"), @r#"
    trial started: round 1, 1 of 2
    site of bad opened
    ready: Provenance([(ServerVersion, "fake 1.0")])
    site asked for its variables
    captured Before l.i0
    step l.i0 started: ["insert"]
    seconds stored
    step l.i0 finished
    site asked for its variables
    captured After l.i0
    captured Before l.x
    step l.x started: ["create_index", "insert"]
    seconds stored
    step l.x finished
    site asked for its variables
    captured After l.x
    captured Before settle
    step settle started: ["settle"]
    seconds stored
    step settle finished
    site asked for its variables
    captured After settle
    captured Before qr100
    step qr100 started: ["query", "insert", "delete", "min_pk"]
    seconds stored
    step qr100 finished
    site asked for its variables
    captured After qr100
    site of bad closed
    "#);
}

/// An event in one line. Seconds of a step are one line, because a slow machine has more of them.
fn line(event: &Event) -> String {
    match event {
        Event::TemplateStarted { system } => format!("template of {system} started"),
        Event::TemplateReady { system, .. } => format!("template of {system} ready"),
        Event::TrialStarted { trial, index, of } => {
            format!("trial started: round {}, {index} of {of}", trial.round)
        }
        Event::ServerReady { provenance } => format!("ready: {provenance:?}"),
        Event::StepStarted { step } => {
            let kinds: Vec<&str> = step.kinds.iter().map(|kind| kind.name.as_str()).collect();
            format!("step {} started: {kinds:?}", step.id)
        }
        Event::IntervalClosed { .. } => "seconds stored".to_owned(),
        Event::Captured { step, moment, .. } => format!("captured {moment:?} {step}"),
        Event::StepFinished { record } => format!("step {} finished", record.step),
        Event::TrialFinished { trial, outcome } => {
            format!("trial finished: {}, {outcome:?}", trial.system)
        }
        Event::Turn { trial } => format!("turn of {}", trial.system),
        Event::Sliced { .. } => "slices stored".to_owned(),
        Event::Profiled { .. } => "stacks stored".to_owned(),
        Event::Looked { rounds, goes_on, .. } => {
            format!("looked after {rounds}, goes on: {goes_on}")
        }
        Event::RoundAgain { round, disturbed, .. } => {
            format!("round {round} in place of {disturbed}")
        }
        Event::Warning { text } => format!("warning: {text}"),
    }
}

#[test]
fn a_stop_in_the_middle_loses_only_the_trial_under_way() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(2, RANGES));
    let provider = FakeProvider::default();
    let stop = Stop::default();
    let asked = stop.clone();
    let mut trials = 0;
    let ended = bench.listen(&run, &provider, &stop, &mut |event| match event {
        Event::TrialStarted { .. } => trials += 1,
        Event::StepStarted { step } if trials == 2 && step.id.0 == "qr100" => asked.ask(),
        _ => {}
    });
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    let before = bench.load(&run);
    assert_eq!(before.info.state, RunState::Unfinished);
    assert_eq!(before.trials.len(), 1);
    assert!(bench.instances().is_empty(), "the site was not closed");

    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 0 });
    let after = bench.load(&run);
    assert_eq!(after.trials.len(), 4);
    assert_eq!(after.trials[0], before.trials[0], "a finished trial was done again");
    let kept = |data: &model::RunData| -> Vec<model::Cell> {
        let first = &before.trials[0];
        let of_first =
            data.cells.iter().filter(|c| c.round == first.round && c.system == first.system);
        of_first.cloned().collect()
    };
    assert_eq!(kept(&before), kept(&after));
    // Five databases for four trials: the one that was interrupted was made anew.
    let held = provider.held();
    assert_eq!(held.len(), 5);
    assert_eq!(held[1].instance, held[2].instance);
}

#[test]
fn a_stop_before_the_first_trial_starts_nothing() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, LOAD_ONLY));
    let provider = FakeProvider::default();
    let stop = Stop::default();
    stop.ask();
    let ended = bench.listen(&run, &provider, &stop, &mut |_| ()).unwrap();
    assert_eq!(ended, Ended::Interrupted);
    assert!(provider.diary().lines().is_empty());
}

#[test]
fn two_runs_in_one_lab_are_refused_by_name() {
    let mut bench = Bench::new();
    let plan = plan(1, LOAD_ONLY);
    let run = bench.begin(&plan);
    let root = bench.lab.root().to_owned();
    let mut refused = Vec::new();
    bench
        .listen(&run, &FakeProvider::default(), &Stop::default(), &mut |event| {
            if let Event::StepStarted { .. } = event {
                let mut second = Lab::open(&root).unwrap();
                refused.push(second.begin(&plan, "0.0.0").unwrap_err());
                let provider = FakeProvider::default();
                let stop = Stop::default();
                let resumed = second.carry_out(&run, &provider, &stop, &mut |_| ());
                refused.push(resumed.unwrap_err());
            }
        })
        .unwrap();
    assert!(refused.len() >= 2);
    for error in refused {
        let LabError::Busy { path, owner } = &error else {
            panic!("{error}");
        };
        assert_eq!((path, owner), (&root, &std::process::id().to_string()));
    }
    // The lock goes with the run: the next one may begin.
    bench.begin(&plan);
}

#[test]
fn a_finished_run_is_not_resumed() {
    let mut bench = Bench::new();
    let run = bench.begin(&plan(1, LOAD_ONLY));
    let provider = FakeProvider::default();
    bench.carry_out(&run, &provider).unwrap();
    let error = bench.carry_out(&run, &provider).unwrap_err();
    assert!(matches!(&error, LabError::Finished(id) if *id == run));
    insta::assert_snapshot!(error, @"run r1 is finished; nothing is left to resume. Trials that failed stay failed: begin a new run");
    assert_eq!(provider.held().len(), 2);
}

#[test]
fn a_plan_too_large_for_the_disk_starts_nothing() {
    let mut bench = Bench::new();
    let mut plan = plan(1, LOAD_ONLY);
    insert(&mut plan, |spec| spec.rows = 100_000_000_000);
    let error = bench.lab.begin(&plan, "0.0.0").unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the plan needs about 14.8 TiB of disk, "), "{text}");
    assert!(text.ends_with("free; use a smaller scale or --lab elsewhere"), "{text}");
    assert!(bench.lab.store.runs().unwrap().is_empty());
    assert!(bench.instances().is_empty());
}
