//! Every way in which clients can reach the servers of this machine: over TCP, encrypted, compressed,
//! pipelined, many at once; and what is told when it cannot be had.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::time::{Duration, Instant};

use common::{Bench, expand_with, servers, told};
use lab::{Builds, Ended, LabError, Providers};
use load::Stop;
use model::{Build, Dbms, Event, RunData, RunId};

/// The servers that are here.
fn found() -> Vec<Build> {
    let servers = servers(&Builds::of_user().unwrap());
    if servers.is_empty() {
        testkit::skipped("no server");
    }
    servers
}

/// The beginning of the table of a system of that build.
fn of(build: &Build) -> String {
    format!("build = \"{}\"\nconfig = \"quick\"\n", build.id())
}

/// A plan of one round of microbenchmarks; each system is a label and the rest of its table.
fn plan_of(workload: &str, systems: &[(&str, String)]) -> model::Plan {
    let mut text = format!(
        "name = \"ways\"\nrounds = 1\nquarantine = false\nworkload = {{ kind = \"micro\", tables = 2, rows = 1_000, \
         read_seconds = 1, write_seconds = 1, scan_seconds = 1, warmup_seconds = 0, \
         settle = 0, warm_ups = false, statement_timeout = 30, {workload} }}\n"
    );
    for (label, rest) in systems {
        text.extend(["[[system]]\nlabel = \"", label, "\"\n", rest, "\n"]);
    }
    expand_with(&Builds::of_user().unwrap(), &text)
}

/// Carries out a plan; what it held, its warnings.
fn carried_out(bench: &mut Bench, run: &RunId) -> (RunData, Vec<String>) {
    let mut warnings = Vec::new();
    let ended = bench.listen(run, &Providers::default(), &Stop::default(), &mut |event| {
        if let Event::Warning { text } = event {
            warnings.push(text.clone());
        }
    });
    let ended = ended.unwrap();
    let data = bench.load(run);
    for trial in &data.trials {
        let told = told(&trial.outcome);
        assert!(trial.outcome.is_completed(), "{}: {told}", trial.system);
    }
    assert_eq!(ended, Ended::Finished { failed: 0 });
    assert!(bench.instances().is_empty());
    (data, warnings)
}

fn said<'a>(data: &'a RunData, system: &str, what: &str) -> &'a str {
    let trial = data.trials.iter().find(|t| t.system == system).unwrap();
    let said = trial.provenance.0.iter().find(|(name, _)| name.word() == what);
    said.map_or("nothing", |(_, text)| text)
}

#[test]
fn every_way_reaches_the_server_and_its_provenance_says_which() {
    let tests = r#"tests = ["point-query", "read-write_range=10"]"#;
    for build in found() {
        let dbms = build.dbms;
        let way = |connection: &str| format!("{}connection = {{ {connection} }}", of(&build));
        let mut systems = vec![("socket", of(&build)), ("tcp", way("transport = \"tcp\""))];
        if dbms == Dbms::Postgres {
            systems.push(("described", way("describe = true")));
            let all = "transport = \"tcp\", tls = true, pipeline = true, describe = true";
            systems.push(("all", way(all)));
        } else {
            systems.push(("encrypted socket", way("tls = true")));
            let all = "transport = \"tcp\", tls = true, compression = true, pipeline = true";
            systems.push(("all", way(all)));
        }
        let mut bench = Bench::new();
        let run = bench.begin(&plan_of(tests, &systems));
        let (data, _) = carried_out(&mut bench, &run);
        assert_eq!(said(&data, "socket", "transport"), "Unix socket");
        assert_eq!(said(&data, "socket", "TLS"), "off");
        assert_eq!(said(&data, "tcp", "transport"), "TCP to 127.0.0.1");
        assert_eq!(said(&data, "tcp", "TLS"), "off");
        assert_eq!(said(&data, "all", "transport"), "TCP to 127.0.0.1");
        assert!(said(&data, "all", "TLS").starts_with("TLSv1."));
        assert_eq!(said(&data, "all", "pipelined statements"), "on");
        if dbms == Dbms::Postgres {
            assert_eq!(said(&data, "socket", "described portals"), "nothing");
            assert_eq!(said(&data, "described", "described portals"), "on");
        } else {
            assert_eq!(said(&data, "all", "compression"), "on");
            assert!(said(&data, "encrypted socket", "TLS").starts_with("TLSv1."));
        }
        // Whatever the way, the data is the same.
        let checks = |system: &str| bench.record(&run, 1, system, "load").checks;
        for (system, _) in &systems {
            assert_eq!(checks(system), checks("socket"), "{dbms} {system}");
        }
    }
}

