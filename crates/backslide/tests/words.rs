//! What people type, and mean: short forms, names of other tools, slips.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fmt::Write;
use std::fs;

use common::{Bench, plan};
use insta::assert_snapshot;

/// Two systems and a control, in five rounds; the control's rates spread, so that they decide nothing.
fn results() -> String {
    let mut text = String::from("system,step,metric,value,round\n");
    for (round, noise) in (1..).zip([0.0, 40.0, -35.0, 20.0, -25.0]) {
        for (system, rate, noise) in
            [("mysql-8.0.31", 100.0, 0.0), ("mysql-9.7.4", 80.0, 0.0), ("control", 100.0, noise)]
        {
            for metric in ["rate", "d/o", "r/o", "w/o"] {
                let value = rate + noise + f64::from(round) / 10.0;
                writeln!(text, "{system},point,{metric},{value},{round}").unwrap();
            }
        }
    }
    text
}

/// A lab with one run, which was imported.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("results.csv", &results());
    let ran = bench.run(&["import", "results.csv"]);
    assert_eq!(ran.code(), 0, "{ran:?}");
    bench
}

fn error(bench: &Bench, arguments: &[&str]) -> String {
    let ran = bench.run(arguments);
    assert_eq!(ran.code(), 1, "{ran:?}");
    ran.stderr.trim_end().to_owned()
}

#[test]
fn metrics_of_other_tools_lead_to_ours() {
    let bench = bench();
    for metric in ["qps", "tps", "throughput"] {
        assert_eq!(
            error(&bench, &["compare", "--metric", metric]),
            format!(
                "error: no metric `{metric}`; nearest `rate`; `all` is every metric of the run"
            )
        );
    }
}

