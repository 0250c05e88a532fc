//! Plans with `template = true`, with the fake Dbms: loaded once, cloned for each trial, looked at each
//! time.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Bench, LOAD_ONLY, RANGES, insert, plan, told};
use lab::{Ended, LabError};
use load::Stop;
use model::{Event, Plan, RunId};
use testkit::{FakeProvider, Fault, Trouble, redact};

/// A plan of `good` and `bad` that loads each once.
fn with_templates(rounds: u32) -> Plan {
    Plan { template: true, ..plan(rounds, RANGES) }
}

/// The same of `good` alone.
fn of_one(rounds: u32) -> Plan {
    let mut plan = with_templates(rounds);
    plan.systems.truncate(1);
    plan
}

/// How often that was done.
fn times(provider: &FakeProvider, what: &str) -> usize {
    let lines = provider.diary().lines();
    lines.iter().filter(|line| *line == what).count()
}

/// What is in the lab's directory of templates: each with its record.
fn templates(bench: &Bench) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(bench.lab.root().join("templates")) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(paths.iter().all(|path| path.join("template.json").exists()));
    paths.sort();
    paths
}

/// Carries a run out; its warnings, except for those of probes, which depend on the machine.
fn warnings(bench: &mut Bench, run: &RunId, provider: &FakeProvider) -> Vec<String> {
    let mut warnings = Vec::new();
    let ended = bench.listen(run, provider, &Stop::default(), &mut |event| match event {
        Event::Warning { text } if text.contains("template") => warnings.push(redact(text)),
        _ => {}
    });
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    warnings
}

#[test]
fn each_system_is_loaded_once_and_cloned_for_each_trial() {
    let mut bench = Bench::new();
    let plan = with_templates(2);
    let run = bench.begin(&plan);
    let provider = FakeProvider::default();
    assert_eq!(bench.carry_out(&run, &provider).unwrap(), Ended::Finished { failed: 0 });
    for system in ["good", "bad"] {
        let times = |what: &str| times(&provider, &format!("site of {system} {what}"));
        let counts = ["opened", "kept", "cloned", "closed"].map(times);
        assert_eq!(counts, [1, 1, 2, 2], "{system}");
    }
    assert!(bench.instances().is_empty());
    assert_eq!(templates(&bench).len(), 2);

    let data = bench.load(&run);
    let order: Vec<(u32, &str)> = data.trials.iter().map(|t| (t.round, &*t.system)).collect();
    let planned = plan.trials();
    let planned = planned.iter().map(|t| (t.round, &*plan.systems[t.system].name));
    assert_eq!(order, planned.collect::<Vec<_>>());
    let steps: Vec<&str> = data.steps.iter().map(|s| s.id.0.as_str()).collect();
    assert_eq!(steps, ["qr100"]);
    for trial in &data.trials {
        let said = |what: &str| {
            let mut all = trial.provenance.0.iter();
            all.find(|(name, _)| name.word().starts_with(what)).map(|(_, text)| redact(text))
        };
        let name = said("template").unwrap();
        assert!(name.contains(", made DATE"), "{name}");
        let loading = said("loading of the template, once for all trials").unwrap();
        let steps: Vec<&str> = loading.lines().map(|l| l.split(':').next().unwrap()).collect();
        assert_eq!(steps, ["l.i0", "l.x"]);
    }

    // Rounds begin with the same rows and go on with others.
    let held = provider.held();
    let of = |prefix: &str| -> Vec<(usize, u64)> {
        let of = held.iter().filter(|held| held.instance.starts_with(prefix));
        of.map(|held| (held.rows, held.checksum)).collect()
    };
    let (loaded, first, second) = (of("r1-0-"), of("r1-1-"), of("r1-2-"));
    assert!([&loaded, &first, &second].iter().all(|pair| pair.len() == 2 && pair[0] == pair[1]));
    // What is loaded, and after a step in which as many rows come as go.
    assert_eq!((loaded[0].0, first[0].0), (2_100, 2_100));
    assert!(loaded[0].1 != first[0].1 && first[0].1 != second[0].1);
}

#[test]
fn the_events_of_a_template_come_before_those_of_trials() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(1));
    let mut seen = Vec::new();
    let provider = FakeProvider::default();
    bench
        .listen(&run, &provider, &Stop::default(), &mut |event| match event {
            Event::TemplateStarted { system } => seen.push(format!("loading {system}")),
            Event::TemplateReady { system, summary } => {
                seen.push(redact(&format!("{system}: {summary}")));
            }
            Event::TrialStarted { trial, .. } => {
                seen.push(format!("trial of {}", trial.system));
            }
            Event::StepFinished { record } => seen.push(format!("  {}", record.step)),
            _ => {}
        })
        .unwrap();
    insta::assert_snapshot!(seen.join("\n"), @r"
    loading bad
      l.i0
      l.x
      settle
    bad: SIZE, loaded in TIME on DATE, made now
    loading good
      l.i0
      l.x
      settle
    good: SIZE, loaded in TIME on DATE, made now
    trial of bad
      warm
      qr100
    trial of good
      warm
      qr100
    ");
}

