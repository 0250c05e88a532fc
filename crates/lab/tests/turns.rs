//! Rounds in turns: every step alternates, of embedded systems and of real servers, which stand still meanwhile.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Bench, expand, expand_with, told};
use lab::{Builds, Ended, Providers};
use load::Stop;
use model::{Dbms, Event, RunData, RunId};
use plan::Catalog;
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Fault, SpoiledProvider, Trouble};

/// The keys of a plan in turns of the systems `good` and `bad`.
fn plan(workload: &str, system: &str) -> String {
    plan_of(workload, [system, system])
}

fn plan_of(workload: &str, [good, bad]: [&str; 2]) -> String {
    format!(
        r#"
        name = "turns"
        workload = {{ {workload} }}
        rounds = 1
        interleave = "turns"
        slice_ms = 200
        quarantine = false
        seed = 7
        base = "good"
        [[system]]
        {good}
        label = "good"
        [[system]]
        {bad}
        label = "bad"
        "#
    )
}

const SQLITE: &str = "build = \"sqlite\"\nconfig = \"wal\"";

const INSERT: &str = r#"kind = "insert", scale = "tiny", rows = 2_000, i1_rows = 400, i2_rows = 100, rates = [100], statement_timeout = 5"#;
const MICRO: &str = r#"kind = "micro", tables = 2, rows = 1_000, read_seconds = 1, write_seconds = 1, warmup_seconds = 0, settle = 0, statement_timeout = 5, warm_ups = false, tests = ["update-index"]"#;
const TPCC: &str = r#"kind = "tpcc", warehouses = 1, items = 1_000, customers = 300, clients = 2, steps = 1, seconds = 1, warmup_seconds = 0, settle = 0"#;

fn assert_all_completed(data: &RunData) {
    for trial in &data.trials {
        assert!(trial.outcome.is_completed(), "{}: {}", trial.system, told(&trial.outcome));
    }
}

/// Carries a run out; the systems whose intervals followed another one's in a step.
fn carry_out(bench: &mut Bench, run: &RunId) -> usize {
    let (mut turn, mut last, mut changes) = (String::new(), None, 0);
    let provider = Providers::default();
    let ended = bench.listen(run, &provider, &Stop::default(), &mut |event| match event {
        Event::Turn { trial } => trial.system.clone_into(&mut turn),
        Event::StepFinished { .. } => last = None,
        Event::IntervalClosed { .. } => {
            let before = last.replace(turn.clone());
            changes += usize::from(before.is_some_and(|before| before != turn));
        }
        _ => {}
    });
    assert_all_completed(&bench.load(run));
    assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
    changes
}

/// Every step of both systems has its window and its note.
fn assert_in_turns(data: &RunData) {
    let notes = data.notes.iter().filter(|note| note.what.word() == "turns");
    // The settle phase is among them, and none of the measured steps.
    assert!(notes.count() >= 2 * data.steps.len(), "{:?}", data.notes);
}

fn try_embedded(workload: &str) {
    let mut bench = Bench::new();
    let run = bench.begin(&expand(&plan(workload, SQLITE)));
    assert!(carry_out(&mut bench, &run) > 2);
    assert_in_turns(&bench.load(&run));
    assert!(bench.instances().is_empty());
}

#[test]
fn the_insert_benchmark_alternates_in_every_step() {
    try_embedded(INSERT);
}

#[test]
fn writes_alternate_and_are_compared_pair_by_pair() {
    let mut bench = Bench::new();
    let run = bench.begin(&expand(&plan(MICRO, SQLITE)));
    assert!(carry_out(&mut bench, &run) >= 5);
    let data = bench.load(&run);
    assert_in_turns(&data);
    let rates = data.slices.iter().filter(|slice| slice.metric.0 == "rate");
    let updates = rates.filter(|slice| slice.step.0 == "update-index");
    // None of a system that did nothing in one of its turns.
    assert_eq!(updates.count() % 5, 0);
}

#[test]
fn the_tpcc_like_workload_alternates_in_every_step() {
    try_embedded(TPCC);
}

#[test]
fn a_system_that_fails_leaves_the_others_to_go_on() {
    let mut bench = Bench::new();
    let run = bench.begin(&expand(&plan(MICRO, SQLITE)));
    let fault = Fault::from("UPDATE", 50, Trouble::Dies);
    let provider = SpoiledProvider::default().with("bad", fault);
    let ended = bench.carry_out(&run, &provider).unwrap();
    assert_eq!(ended, Ended::Finished { failed: 1 });
    let data = bench.load(&run);
    for trial in &data.trials {
        assert_eq!(trial.outcome.is_completed(), trial.system == "good", "{}", trial.system);
    }
}

