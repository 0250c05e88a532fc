//! Servers that stand still, and a database in a server that is not ours that another run takes.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{Bench, expand_with, servers, told};
use drivers::{Address, Connector, Endpoint, Login, ServerEndpoint};
use lab::{Builds, Ended, Providers};
use load::Stop;
use model::{Build, Config, Dbms, Dialect, Event, Plan, System};
use rustix::process::{Pid, Signal, kill_process};
use servers::{Instance, InstanceSpec, StopFlag};

fn found(builds: &Builds) -> Vec<Build> {
    let servers = servers(builds);
    if servers.is_empty() {
        testkit::skipped("no server");
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

/// The processes of the only instance: the server and all that it started.
fn processes(instances: &Path) -> Vec<i64> {
    let instance = fs::read_dir(instances).unwrap().next().unwrap();
    let record = fs::read(instance.unwrap().path().join("instance.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let server = record["server"]["pid"].as_i64().unwrap();
    let is_child = |pid: &i64| {
        fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            let rest = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
            rest.is_some_and(|rest| rest.split(' ').nth(1) == Some(&server.to_string()))
        })
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i64>().ok());
    std::iter::once(server).chain(pids.filter(is_child)).collect()
}

fn send(pid: i64, signal: Signal) {
    // A process that has ended by now needs no signal.
    let _gone = kill_process(Pid::from_raw(pid as i32).unwrap(), signal);
}

/// Stops the only instance, as SIGSTOP does.
fn freeze(instances: &Path) {
    for pid in processes(instances) {
        send(pid, Signal::STOP);
    }
}

/// Carries out the plan and freezes its server in the measured step.
fn frozen(plan: &Plan, asks_to_stop: bool) -> (Bench, model::RunId, Ended) {
    let mut bench = Bench::new();
    let run = bench.begin(plan);
    let instances = bench.lab.instances();
    let stop = Stop::default();
    let provider = Providers { stop: stop.clone(), ..Providers::default() };
    let (mut is_measured, mut is_frozen) = (false, false);
    let asked = stop.clone();
    let ended = bench.listen(&run, &provider, &stop, &mut |event| match event {
        // The load is measured, too, and is over too soon.
        Event::StepStarted { step } => is_measured = step.id.0.starts_with("point-query"),
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
        assert!(told.contains("did not answer within 5s and was killed"), "{told}");
    }
}

/// The sessions of the workload end, and what writes at the end of PostgreSQL stands still.
#[test]
fn a_failed_server_that_does_not_stop_is_killed_without_a_second_reason() {
    let builds = Builds::of_user().unwrap();
    for build in found(&builds).iter().filter(|build| build.dbms == Dbms::Postgres) {
        let mut bench = Bench::new();
        let run = bench.begin(&plan_of(&builds, build, 60));
        let instances = bench.lab.instances();
        let (mut is_measured, mut warnings) = (false, Vec::new());
        let ended =
            bench.listen(&run, &Providers::default(), &Stop::default(), &mut |event| match event {
                Event::StepStarted { step } => is_measured = step.id.0.starts_with("point-query"),
                Event::IntervalClosed { .. } if is_measured => {
                    for pid in processes(&instances) {
                        let name = fs::read_to_string(format!("/proc/{pid}/cmdline"));
                        let name = name.unwrap_or_default();
                        if name.contains("postgres: checkpointer") {
                            send(pid, Signal::STOP);
                        } else if name.contains("[local]") {
                            send(pid, Signal::TERM);
                        }
                    }
                }
                Event::Warning { text } => warnings.push(text.clone()),
                _ => {}
            });
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 1 });
        let told = told(&bench.load(&run).trials[0].outcome);
        assert!(
            told.contains("terminating connection") && !told.contains("did not stop"),
            "{told}"
        );
        let killed = "did not stop within 10s after the failure and was killed";
        assert!(warnings.iter().any(|warning| warning.contains(killed)), "{warnings:?}");
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

/// A server that is not ours.
struct Stranger {
    instance: Instance,
    dialect: Dialect,
}

impl Stranger {
    fn in_directory(directory: &Path, build: &Build) -> Self {
        let config = Config { name: "test".to_owned(), ..Config::default() };
        let spec = InstanceSpec {
            system: System { config, ..System::new("a", build.clone()) },
            directory: directory.join("x"),
        };
        let instance = Instance::create(spec, StopFlag::default()).unwrap();
        let mut stranger = Self { instance, dialect: build.dbms.dialect() };
        let first = stranger.connector(stranger.instance.first_database());
        let mut ready = || Ok(first.connect().map(drop)?);
        stranger.instance.start(&mut ready, Duration::from_mins(2)).unwrap();
        stranger
    }

    fn connector(&self, database: &str) -> Box<dyn Connector> {
        let login = Login {
            user: self.instance.superuser().to_owned(),
            password: String::new(),
            database: database.to_owned(),
        };
        let address = Address::Socket(self.instance.endpoint_socket());
        let server = ServerEndpoint::plain(address, login, Duration::from_mins(1));
        drivers::connector(&match self.dialect {
            Dialect::Mysql => Endpoint::Mysql(server),
            Dialect::Postgres | Dialect::Sqlite => Endpoint::Postgres(server),
        })
    }

    /// Where its superuser logs in, at its socket.
    fn address(&self, socket: &Path) -> String {
        format!("{}@{}", self.instance.superuser(), socket.display())
    }
}

/// A plan of one short test, in some words more, of systems that are logged into at these addresses.
fn plan_at(builds: &Builds, build: &Build, keys: &str, addresses: &[String]) -> Plan {
    let system = |(n, address): (usize, &String)| {
        let build = build.dbms;
        format!("[[system]]\nlabel = \"s{n}\"\nbuild = \"{build}\"\nconnect = \"{address}\"\n")
    };
    let systems: String = addresses.iter().enumerate().map(system).collect();
    let text = format!(
        "name = \"taken\"\nrounds = 1\nquarantine = false\n{keys}workload = {{ kind = \"micro\", \
         tables = 1, rows = 1_000, read_seconds = 1, write_seconds = 1, scan_seconds = 1, \
         warmup_seconds = 0, settle = 0, warm_ups = false, tests = [\"point-query\"] }}\n{systems}"
    );
    expand_with(builds, &text)
}

/// Another run has taken the database: its tables are there, and what is measured is no longer ours.
#[test]
fn a_trial_whose_database_was_taken_fails_and_leaves_it_alone() {
    let builds = Builds::of_user().unwrap();
    for build in found(&builds) {
        let directory = tempfile::tempdir().unwrap();
        let stranger = Stranger::in_directory(directory.path(), &build);
        let address = stranger.address(&stranger.instance.endpoint_socket());
        let mut bench = Bench::new();
        let run = bench.begin(&plan_at(&builds, &build, "", &[address]));
        let take = "UPDATE backslide_marker SET owner = 'elsewhere:7', place = 'boot'";
        let ours = || stranger.connector("backslide_ib").connect().unwrap();
        let ended = bench.listen(&run, &Providers::default(), &Stop::default(), &mut |event| {
            if matches!(event, Event::StepStarted { step } if step.id.0.starts_with("point")) {
                ours().execute(take).unwrap();
            }
        });
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 1 });
        let told = told(&bench.load(&run).trials[0].outcome);
        let reason =
            "is no longer the one this run created: it belongs to process 7 on host elsewhere";
        assert!(told.contains(reason), "{told}");
        ours();
        stranger.instance.remove().unwrap();
    }
}

/// All systems of a plan in slices are up at once.
#[test]
fn two_names_of_one_server_are_noticed() {
    let builds = Builds::of_user().unwrap();
    for build in found(&builds) {
        let directory = tempfile::tempdir().unwrap();
        let stranger = Stranger::in_directory(directory.path(), &build);
        let socket = stranger.instance.endpoint_socket();
        let other = directory.path().join("other");
        std::os::unix::fs::symlink(socket.parent().unwrap(), &other).unwrap();
        let other = other.join(socket.file_name().unwrap());
        let addresses = [socket, other].map(|socket| stranger.address(&socket));
        let mut bench = Bench::new();
        let keys = "interleave = \"slices\"\n";
        let run = bench.begin(&plan_at(&builds, &build, keys, &addresses));
        let ended = bench.carry_out(&run, &Providers::default());
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 1 });
        let trials = bench.load(&run).trials;
        let told: Vec<String> = trials.iter().map(|trial| told(&trial.outcome)).collect();
        let reason = "is in use by another system of this run: both addresses lead to one server";
        assert!(told.iter().any(|told| told.contains(reason)), "{told:?}");
        assert!(told.iter().any(|told| told == "completed"), "{told:?}");
        stranger.instance.remove().unwrap();
    }
}