#[test]
fn another_run_of_the_lab_uses_what_is_there() {
    let mut bench = Bench::new();
    let first = bench.begin(&of_one(1));
    bench.carry_out(&first, &FakeProvider::default()).unwrap();
    let before = templates(&bench);
    let mut other = of_one(1);
    insert(&mut other, |spec| spec.rows_per_query = 20);
    let second = bench.begin(&other);
    let provider = FakeProvider::default();
    assert!(warnings(&mut bench, &second, &provider).is_empty());
    assert_eq!(times(&provider, "site of good opened"), 0);
    assert_eq!(times(&provider, "site of good cloned"), 1);
    assert_eq!(templates(&bench), before);

    // Other rows are another template.
    insert(&mut other, |spec| spec.rows += 100);
    let third = bench.begin(&other);
    let provider = FakeProvider::default();
    bench.carry_out(&third, &provider).unwrap();
    assert_eq!(times(&provider, "site of good opened"), 1);
    assert_eq!(templates(&bench).len(), 2);
}

#[test]
fn a_resumed_run_goes_on_with_its_templates() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(2));
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
    assert_eq!(bench.load(&run).trials.len(), 1);

    let again = FakeProvider::default();
    assert!(warnings(&mut bench, &run, &again).is_empty());
    assert_eq!(times(&again, "site of good opened") + times(&again, "site of bad opened"), 0);
    let names = |data: &model::RunData| -> Vec<String> {
        let trials = data.trials.iter();
        let said = trials.filter_map(|trial| trial.provenance.get(&model::Fact::Template));
        let mut names: Vec<String> = said.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    };
    let data = bench.load(&run);
    assert_eq!((data.trials.len(), names(&data).len()), (4, 2));
}

#[test]
fn a_stop_while_a_template_is_loaded_leaves_nothing_half_made() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(1));
    let provider = FakeProvider::default();
    let stop = Stop::default();
    let asked = stop.clone();
    let mut loading = 0;
    let ended = bench.listen(&run, &provider, &stop, &mut |event| match event {
        Event::TemplateStarted { .. } => loading += 1,
        Event::StepStarted { step } if loading == 2 && step.id.0 == "l.x" => asked.ask(),
        _ => {}
    });
    assert_eq!(ended.unwrap(), Ended::Interrupted);
    assert_eq!(templates(&bench).len(), 1);
    assert!(bench.instances().is_empty() && bench.load(&run).trials.is_empty());

    // A process that was killed leaves more: the next one removes it.
    let half = bench.lab.root().join("templates/.partial-x/data");
    fs::create_dir_all(&half).unwrap();
    let leftover = bench.lab.instances().join("r1-0-1/data");
    fs::create_dir_all(&leftover).unwrap();
    let again = FakeProvider::default();
    assert!(warnings(&mut bench, &run, &again).is_empty());
    assert!(!half.exists() && !leftover.exists());
    assert_eq!(times(&again, "site of good opened") + times(&again, "site of bad opened"), 1);
}

#[test]
fn a_damaged_template_is_made_anew() {
    let damages: [fn(&PathBuf); 4] = [
        |path| fs::remove_file(path.join("data/fake.tables")).unwrap(),
        |path| {
            let file = fs::OpenOptions::new().write(true).open(path.join("data/fake.tables"));
            file.unwrap().set_len(1_000).unwrap();
        },
        |path| fs::write(path.join("data/more"), "x").unwrap(),
        |path| fs::write(path.join("template.json"), "{").unwrap(),
    ];
    let mut bench = Bench::new();
    let first = bench.begin(&of_one(1));
    bench.carry_out(&first, &FakeProvider::default()).unwrap();
    let mut reasons = Vec::new();
    for damage in damages {
        let one = templates(&bench).remove(0);
        damage(&one);
        let run = bench.begin(&of_one(1));
        let provider = FakeProvider::default();
        let mut said = warnings(&mut bench, &run, &provider);
        assert_eq!(said.len(), 1, "{said:?}");
        reasons.push(said.remove(0));
        assert_eq!(times(&provider, "site of good opened"), 1);
        assert_eq!(templates(&bench).len(), 1);
    }
    insta::assert_snapshot!(reasons.join("\n"), @"
    the template of good is damaged, backslide makes it again: expected SIZE in 1 file, found SIZE in 0 files
    the template of good is damaged, backslide makes it again: expected SIZE in 1 file, found SIZE in 1 file
    the template of good is damaged, backslide makes it again: expected SIZE in 1 file, found SIZE in 2 files
    the template of good is damaged, backslide makes it again: template.json: EOF while parsing an object at line 1 column 1
    ");
}

#[test]
fn a_template_that_changes_within_a_run_is_told() {
    let mut bench = Bench::new();
    let run = bench.begin(&of_one(2));
    let stop = Stop::default();
    let asked = stop.clone();
    let provider = FakeProvider::default();
    bench
        .listen(&run, &provider, &stop, &mut |event| {
            if let Event::TrialFinished { .. } = event {
                asked.ask();
            }
        })
        .unwrap();
    for template in templates(&bench) {
        fs::remove_dir_all(template).unwrap();
    }
    // Templates are told apart by the second in which they were made.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let said = warnings(&mut bench, &run, &FakeProvider::default());
    insta::assert_snapshot!(said.join("\n"), @"the template of good differs from the one that earlier trials began with: it has the same rows, not the same bytes");
}

#[test]
fn what_cannot_be_loaded_fails_its_trials_and_is_tried_once() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(2));
    let refused = Trouble::Refuses { code: "1071", message: "key too long" };
    let fault = Fault::from("CREATE INDEX", 2, refused);
    let provider = FakeProvider::default().with("bad", fault);
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 2 });
    assert_eq!(times(&provider, "site of bad opened"), 1);
    let data = bench.load(&run);
    let (good, bad): (Vec<_>, Vec<_>) = data.trials.iter().partition(|t| t.system == "good");
    assert!(good.iter().all(|trial| trial.outcome.is_completed()));
    assert_eq!(bad.len(), 2);
    insta::assert_snapshot!(told(&bad[1].outcome), @r"
    l.x: its template could not be loaded: create index 1: error 1071: key too long (in `CREATE INDEX pi1_registe`)
      | fake: ready for connections
    ");
    assert_eq!(templates(&bench).len(), 1);
    assert!(bench.instances().is_empty());
}

