//! Counted rounds of what runs inside backslide.

mod common;

use std::process::Command;

use common::Bench;

const PLAN: &str = r#"
name = "counted"
rounds = 1
count = 1
quarantine = false

[workload]
kind = "micro"
tests = ["point-query"]
rows = 1_000
read_seconds = 1
warm_ups = false
warmup = "fixed"
warmup_seconds = 0
settle = 0

[[system]]
build = "sqlite"
config = "wal"

[[system]]
build = "sqlite"
config = "rollback"
"#;

#[test]
fn backslide_goes_on_under_valgrind_and_counts_what_its_clients_execute() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return testkit::not_permitted("no Valgrind");
    }
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    let ran = bench.run(&["run", "plan.toml"]);
    assert_eq!(ran.stdout.lines().last(), Some("r1"), "{ran:?}");
    let why = bench.run(&["explain", "r1", "--format", "json"]).json();
    let steps = why["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["step"] == "point-query").unwrap();
    assert_eq!((&step["of"], &step["rounds"]), (&"instructions".into(), &1.into()));
    let functions = step["functions"].as_array().unwrap();
    let is_of_sqlite = |name: &str| name.starts_with("sqlite3");
    assert!(functions.iter().any(|line| is_of_sqlite(line["name"].as_str().unwrap())), "{why}");
    // The store works in other threads.
    assert!(step["time"]["base"].as_f64().unwrap() < 100_000.0, "{why}");
}
