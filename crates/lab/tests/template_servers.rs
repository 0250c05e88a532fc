//! Plans with `template = true` on the servers that are installed here.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::PathBuf;

use common::{Bench, told};
use lab::{Builds, Ended, Providers};
use load::Stop;
use model::{Dbms, Event, Plan, RunData};
use plan::Catalog;

/// A plan with these keys, of the servers that were found among those of the products.
fn plan(keys: &str, products: &[Dbms]) -> Option<Plan> {
    let depot = obtain::Depot::new("no depot".into());
    let builds = Builds::new(Catalog::embedded().unwrap(), depot);
    let found = |dbms: &&Dbms| builds.found().iter().any(|build| build.dbms == **dbms);
    let servers: Vec<&Dbms> = products.iter().filter(found).collect();
    if servers.is_empty() {
        testkit::skipped("no server");
        return None;
    }
    let mut text = format!("name = \"templates\"\nquarantine = false\ntemplate = true\n{keys}\n");
    for dbms in servers {
        text += "[[system]]\nconfig = \"quick\"\nbuild = \"";
        text += dbms.name();
        text += "\"\n";
    }
    let file = plan::read(&text, "templates.toml").unwrap();
    let host = model::HostShape { cpus: 2, memory: model::Bytes(8 << 30) };
    Some(builds.expand(&file, host).unwrap())
}

/// What happened in a session.
#[derive(Default)]
struct Session {
    loaded: Vec<String>,
    warnings: Vec<String>,
    /// The steps of each trial, by its system.
    trials: Vec<(String, Vec<String>)>,
}

fn carry_out(bench: &mut Bench, run: &model::RunId, trials: usize) -> (Ended, Session) {
    let (mut session, stop) = (Session::default(), Stop::default());
    let ended = bench.lab.carry_out(run, &Providers::default(), &stop, &mut |event| match event {
        Event::TemplateStarted { system } => session.loaded.push(system.clone()),
        Event::Warning { text } if text.contains("template") => {
            session.warnings.push(text.clone());
        }
        Event::TrialStarted { trial, .. } => {
            if session.trials.len() == trials {
                stop.ask();
            }
            session.trials.push((trial.system.clone(), Vec::new()));
        }
        Event::StepFinished { record } => {
            if let Some((_, steps)) = session.trials.last_mut() {
                steps.push(record.step.to_string());
            }
        }
        _ => {}
    });
    (ended.unwrap(), session)
}

fn failures(data: &RunData) -> Vec<String> {
    let failed = data.trials.iter().filter(|trial| !trial.outcome.is_completed());
    failed.map(|trial| format!("{}: {}", trial.system, told(&trial.outcome))).collect()
}

/// Every file below the lab's templates, by its name.
fn files(bench: &Bench) -> Vec<PathBuf> {
    let mut open = vec![bench.lab.root().join("templates")];
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn servers_go_on_from_clones_of_what_they_loaded() {
    let keys = r#"
        workload = { kind = "insert", scale = "tiny", clients = 2, rows = 3_000, i1_rows = 400, i2_rows = 100, rates = [100], queries = ["range"], settle = 0 }
        rounds = 2
    "#;
    let products = [Dbms::Mysql, Dbms::Mariadb, Dbms::Postgres];
    let Some(plan) = plan(keys, &products) else { return };
    let mut bench = Bench::new();
    let run = bench.begin(&plan);
    let systems = plan.systems.len();

    // Stopped in the second round, then resumed: nothing is loaded again.
    let (ended, first) = carry_out(&mut bench, &run, systems + 1);
    assert_eq!(ended, Ended::Interrupted, "{:?}", failures(&bench.load(&run)));
    assert_eq!(first.loaded.len(), systems);
    let (ended, second) = carry_out(&mut bench, &run, usize::MAX);
    let data = bench.load(&run);
    assert_eq!(ended, Ended::Finished { failed: 0 }, "{:?}", failures(&data));
    assert!(second.loaded.is_empty() && second.warnings.is_empty());
    assert_eq!(second.trials.len(), systems - 1);
    let trials = first.trials.iter().take(systems + 1).chain(&second.trials);
    for (system, steps) in trials.filter(|(_, steps)| !steps.is_empty()) {
        assert_eq!(steps, &["warm", "qr100"], "{system}");
    }

    assert_eq!(data.trials.len(), 2 * systems);
    for trial in &data.trials {
        let said = |what: &str| trial.provenance.0.iter().find(|(name, _)| name.word() == what);
        let (_, cloned) = said("cloned").unwrap();
        assert!(cloned.contains(" files by "), "{cloned}");
        assert!(said("template").is_some());
    }
    // Stopped cleanly: nothing that a running server keeps is in a template.
    let names: Vec<String> = files(&bench)
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into())
        .collect();
    assert!(names.iter().any(|name| name == "template.json"));
    for live in ["postmaster.pid", "server.pid"] {
        assert!(!names.iter().any(|name| name == live), "{live}");
    }
    assert!(bench.instances().is_empty());

    // Another run begins with the same templates: no trial has touched them.
    let run = bench.begin(&plan);
    let (ended, again) = carry_out(&mut bench, &run, 0);
    assert_eq!(ended, Ended::Interrupted);
    assert!(again.loaded.is_empty() && again.warnings.is_empty(), "{:?}", again.warnings);
}

#[test]
fn two_counted_rounds_of_updates_of_an_index_execute_as_many_instructions() {
    if let Err(error) = profiles::check_counting() {
        return testkit::not_permitted(&error.to_string());
    }
    let keys = r#"
        workload = { kind = "micro", tests = ["update-index"], rows = 2_000, write_seconds = 1, warm_ups = false, warmup = "fixed", warmup_seconds = 0, settle = 0 }
        rounds = 1
        count = 2
    "#;
    let Some(plan) = plan(keys, &[Dbms::Mariadb]) else { return };
    let mut bench = Bench::new();
    let run = bench.begin(&plan);
    let (ended, _) = carry_out(&mut bench, &run, usize::MAX);
    assert_eq!(ended, Ended::Finished { failed: 0 }, "{:?}", failures(&bench.load(&run)));
    // Purge would merge pages that clients split again, as often as time has it: the two would differ by up to a half.
    let profiled = bench.lab.store.profiles(&run).unwrap();
    let each: Vec<f64> = profiled
        .iter()
        .map(|one| one.profile.samples() as f64 / one.record.kinds[0].sums.ops as f64)
        .collect();
    assert!(each.len() == 2 && (each[0] / each[1] - 1.0).abs() < 0.03, "{each:?}");
}