#[test]
fn a_server_that_does_not_stop_cleanly_leaves_no_template() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(1));
    let provider = FakeProvider::default().with("bad", Fault::CloseFails);
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 1 });
    let data = bench.load(&run);
    let bad = data.trials.iter().find(|trial| trial.system == "bad").unwrap();
    insta::assert_snapshot!(redact(&told(&bad.outcome)), @r"
    outside the steps: its template could not be loaded: fake did not stop within TIME and was killed
      | fake: ready for connections
    ");
    assert_eq!(templates(&bench).len(), 1);
}

#[test]
fn a_clone_with_other_rows_fails_before_anything_is_measured() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(1));
    let provider = FakeProvider::default().with("bad", Fault::ClonesBadly);
    bench.carry_out(&run, &provider).unwrap();
    let data = bench.load(&run);
    let bad = data.trials.iter().find(|trial| trial.system == "bad").unwrap();
    insta::assert_snapshot!(told(&bad.outcome), @r"
    warm: wrong answers: MAX(transactionid) of pi1: expected 2100, found 2099; rows in pi1: expected 2100, found 2099; rows in index 1 of pi1: expected 2100, found 2099; rows in index 2 of pi1: expected 2100, found 2099; rows in index 3 of pi1: expected 2100, found 2099
      | fake: ready for connections
    ");
}

#[test]
fn templates_that_take_more_than_they_may_are_refused_before_anything_starts() {
    let mut bench = Bench::new();
    let run = bench.begin(&of_one(1));
    bench.lab.template_budget = Some(model::Bytes(1 << 20));
    let provider = FakeProvider::default();
    let error = bench.carry_out(&run, &provider).unwrap_err();
    assert!(matches!(error, LabError::TemplateBudget { .. }));
    insta::assert_snapshot!(redact(&error.to_string()), @"the templates of this plan need about SIZE, and may take SIZE: allow more (--template-budget), choose a smaller scale or fewer systems, or leave `template` out of the plan");
    assert!(provider.diary().lines().is_empty());
    // With room for them it goes on.
    bench.lab.template_budget = Some(model::Bytes(1 << 30));
    assert!(warnings(&mut bench, &run, &provider).is_empty());
}

#[test]
fn a_workload_without_queries_is_loaded_by_each_trial() {
    let mut bench = Bench::new();
    // Plan files that say so are refused; a plan may come from elsewhere.
    let plan = Plan { template: true, ..plan(1, LOAD_ONLY) };
    let run = bench.begin(&plan);
    let provider = FakeProvider::default();
    bench.carry_out(&run, &provider).unwrap();
    assert_eq!(times(&provider, "site of good opened"), 1);
    assert!(templates(&bench).is_empty());
    assert_eq!(bench.load(&run).steps.len(), 3);
}

#[test]
fn loading_anew_adds_nothing_to_a_trial_that_failed_before() {
    let mut bench = Bench::new();
    let run = bench.begin(&with_templates(2));
    let fault = Fault::from("SELECT productid", 1, Trouble::Dies);
    let provider = FakeProvider::default().with("bad", fault);
    let root = bench.lab.root().join("templates");
    bench
        .listen(&run, &provider, &Stop::default(), &mut |event| {
            if let Event::TrialFinished { outcome, .. } = event
                && !outcome.is_completed()
            {
                let _ = fs::remove_dir_all(&root);
                fs::create_dir_all(&root).unwrap();
            }
        })
        .unwrap();
    assert!(times(&provider, "site of bad opened") > 1);
    // Neither its own step, which failed, nor those of the loading after it count as done in it.
    let records = bench.records(&run, 1, "bad");
    let steps: Vec<&str> = records.iter().map(|record| record.step.0.as_str()).collect();
    assert!(!steps.contains(&"qr100") && !steps.contains(&"l.i0"), "{steps:?}");
}