#[test]
fn a_system_checks_its_data_when_the_windows_of_all_are_closed() {
    let mut bench = Bench::new();
    let workload = INSERT.replace("scale", r#"steps = ["l.i0"], scale"#);
    let run = bench.begin(&expand(&plan(&workload, SQLITE)));
    let slow = Fault::from("INSERT", 1, Trouble::Slow(Duration::from_millis(25)));
    let provider = SpoiledProvider::default().with("bad", slow);
    assert_eq!(bench.carry_out(&run, &provider).unwrap(), Ended::Finished { failed: 0 });
    let sent = provider.in_order();
    let last = |of: &str| sent.iter().rposition(|(system, word)| system == of && word == "INSERT");
    let (good, bad) = (last("good").unwrap(), last("bad").unwrap());
    assert!(good < bad, "the slow one was done first");
    let between = &sent[good + 1..bad];
    assert!(between.iter().all(|(system, _)| system == "bad"), "{between:?}");
    assert!(sent[bad..].iter().any(|(system, word)| system == "good" && word == "SELECT"));
}

/// Two of each server that was found here, with a workload.
fn try_servers(workload: &str, check: impl Fn(&mut Bench, &RunId)) {
    try_beside(None, workload, check);
}

/// Each server that was found here and another system, if not its copy, with a workload.
fn try_beside(other: Option<&str>, workload: &str, check: impl Fn(&mut Bench, &RunId)) {
    let builds = Builds::new(Catalog::embedded().unwrap(), obtain::Depot::new("no depot".into()));
    let found = |dbms: &Dbms| builds.found().iter().any(|build| build.dbms == *dbms);
    let servers = [Dbms::Mariadb, Dbms::Postgres];
    if !servers.iter().all(found) {
        testkit::skipped("no server");
    }
    for dbms in servers.into_iter().filter(found) {
        let system = format!("build = \"{}\"\nconfig = \"quick\"", dbms.name());
        let mut bench = Bench::new();
        let systems = [other.unwrap_or(&system), &system];
        let run = bench.begin(&expand_with(&builds, &plan_of(workload, systems)));
        check(&mut bench, &run);
        assert!(bench.instances().is_empty());
    }
}

#[test]
fn servers_stand_still_between_their_turns() {
    try_servers(INSERT, |bench, run| {
        assert!(carry_out(bench, run) > 2);
        assert_in_turns(&bench.load(run));
    });
    try_servers(MICRO, |bench, run| {
        assert!(carry_out(bench, run) >= 5);
        assert_in_turns(&bench.load(run));
    });
}

#[test]
fn a_server_takes_turns_with_an_embedded_engine() {
    try_beside(Some(SQLITE), MICRO, |bench, run| {
        assert!(carry_out(bench, run) >= 5);
        assert_in_turns(&bench.load(run));
    });
}

#[test]
fn several_clients_of_an_embedded_engine_come_to_the_edges_of_their_operations() {
    try_embedded(&MICRO.replace("tables", "clients = 4, tables"));
}

#[test]
fn a_stop_ends_servers_that_stand_still() {
    try_servers(MICRO, |bench, run| {
        let stop = Stop::default();
        let asked = stop.clone();
        let mut intervals = 0;
        let ended = bench.listen(run, &Providers::default(), &stop, &mut |event| {
            if let Event::IntervalClosed { .. } = event {
                intervals += 1;
                if intervals == 3 {
                    asked.ask();
                }
            }
        });
        assert_eq!(ended.unwrap(), Ended::Interrupted);
    });
}

/// The server of the trial at this place of the round.
fn server(instances: &Path, run: &RunId, position: u32) -> i32 {
    let directory = instances.join(format!("{run}-1-{position}"));
    let record = std::fs::read(directory.join("instance.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    record["server"]["pid"].as_i64().unwrap() as i32
}

/// How often threads of a process have had a CPU so far.
fn switches(pid: i32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let statuses = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("status")));
    let numbers = |status: &str| -> u64 {
        let lines = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
        lines.map(|(_, number)| number.trim().parse::<u64>().unwrap()).sum()
    };
    statuses.map(|status| numbers(&status.unwrap())).sum()
}

#[test]
fn a_server_stands_still_while_the_others_are_made() {
    try_servers(MICRO, |bench, run| {
        let instances = bench.lab.instances();
        let (mut position, mut seen) = (0, Vec::new());
        let provider = Providers::default();
        let ended = bench.listen(run, &provider, &Stop::default(), &mut |event| {
            if let Event::TrialStarted { trial, .. } = event {
                position = trial.position;
            }
            if position == 2 && seen.len() < 2 {
                seen.push(switches(server(&instances, run, 1)));
            }
        });
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 0 });
        // When the second trial started, and when its server was ready.
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0], seen[1]);
    });
}

#[test]
fn a_server_that_dies_frozen_fails_its_trial_alone() {
    try_servers(MICRO, |bench, run| {
        let instances = bench.lab.instances();
        let (mut turn, mut is_measured, mut died) = (0, false, None);
        let provider = Providers::default();
        let ended = bench.listen(run, &provider, &Stop::default(), &mut |event| match event {
            Event::Turn { trial } => turn = trial.position,
            Event::StepStarted { step } => is_measured = step.id.0 == "update-index",
            // Events come when all of them stand still.
            Event::IntervalClosed { .. } if is_measured && died.is_none() => {
                let other = 3 - turn;
                let pid = Pid::from_raw(server(&instances, run, other)).unwrap();
                kill_process(pid, Signal::KILL).unwrap();
                died = Some(other);
            }
            _ => {}
        });
        assert_eq!(ended.unwrap(), Ended::Finished { failed: 1 });
        for trial in &bench.load(run).trials {
            let is_dead = Some(trial.position) == died;
            assert_eq!(trial.outcome.is_failed(), is_dead, "{}", told(&trial.outcome));
            assert!(
                !is_dead || told(&trial.outcome).contains("signal: 9 (SIGKILL)"),
                "{}",
                told(&trial.outcome)
            );
        }
    });
}