#[test]
fn a_lab_is_never_in_the_temporary_directory() {
    let bench = Bench::new();
    let told = |variable: &str, home: &str| {
        let command = &mut bench.command(&["list"]);
        let output = command.env_remove("BACKSLIDE_LAB").env(variable, home).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(told("HOME", "/h").contains("/h/.local/share/backslide"));
    assert!(told("XDG_DATA_HOME", "/x").contains("/x/backslide"));
    // Without either it is in the home of the user database, if the user is in it. There may be a lab.
    let left = || fs::read_dir(bench.path("")).unwrap().count();
    let before = left();
    bench.command(&["list"]).env_remove("BACKSLIDE_LAB").output().unwrap();
    assert_eq!(left(), before);
}

#[test]
fn the_number_of_a_run_is_enough() {
    let bench = bench();
    for verb in ["show", "export"] {
        let whole = bench.run(&[verb, "r1"]).fine();
        assert_eq!(bench.run(&[verb, "1"]).fine(), whole);
    }
    let by_number = bench.run(&["compare", "1"]);
    assert_eq!(by_number.code(), 10, "{by_number:?}");
    assert_eq!(bench.run(&["history", "1"]).code(), 0);
    assert!(error(&bench, &["show", "7"]).contains("has no run r7;"));
}

#[test]
fn an_export_of_an_unknown_kind_is_refused_and_not_written() {
    let bench = bench();
    assert_snapshot!(error(&bench, &["export", "-o", "x.xlsx"]), @"error: x.xlsx does not say which format: end it in .csv, .jsonl, .parquet, .hlog, .om, .folded or .pprof, or use --format");
    assert!(!bench.path("x.xlsx").exists());
    bench.run(&["export", "-o", "x.xlsx", "--format", "csv"]).fine();
    bench.run(&["export", "-o", "without"]).fine();
    assert_eq!(fs::read(bench.path("x.xlsx")).unwrap(), fs::read(bench.path("without")).unwrap());
}

#[test]
fn a_run_is_shown_to_programs() {
    let bench = bench();
    let run = bench.run(&["show", "--format", "json"]).json();
    assert_eq!(run["run"], "r1");
    assert_eq!(run["state"], "finished");
    assert_eq!(run["base"], "mysql-8.0.31");
    assert_eq!(run["imported"], true);
    assert_eq!(run["steps"], serde_json::json!(["point"]));
    let roles: Vec<&str> =
        run["systems"].as_array().unwrap().iter().map(|s| s["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["base", "candidate", "control"]);
    assert_eq!(run["systems"][1]["version"], "9.7.4");
    let trials = run["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 15);
    assert!(trials.iter().all(|trial| trial["outcome"] == "completed"));
    let fields: Vec<&String> = trials[0].as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 9, "{fields:?}");
}

#[test]
fn a_failed_trial_is_shown_to_programs_with_its_reason() {
    let bench = Bench::new();
    // Twenty pages hold no table of 2,000 rows.
    let text = plan(common::WORKLOAD, 1, &["build = \"sqlite\"\nset = { max_page_count = 20 }"]);
    bench.write("full.toml", &text);
    assert_eq!(bench.run(&["run", "full.toml"]).code(), 20);
    let run = bench.run(&["show", "--format", "json"]).json();
    let trial = &run["trials"][0];
    assert_eq!(trial["outcome"], "failed");
    assert!(trial["reason"].as_str().unwrap().contains("full"), "{trial}");
    assert!(trial["step"].is_string(), "{trial}");
}

#[test]
fn a_control_asks_for_no_more_rounds() {
    let bench = bench();
    let told = bench.run(&["compare", "--all"]).stdout;
    assert!(told.contains("noise of a copy of the base"), "{told}");
    assert!(!told.contains("more rounds"), "{told}");
}

#[test]
fn a_run_without_a_plan_says_that_it_needs_a_plan_and_nothing_else() {
    let ran = Bench::new().run(&["run"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr.contains("<PLAN>"), "{ran:?}");
    assert!(!ran.stderr.contains("--lab"), "{ran:?}");
}

#[test]
fn a_built_in_plan_does_not_warn_of_itself() {
    let bench = Bench::new();
    let shown = bench.run(&["plan", "micro-smoke"]).fine();
    assert!(!shown.contains("a verdict needs"), "{shown}");
    // A plan of the same kind that somebody wrote does.
    let systems = ["build = \"sqlite\"", "build = \"sqlite\"\nconfig = \"wal\""];
    bench.write("mine.toml", &plan(common::WORKLOAD, 1, &systems));
    let shown = bench.run(&["plan", "mine.toml"]).fine();
    assert!(shown.contains("a verdict needs 3 rounds"), "{shown}");
}

#[test]
fn explain_takes_two_systems_or_a_run_and_two_systems() {
    let bench = bench();
    let told = error(&bench, &["explain", "r1", "mysql-8.0.31", "x"]);
    assert_eq!(told, "error: run r1 has no system `x`; it has mysql-8.0.31, mysql-9.7.4, control");
    assert_eq!(error(&bench, &["explain", "1", "mysql-8.0.31", "x"]), told);
    assert_snapshot!(error(&bench, &["explain", "mysql-8.0.31"]), @"error: name a run with profiles or two systems: `backslide explain RUN`, `explain A B` or `explain RUN A B`");
    assert_eq!(bench.run(&["explain"]).code(), 2);
    assert_snapshot!(error(&bench, &["explain", "r1"]), @"error: run r1 has no profiles of two systems: `backslide profile r1` adds them");
    assert_snapshot!(error(&bench, &["export", "r1", "-o", "x.folded"]), @"error: run r1 has no profiles: `backslide profile r1` adds them");
}

#[test]
fn what_cannot_be_set_is_refused_by_the_plan_with_its_line() {
    let bench = Bench::new();
    for (set, reason) in [
        (
            "datadir = \"/x\"",
            "setting `datadir` belongs to backslide, which isolates its servers with it: leave it out",
        ),
        (
            "port = 3306",
            "setting `port` belongs to backslide, which isolates its servers with it: leave it out",
        ),
        (
            "sync_binlog = \"0\\nport=1\"",
            "setting `sync_binlog` has a line break or another control character in its value",
        ),
    ] {
        let systems = [format!("build = \"mysql-8.0.33\"\nset = {{ {set} }}")];
        bench.write("mine.toml", &plan(common::WORKLOAD, 1, &[&systems[0]]));
        for verb in ["plan", "run"] {
            // `run` would install the build first, were the plan not refused before.
            assert_eq!(
                error(&bench, &[verb, "mine.toml"]),
                format!("error: mine.toml:7: mysql-8.0.33: {reason}")
            );
        }
    }
    bench.write(
        "typo.toml",
        &plan(common::WORKLOAD, 1, &["build = \"sqlite\"\nset = { jurnal_mode = \"WAL\" }"]),
    );
    let told = error(&bench, &["plan", "typo.toml"]);
    assert!(told.starts_with("error: typo.toml:7: sqlite-"), "{told}");
    assert_eq!(error(&bench, &["run", "typo.toml"]), told);
    assert!(!bench.lab().join("instances").exists());
}

#[test]
fn builds_that_are_not_there_lead_somewhere() {
    let bench = Bench::new();
    assert!(error(&bench, &["install", "postgres-20"]).contains("nearest `postgres-19rc1`"));
    let told = error(&bench, &["install", "percona"]);
    assert!(
        told.contains("`backslide add NAME --path DIR`") && !told.contains("nearest"),
        "{told}"
    );
}
