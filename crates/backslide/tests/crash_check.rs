//! `crash-check` with SQLite, whose terminals are killed in a process of their own.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{Bench, end, signal, wait_for};
use rustix::process::Signal;

/// A check of seconds.
const SMALL: [&str; 7] =
    ["crash-check", "sqlite", "--warehouses", "1", "--clients", "2", "--seconds"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

/// The processes that a process started, by the ids and what they run.
fn children(pid: u32) -> Vec<(u32, String)> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let children = processes.filter_map(|entry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (parent == pid.to_string()).then_some((child, line))
    });
    children.collect()
}

/// The process of the terminals of a check, once it writes its log.
fn terminals(bench: &Bench, check: u32) -> u32 {
    wait_for("an acknowledged commit", || {
        let log = bench.instances().pop()?.join("acknowledged.log");
        (fs::metadata(log).ok()?.len() > 0).then_some(())
    });
    let children = children(check);
    let [(pid, line)] = children.as_slice() else {
        panic!("one process was expected: {children:?}");
    };
    assert!(line.contains("crash-terminals"), "{line}");
    *pid
}

fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let rest = stat.rsplit_once(") ").map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with(['Z', 'X']))
    })
}

#[test]
fn nothing_is_lost_and_programs_are_told_all_of_it() {
    let bench = Bench::new();
    let more = ["3", "--times", "2", "--config", "rollback", "--format", "json"];
    let outcome = bench.run(&arguments(&more)).json();
    assert_eq!(outcome["verdict"], "nothing lost");
    assert_eq!(outcome["durability"], "survives a crash of the machine");
    assert_eq!(outcome["found"], serde_json::Value::Null);
    assert_eq!(
        (&outcome["warehouses"], &outcome["clients"], &outcome["items"]),
        (&1.into(), &2.into(), &10_000.into())
    );
    let kills = outcome["kills"].as_array().unwrap();
    assert_eq!(kills.len(), 2);
    for (number, kill) in (1_u64..).zip(kills) {
        assert_eq!(kill["kill"], number);
        assert_eq!((&kill["missing"], &kill["gone"]), (&0.into(), &0.into()));
        assert!(kill["orders"].as_u64().unwrap() > 0, "{kill}");
        assert!(kill["payments"].as_u64().unwrap() > 0, "{kill}");
        assert!(kill["not_acknowledged"].as_u64().unwrap() <= 2, "{kill}");
        assert!(kill["conditions"].as_u64().unwrap() >= 12, "{kill}");
        assert_eq!(kill["broken"].as_array().unwrap().len(), 0);
        let after = kill["after_seconds"].as_f64().unwrap();
        assert!((1.0..=3.0).contains(&after), "{kill}");
    }
    assert!(bench.instances().is_empty());
}

#[test]
fn people_are_told_what_it_means_and_what_it_does_not() {
    let bench = Bench::new();
    let ran = bench.run(&arguments(&["2", "--config", "wal"]));
    assert_eq!(ran.code(), 0, "{ran:?}");
    for text in [
        "nothing lost: all ",
        "With the settings of sqlite/wal, a commit survives a crash of the server, not of the machine.",
        "this does not test a crash of the machine.",
    ] {
        assert!(ran.stdout.replace('\n', " ").contains(text), "{}", ran.stdout);
    }
    for text in [
        "sqlite/wal: loading 1 warehouse of 10,000 items and 300 customers a district, a tenth",
        "kill 1 of 1: after ",
    ] {
        assert!(ran.stderr.contains(text), "{}", ran.stderr);
    }
}

#[test]
fn interrupted_it_leaves_nothing() {
    let bench = Bench::new();
    let child = bench.start(&arguments(&["600"]));
    let pid = terminals(&bench, child.id());
    signal(&child, Signal::INT);
    let ran = end(child);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
    assert!(!runs(pid));
    assert!(bench.instances().is_empty());
    assert!(!bench.lab().join("logs").exists(), "it is no failure");
}

#[test]
fn killed_itself_it_leaves_no_process_and_the_next_one_tidies_up() {
    let bench = Bench::new();
    let child = bench.start(&arguments(&["600"]));
    let pid = terminals(&bench, child.id());
    signal(&child, Signal::KILL);
    end(child);
    wait_for("the end of the terminals", || (!runs(pid)).then_some(()));
    assert_eq!(bench.instances().len(), 1);
    let ran = bench.run(&arguments(&["2"]));
    assert_eq!(ran.code(), 0, "{ran:?}");
    assert!(bench.instances().is_empty());
}

#[test]
fn what_cannot_be_is_told() {
    let bench = Bench::new();
    let ran = bench.run(&["crash-check", "sqlite", "--warehouses", "0"]);
    assert_eq!(ran.code(), 2, "{ran:?}");
    let ran = bench.run(&["crash-check", "mysql-3.23"]);
    assert_eq!(ran.code(), 1, "{ran:?}");
    let ran = bench.run(&["crash-check", "sqlite", "--set", "synchronous=perhaps"]);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains("synchronous"), "{}", ran.stderr);
    let ran = bench.run(&["crash-terminals"]);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains("no request of a crash check"), "{}", ran.stderr);
    assert!(bench.instances().is_empty());
}