#[test]
fn the_loaded_rows_are_the_same_on_every_dbms() {
    let mut systems: Vec<(String, String)> = Vec::new();
    for build in found() {
        systems.push((build.id(), of(&build)));
    }
    if systems.is_empty() {
        return;
    }
    systems.push(("sqlite".to_owned(), "build = \"sqlite\"\nconfig = \"wal\"".to_owned()));
    let systems: Vec<(&str, String)> =
        systems.iter().map(|(label, rest)| (label.as_str(), rest.clone())).collect();
    let workload = r#"tests = ["point-query"], load = { clients = 2 }"#;
    let mut bench = Bench::new();
    let run = bench.begin(&plan_of(workload, &systems));
    carried_out(&mut bench, &run);
    let checksums = |system: &str| -> Vec<String> {
        let checks = bench.record(&run, 1, system, "load").checks.into_iter();
        let checksums = checks.filter(|check| check.what.contains("checksum"));
        checksums.map(|check| check.actual).collect()
    };
    let of_sqlite = checksums("sqlite");
    assert_eq!(of_sqlite.len(), 2, "one for each table");
    for (system, _) in &systems {
        assert_eq!(checksums(system), of_sqlite, "{system}");
    }
}

#[test]
fn two_hundred_clients_at_once_where_the_server_takes_so_many() {
    for build in found() {
        let system = |set: &str| vec![("many", of(&build) + set)];
        let workload = r#"tests = ["point-query"], clients = 200"#;
        let mut bench = Bench::new();
        let run = bench.begin(&plan_of(workload, &system("")));
        let refused = bench.carry_out(&run, &Providers::default()).unwrap_err();
        assert!(matches!(refused, LabError::System { .. }), "{refused}");
        let refused = refused.to_string();
        let needed = if build.dbms == Dbms::Postgres { 204 } else { 201 };
        let line = format!("add `max_connections = {needed}` to the system's `set`");
        assert!(refused.contains(&line), "{refused}");
        let set = format!("set = {{ max_connections = {needed} }}");
        let run = bench.begin(&plan_of(workload, &system(&set)));
        let (data, _) = carried_out(&mut bench, &run);
        let rate = data.cells.iter().find(|cell| cell.metric.0 == "rate");
        assert!(rate.unwrap().value > 0.0);
    }
}

#[test]
fn sixty_four_clients_on_one_row_end_without_a_failure() {
    for build in found() {
        let workload = r#"tests = ["update-one", "write-only_range=10000"], clients = 64"#;
        let mut bench = Bench::new();
        let mut plan = plan_of(workload, &[("storm", of(&build))]);
        // The transactions fight for the same few rows, too.
        common::sql(&mut plan, |spec| spec.tables[0].copies = 2);
        let run = bench.begin(&plan);
        let (data, _) = carried_out(&mut bench, &run);
        assert!(data.cells.iter().any(|cell| cell.step.0.starts_with("update-one")));
    }
}

/// A server of ours is killed under clients that would reconnect for ten minutes.
#[test]
fn a_server_of_ours_that_is_killed_fails_its_trial_at_once() {
    for build in found() {
        let workload =
            r#"tests = ["point-query"], clients = 4, errors = { reconnect_seconds = 600 }"#;
        let mut plan = plan_of(workload, &[("killed", of(&build))]);
        common::sql(&mut plan, |spec| {
            for step in &mut spec.steps {
                if let model::SqlWork::Run(run) = &mut step.work {
                    run.seconds = 60;
                }
            }
        });
        let mut bench = Bench::new();
        let run = bench.begin(&plan);
        let instances = bench.lab.instances();
        let mut killed = None;
        let mut is_measured = false;
        let ended =
            bench.listen(&run, &Providers::default(), &Stop::default(), &mut |event| match event {
                // What comes before may take seconds, too.
                Event::StepStarted { step } => is_measured = step.measured,
                Event::IntervalClosed { interval }
                    if is_measured && interval.index == 1 && killed.is_none() =>
                {
                    kill_server(&instances);
                    killed = Some(Instant::now());
                }
                _ => {}
            });
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 1 });
        let took = killed.unwrap().elapsed();
        assert!(took < Duration::from_secs(30), "{took:?}");
        let data = bench.load(&run);
        let told = told(&data.trials[0].outcome);
        assert!(told.contains("signal: 9 (SIGKILL)"), "{told}");
        assert!(told.starts_with("point-query: "), "{told}");
    }
}

/// Kills the server of the only instance, as its record names it.
fn kill_server(instances: &std::path::Path) {
    let instance = std::fs::read_dir(instances).unwrap().next().unwrap();
    let record = std::fs::read(instance.unwrap().path().join("instance.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let pid = record["server"]["pid"].as_i64().unwrap() as i32;
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn what_cannot_be_had_is_told_before_the_first_round() {
    let servers = found();
    let Some(build) = servers.iter().find(|build| build.dbms == Dbms::Mariadb) else {
        return;
    };
    // It starts, and offers nothing that is still safe to use.
    let rest = of(build) + "connection = { tls = true }\nset = { tls_version = \"TLSv1.0\" }";
    let mut bench = Bench::new();
    let run = bench.begin(&plan_of(r#"tests = ["point-query"]"#, &[("tls", rest)]));
    let mut trials = 0;
    let refused = bench.listen(&run, &Providers::default(), &Stop::default(), &mut |event| {
        trials += u32::from(matches!(event, Event::TrialStarted { .. }));
    });
    let refused = refused.unwrap_err();
    assert!(matches!(refused, LabError::System { .. }), "{refused}");
    assert!(refused.to_string().contains("cannot open a session for the workload"), "{refused}");
    assert_eq!(trials, 0);
    assert!(bench.instances().is_empty());
}
