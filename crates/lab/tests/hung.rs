//! Servers that stand still, and a database in a server that is not ours that another run takes.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{Bench, expand_with, servers, told};
use drivers::{Address, Endpoint, Login, ServerEndpoint};
use lab::{Builds, Ended, Providers};
use load::Stop;
use model::{Build, Config, Dialect, Event, Plan};
use rustix::process::{Pid, Signal, kill_process};
use servers::{Instance, InstanceSpec};

fn found(builds: &Builds) -> Vec<Build> {
    let servers = servers(builds);
    if servers.is_empty() {
        eprintln!("skipped: no server");
    }
    servers
}

/// One step of one test that lasts as long as the test program.
fn plan_of(builds: &Builds, build: &Build, statement_timeout: u32) -> Plan {
    let text = format!(
        "name = \"hung\"\nrounds = 1\nquarantine = false\nworkload = {{ kind = \"micro\", tables = 1, \
         rows = 1_000, read_seconds = 600, write_seconds = 1, scan_seconds = 1, warmup_seconds = 0, \
         settle = 0, warm_ups = false, statement_timeout = {statement_timeout}, \
         tests = [\"point-query\"] }}\n[[system]]\nbuild = \"{}\"\nconfig = \"quick\"\n",
        build.id()
    );
    expand_with(builds, &text)
}

/// Stops the server of the only instance and all that it started, as SIGSTOP does.
fn freeze(instances: &Path) {
    let instance = fs::read_dir(instances).unwrap().next().unwrap();
    let record = fs::read(instance.unwrap().path().join("instance.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let server = record["server"]["pid"].as_i64().unwrap();
    let is_child = |pid: i64| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            let rest = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
            rest.is_some_and(|rest| rest.split(' ').nth(1) == Some(&server.to_string()))
        })
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i64>().ok());
    for pid in std::iter::once(server).chain(pids.filter(|pid| is_child(*pid))) {
        // A process that has ended by now needs no signal.
        let _gone = kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::STOP);
    }
}

/// Carries out the plan and freezes its server in the measured step.
fn frozen(plan: &Plan, asks_to_stop: bool) -> (Bench, model::RunId, Ended) {
    let mut bench = Bench::new();
    let run = bench.begin(plan);
    let instances = bench.lab.instances();
    let stop = Stop::default();
    let provider = Providers {
        stop: stop.clone(),
        ..Providers::default()
    };
    let (mut is_measured, mut is_frozen) = (false, false);
    let asked = stop.clone();
    let ended = bench.listen(&run, &provider, &stop, &mut |event| match event {
        // The load is measured, too, and is over too soon.
        Event::StepStarted { step, .. } => is_measured = step.0.starts_with("point-query"),
        Event::IntervalClosed { .. } if is_measured && !is_frozen => {
            freeze(&instances);
            is_frozen = true;
            if asks_to_stop {
                asked.ask();
            }
        }
        _ => {}
    });
    assert!(is_frozen);
    assert!(bench.instances().is_empty());
    (bench, run, ended.unwrap())
}

#[test]
fn a_server_that_stands_still_is_killed_once_its_trial_has_failed() {
    let builds = Builds::of_user().unwrap();
    for build in found(&builds) {
        let (bench, run, ended) = frozen(&plan_of(&builds, &build, 3), false);
        assert_eq!(ended, Ended::Finished { failed: 1 });
        let told = told(&bench.load(&run).trials[0].outcome);
        assert!(
            told.contains("did not answer within 5s and was killed"),
            "{told}"
        );
    }
}

/// The statement may take a day: without the wish to stop the test would not end.
#[test]
fn a_wish_to_stop_reaches_clients_that_wait_for_a_server_that_stands_still() {
    let builds = Builds::of_user().unwrap();
    for build in found(&builds) {
        let (bench, run, ended) = frozen(&plan_of(&builds, &build, 86_400), true);
        assert_eq!(ended, Ended::Interrupted);
        assert!(bench.load(&run).trials.is_empty());
    }
}

/// Another run has taken the database: its tables are there, and what is measured is no longer ours.
#[test]
fn a_trial_whose_database_was_taken_fails_and_leaves_it_alone() {
    let builds = Builds::of_user().unwrap();
    for build in found(&builds) {
        let directory = tempfile::tempdir().unwrap();
        let mut stranger = Instance::create(InstanceSpec {
            build: build.clone(),
            engine: build.dbms.default_engine(),
            config: Config {
                left_out: Vec::new(),
                name: "test".to_owned(),
                summary: String::new(),
                settings: Vec::new(),
            },
            directory: directory.path().join("x"),
            server_cpus: String::new(),
            preload: String::new(),
            huge_pages: false,
            tcp: false,
            tls: false,
        })
        .unwrap();
        let (socket, user) = (stranger.endpoint_socket(), stranger.superuser());
        let session = |database: &str| {
            let login = Login {
                user: user.to_owned(),
                password: String::new(),
                database: database.to_owned(),
            };
            let server = ServerEndpoint::plain(
                Address::Socket(socket.clone()),
                login,
                Duration::from_mins(1),
            );
            let endpoint = match build.dbms.dialect() {
                Dialect::Mysql => Endpoint::Mysql(server),
                Dialect::Postgres | Dialect::Sqlite => Endpoint::Postgres(server),
            };
            drivers::connector(&endpoint).connect()
        };
        let first = stranger.first_database();
        let mut ready = || session(first).map(drop).map_err(|error| error.to_string());
        stranger.start(&mut ready, Duration::from_mins(2)).unwrap();
        let text = format!(
            "name = \"taken\"\nrounds = 1\nquarantine = false\nworkload = {{ kind = \"micro\", \
             tables = 1, rows = 1_000, read_seconds = 1, write_seconds = 1, scan_seconds = 1, \
             warmup_seconds = 0, settle = 0, warm_ups = false, tests = [\"point-query\"] }}\n\
             [[system]]\nbuild = \"{}\"\nconnect = \"{user}@{}\"\n",
            build.dbms,
            socket.display()
        );
        let mut bench = Bench::new();
        let run = bench.begin(&expand_with(&builds, &text));
        let take = "UPDATE backslide_marker SET owner = 'elsewhere:7', place = 'boot'";
        let ended = bench.listen(
            &run,
            &Providers::default(),
            &Stop::default(),
            &mut |event| {
                if matches!(event, Event::StepStarted { step, .. } if step.0.starts_with("point")) {
                    session("backslide_ib").unwrap().execute(take).unwrap();
                }
            },
        );
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 1 });
        let told = told(&bench.load(&run).trials[0].outcome);
        let reason =
            "is no longer the one that this run made: it belongs to process 7 on host elsewhere";
        assert!(told.contains(reason), "{told}");
        session("backslide_ib").unwrap();
        stranger.remove().unwrap();
    }
}
