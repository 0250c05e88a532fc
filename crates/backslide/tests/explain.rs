//! `backslide explain`: two systems of a run, or two that are started for it.

mod common;

use std::collections::BTreeSet;

use common::{Bench, WORKLOAD, plan};
use insta::assert_snapshot;
use model::Dbms;

const WAL: &str = "build = \"sqlite\"\nconfig = \"wal\"";
const ROLLBACK: &str = "build = \"sqlite\"\nconfig = \"rollback\"";

/// A lab with one run of two systems.
fn with_a_run() -> Bench {
    let bench = Bench::new();
    let file = bench.write("p.toml", &plan(WORKLOAD, 1, &[WAL, ROLLBACK]));
    bench.run(&["run".as_ref(), file.as_os_str()]).fine();
    bench
}

#[test]
fn two_systems_of_a_run() {
    let bench = with_a_run();
    let arguments = ["explain", "r1", "--variables", "sqlite/wal", "sqlite/rollback"];
    let ran = bench.run(&arguments);
    assert_snapshot!(ran.stderr, @"from run r1, before its first step");
    assert_snapshot!(ran.fine(), @r"
    A  sqlite/wal
    B  sqlite/rollback
    0 changed defaults, 0 new, 0 gone, 2 on purpose; 2 of them are known to affect performance.

    These settings differ and affect fairness
      durability of a commit
          A  survives a crash of the server, not of the machine
          B  survives a crash of the machine

    On purpose      A       B
    both configs set it
      synchronous   normal  full
      journal_mode  wal     delete
    ");
    // The latest run has both, so that it need not be named.
    let ran = bench.run(&["explain", "--variables", "sqlite/wal", "sqlite/rollback"]);
    assert!(ran.stderr.contains("from run r1"), "{ran:?}");

    // However the lines are broken.
    let shown = bench.run(&["show"]).fine();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let warned = "durability of a commit: survives a crash of the server, not of the machine (sqlite/wal); survives a crash of the machine (sqlite/rollback)";
    assert!(shown.contains(warned), "{shown}");
    bench.run(&["report", "-o", "r.md"]).fine();
    let report = std::fs::read_to_string(bench.path("r.md")).unwrap();
    assert!(report.contains("> - **durability of a commit**"), "{report}");
}

#[test]
fn for_programs() {
    let bench = with_a_run();
    let pair = ["--variables", "sqlite/wal", "sqlite/rollback"];
    let arguments = [&["explain", "--format", "json"], &pair[..]].concat();
    let output = bench.run(&arguments).json();
    let fields = |value: &serde_json::Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let top: BTreeSet<String> = set(&["from", "a", "b", "comparable", "differences", "unequal"]);
    assert_eq!(fields(&output), top);
    let difference = &output["differences"][0];
    let of_difference: BTreeSet<String> =
        set(&["name", "was", "kind", "group", "a", "b", "set_by", "matters"]);
    assert_eq!(fields(difference), of_difference);
    assert_eq!(difference["name"], "synchronous");
    assert_eq!(difference["kind"], "on purpose");
    assert_eq!(difference["a"], "1");
    assert_eq!(difference["set_by"]["b"], true);
    let warning = &output["unequal"][0];
    let of_warning: BTreeSet<String> = set(&["condition", "sides", "text"]);
    assert_eq!(fields(warning), of_warning);
    assert_eq!(warning["condition"], "durability of a commit");
    assert_eq!(warning["sides"][1]["systems"][0], "sqlite/rollback");
}

#[test]
fn systems_that_no_run_has_are_started() {
    let bench = Bench::new();
    let ran = bench.run(&["explain", "--variables", "sqlite/wal", "sqlite/default"]);
    assert!(ran.stderr.contains("starting sqlite/default"), "{ran:?}");
    assert!(ran.stderr.contains("from servers started for this"), "{ran:?}");
    assert!(ran.fine().contains("only the config of A sets it"));
    assert_eq!(bench.instances(), Vec::<std::path::PathBuf>::new());
}

/// A server with its own defaults and with a config, both started for this.
#[test]
fn a_server_and_its_config() {
    let found = servers::discover();
    let Some(build) = found.iter().find(|b| b.dbms == Dbms::Postgres) else {
        testkit::skipped("no PostgreSQL");
        return;
    };
    let bench = Bench::new();
    let (a, b) = (build.id(), format!("{}/quick", build.id()));
    let text = bench.run(&["explain", "--variables", &a, &b]).fine();
    let on_purpose = text.split_once("only the config of B sets it").unwrap().1;
    assert!(on_purpose.contains("synchronous_commit"), "{text}");
    assert!(on_purpose.contains("256MB"), "{text}");
    assert!(text.contains("\n0 changed defaults"), "{text}");
    assert!(!text.contains("Only in"), "{text}");
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert_eq!(bench.instances(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_cannot_be_explained() {
    let bench = with_a_run();
    let error = |arguments: &[&str]| {
        let ran = bench.run(arguments);
        assert_eq!(ran.code(), 1, "{ran:?}");
        ran.stderr.trim_end().to_owned()
    };
    assert_snapshot!(error(&["explain", "r1", "--variables", "sqlite/wal", "sqlite/x"]), @"error: run r1 has no system `sqlite/x`; it has sqlite/wal, sqlite/rollback");
    assert_snapshot!(error(&["explain", "r1", "--variables", "sqlite", "sqlite/wal"]), @"error: `sqlite` is ambiguous: it matches sqlite/wal, sqlite/rollback in run r1");
    assert_snapshot!(error(&["explain", "--variables", "8.0.33", "9.7.4"]), @"error: no run of this lab has exactly one system that `8.0.33` matches; to start one, add the Dbms: mysql-8.0.33");
    let unknown = error(&["explain", "--variables", "sqlite/wal", "sqlite/z12a"]);
    assert!(
        unknown.starts_with("error: SYSTEM: config `z12a` is for mysql and mariadb; sqlite has:"),
        "{unknown}"
    );
    assert_snapshot!(error(&["explain", "--variables", "mysql-8.0.33", "mysql-8.0.33"]), @"error: `mysql-8.0.33` is named twice: name two different systems");
    assert_eq!(bench.run(&["explain", "--variables", "sqlite"]).code(), 2);
    assert_eq!(bench.run(&["explain"]).code(), 2);
}
