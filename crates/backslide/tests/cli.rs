//! The command line as people and scripts meet it: help, plans, errors, and everything that can be
//! asked of a finished run.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::{Bench, WORKLOAD, names, plan};
use serde_json::Value;
use testkit::redact;

const VERBS: [&str; 20] = [
    "demo",
    "doctor",
    "builds",
    "install",
    "remove",
    "add",
    "try",
    "crash-check",
    "workloads",
    "plan",
    "run",
    "profile",
    "list",
    "show",
    "compare",
    "explain",
    "report",
    "history",
    "import",
    "export",
];
const WAL: &str = "build = \"sqlite\"\nconfig = \"wal\"";
const ROLLBACK: &str = "build = \"sqlite\"\nconfig = \"rollback\"";

/// Names of an object's fields.
fn fields(object: &Value) -> BTreeSet<&str> {
    let object = object.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

#[test]
fn help_of_every_verb_has_an_example() {
    let bench = Bench::new();
    let mut all = String::new();
    for arguments in [&["--help"][..]].into_iter().chain(VERBS.each_ref().map(std::slice::from_ref))
    {
        let mut arguments = arguments.to_vec();
        if arguments != ["--help"] {
            arguments.push("--help");
        }
        let mut command = bench.command(&arguments);
        let output = command.env_remove("BACKSLIDE_LAB").output().unwrap();
        assert!(output.status.success());
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains("Example"), "{help}");
        all.extend(["$ backslide ", &arguments.join(" "), "\n", &help, "\n"]);
    }
    let listed = VERBS.iter().all(|verb| all.contains(&format!("\n  {verb}")));
    assert!(listed, "{all}");
    insta::assert_snapshot!("help", all);
}

#[test]
fn the_demo_plan_for_people() {
    let bench = Bench::new();
    let text = bench.run(&["plan", "demo"]).fine();
    let parent = bench.directory.path().display().to_string();
    insta::assert_snapshot!(redact(&text.replace(&parent, "DIR")), @"
    plan demo: 3 × 4 rounds = 12 trials, base sqlite/wal, seed 7681083602658888420
    about TIME and SIZE of disk; SIZE are free in DIR
    about SIZE of memory; the host has SIZE
    in turns of at most TIME in every step: all systems of a round run at once, and each stands still
    outside its turns
    quarantine is off: no trial is set aside, whatever disturbs the host
    in about TIME: 4 rounds with windows of TIME detect a change of 34.6 % per step, given an assumed
    noise of 1 % between rounds and 10 % in a second; 9 rounds, about TIME, would detect 18.8 %
     trial  round  system           about 
         1      1  sqlite/wal       TIME
         2      1  control          TIME
         3      1  sqlite/rollback  TIME
         4      2  sqlite/rollback  TIME
         5      2  control          TIME
         6      2  sqlite/wal       TIME
         7      3  sqlite/wal       TIME
         8      3  sqlite/rollback  TIME
         9      3  control          TIME
        10      4  control          TIME
        11      4  sqlite/rollback  TIME
        12      4  sqlite/wal       TIME
    ");
    assert!(!bench.lab().exists(), "a plan that is only shown made a lab");
}

#[test]
fn the_demo_plan_for_programs() {
    let bench = Bench::new();
    let plan = bench.run(&["plan", "demo", "--format", "json"]).json();
    assert_eq!(
        fields(&plan),
        BTreeSet::from([
            "name",
            "workload",
            "rounds",
            "seed",
            "base",
            "template",
            "disk_bytes",
            "seconds",
            "systems",
            "trials",
            "first_look",
            "shortest_seconds",
            "interleave",
            "slice_ms",
            "quarantine",
            "memory_bytes",
            "margins",
            "longest_seconds"
        ])
    );
    assert_eq!(
        (&plan["first_look"], &plan["interleave"], &plan["quarantine"]),
        (&Value::Null, &"turns".into(), &Value::Null)
    );
    let systems = list(&plan["systems"]);
    assert_eq!(systems.len(), 3);
    assert_eq!(
        fields(&systems[0]),
        BTreeSet::from([
            "system",
            "build",
            "engine",
            "config",
            "control",
            "placement",
            "settings",
            "disk_bytes",
            "seconds",
            "memory_bytes"
        ])
    );
    assert_eq!(systems[2]["control"], true);
    let trials = list(&plan["trials"]);
    assert_eq!(trials.len() as u64, 3 * plan["rounds"].as_u64().unwrap());
    assert_eq!(
        fields(&trials[0]),
        BTreeSet::from(["index", "round", "position", "system", "seed"])
    );
    let again = bench.run(&["plan", "demo", "--format", "json"]).json();
    assert_eq!(plan, again, "a plan is deterministic");
}

#[test]
fn the_shortest_and_the_longest_that_a_run_may_take() {
    let bench = Bench::new();
    let seconds = |text: &str| {
        bench.write("my.toml", text);
        let plan = bench.run(&["plan", "my.toml", "--format", "json"]).json();
        ["seconds", "shortest_seconds", "longest_seconds"].map(|key| plan[key].as_f64())
    };
    // `quarantine = false`
    let undisturbed = plan(WORKLOAD, 4, &[WAL, ROLLBACK]);
    let [about, shortest, longest] = seconds(&undisturbed);
    assert!(about > Some(0.0));
    assert_eq!((shortest, longest), (None, None));
    let text = undisturbed.replace("quarantine = false\n", "");
    let [_, shortest, longest] = seconds(&text);
    assert_eq!(shortest, None);
    assert!(longest > about, "{longest:?} {about:?}");
    let [most, shortest, _] = seconds(&text.replace("rounds = 4", "rounds = { min = 3, max = 4 }"));
    assert_eq!(most, about);
    assert!(shortest.is_some() && shortest < about, "{shortest:?}");
}

#[test]
fn a_plan_in_pairs_counts_the_rounds_of_all_pairs_and_runs_two_systems_at_once() {
    let bench = Bench::new();
    let third = format!("{ROLLBACK}\nlabel = \"third\"");
    let pairs = "interleave = \"turns\"\nat_once = \"pairs\"\nrounds = { min = 3, max = 4 }";
    let text = plan(WORKLOAD, 3, &[WAL, ROLLBACK, &third]).replace("rounds = 3", pairs);
    bench.write("my.toml", &text);
    let shown = on_one_line(&bench.run(&["plan", "my.toml"]).fine());
    for told in [
        ": 2 × 6 to 8 rounds = at most 16 trials",
        "looked at after 6 rounds and after each further one",
        "both systems of a round run at once",
        "the base and one other system, in 4 rounds for each",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
}

#[test]
fn margins_of_a_plan_are_shown() {
    let bench = Bench::new();
    let text = plan(WORKLOAD, 3, &[WAL, ROLLBACK])
        .replace("rounds", "margins = { rate = 1, \"server.cpu/o\" = 0.25 }\nrounds");
    bench.write("my.toml", &text);
    let shown = bench.run(&["plan", "my.toml"]).fine();
    let line = "\nmargins: rate 1 %, server.cpu/o 0.25 %; other metrics keep their own\n";
    assert!(shown.contains(line), "{shown}");
    let json = bench.run(&["plan", "my.toml", "--format", "json"]).json();
    let expected = serde_json::json!({ "rate": 1.0, "server.cpu/o": 0.25 });
    assert_eq!(json["margins"], expected);
    bench.write("my.toml", &text.replace("rate = 1", "rat = 1"));
    let refused = bench.run(&["plan", "my.toml"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.stderr.contains("no metric `rat`; nearest `rate`; available: "), "{refused:?}");
}

#[test]
fn the_host_is_looked_at_in_seconds_if_that_is_asked_for() {
    let bench = Bench::new();
    let findings = bench.run(&["doctor", "--quick", "--format", "json"]).json();
    let names = list(&findings).iter().map(|finding| &finding["name"]);
    let of_noise: Vec<&Value> =
        names.filter(|name| name.as_str().unwrap().starts_with("noise")).collect();
    assert_eq!(of_noise, [&Value::from("noise")]);
    assert!(!bench.lab().exists(), "a look at the host made a lab");
}

#[test]
fn usage_errors_exit_with_2() {
    let bench = Bench::new();
    let usages: [&[&str]; 10] = [
        &[],
        &["frobnicate"],
        &["run"],
        &["run", "demo", "--resume", "r1"],
        &["list", "--format", "yaml"],
        &["compare", "--min-effect", "much"],
        &["compare", "--min-effect", "-1"],
        &["report", "--min-effect", "200"],
        &["history", "--min-effect", "nan"],
        &["export", "--format", "html"],
    ];
    for arguments in usages {
        let ran = bench.run(arguments);
        assert_eq!(ran.code(), 2, "{arguments:?}: {ran:?}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty());
    }
}

/// What `backslide plan` says of a plan that is wrong, without this machine's paths.
fn plan_error(workload: &str, system: &str) -> String {
    let bench = Bench::new();
    bench.write("my.toml", &plan(workload, 1, &[system]));
    for verb in ["plan", "run"] {
        let ran = bench.run(&[verb, "my.toml"]);
        assert_eq!(ran.code(), 1, "{ran:?}");
        assert!(ran.stdout.is_empty());
        if verb == "run" {
            assert!(bench.instances().is_empty());
            assert_eq!(bench.run(&["list", "--format", "json"]).json(), Value::Array(vec![]));
            return ran.stderr;
        }
    }
    unreachable!("the loop returns")
}

#[test]
fn an_unknown_key_is_told_the_nearest() {
    let workload = WORKLOAD.replace("i1_rows", "i1_row");
    insta::assert_snapshot!(plan_error(&workload, WAL), @"error: my.toml:2: unknown key `i1_row` in workload, did you mean `i1_rows`?");
}

#[test]
fn an_unknown_config_is_told_which_there_are() {
    let system = "build = \"sqlite\"\nconfig = \"wall\"";
    insta::assert_snapshot!(plan_error(WORKLOAD, system), @"error: my.toml:7: no sqlite config `wall`; nearest `wal`; available: default, rollback, wal");
}

#[test]
fn a_missing_build_is_told_what_there_is() {
    let error = plan_error(WORKLOAD, "build = \"mysql-3.23\"");
    assert!(error.starts_with("error: my.toml:"), "{error}");
    assert!(error.contains(": no build `mysql-3.23`: "), "{error}");
    assert!(error.contains("`backslide builds` lists available builds"), "{error}");
    assert!(error.contains("`path = \"…\"` says where one is"), "{error}");
    let error = plan_error(WORKLOAD, "build = \"mariadb\"\npath = \"/nowhere/mariadb\"");
    assert!(error.contains("/nowhere/mariadb does not exist: give the directory"), "{error}");
}

#[test]
fn an_unsupported_version_is_named() {
    let error = plan_error(WORKLOAD, "build = \"sqlite-3.1\"");
    assert!(error.contains("no build `sqlite-3.1`: "), "{error}");
    assert!(error.contains("nearest `sqlite-3.7.17`"), "{error}");
}

#[test]
fn other_spellings_of_a_build_name_the_nearest() {
    let bench = Bench::new();
    for (spelt, product) in [
        ("pg19", "postgres-19"),
        ("postgress-18", "postgres-18."),
        ("mysql80", "mysql-8.0."),
        ("maria-10.11", "mariadb-10.11."),
        ("mariadb1011", "mariadb-10.11."),
    ] {
        let error = bench.run(&["init", spelt, "sqlite"]).stderr;
        assert!(error.contains(&format!("nearest `{product}")), "{spelt}: {error}");
    }
    let error = bench.run(&["init", "x9", "sqlite"]).stderr;
    assert!(!error.contains("nearest"), "{error}");
}

#[test]
fn a_library_that_is_no_sqlite_is_not_added() {
    let bench = Bench::new();
    bench.write("libmine.so", "not a library, and long enough to hold the header of one: 64 bytes");
    let ran = bench.run(&["add", "mine", "--path", "libmine.so"]);
    assert_eq!(ran.code(), 1);
    let said = "libmine.so is not a usable SQLite library: invalid ELF header";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = bench.run(&["add", "mine", "--source", "none.c"]);
    assert!(ran.stderr.contains("none.c is not a readable file"), "{}", ran.stderr);
}

#[test]
fn a_plan_too_large_for_the_disk_starts_nothing() {
    let workload =
        r#"kind = "insert", scale = "seeds", rows = 1_000_000_000, clients = 90, rates = [100]"#;
    let bench = Bench::new();
    bench.write("my.toml", &plan(workload, 1, &[WAL]));
    let ran = bench.run(&["run", "my.toml"]);
    assert_eq!(ran.code(), 1);
    assert!(ran.stderr.starts_with("error: the plan needs about "), "{}", ran.stderr);
    assert!(ran.stderr.contains("free; use a smaller scale or --lab elsewhere"));
    assert!(bench.instances().is_empty());
    assert_eq!(bench.run(&["list", "--format", "json"]).json(), Value::Array(vec![]));
    // `plan` shows it all the same, and says so.
    let shown = bench.run(&["plan", "my.toml"]);
    assert_eq!(shown.code(), 1);
    assert!(shown.stdout.contains("sqlite/wal") && shown.stderr.contains("the plan needs about"));
}

#[test]
fn more_sessions_than_files_are_refused_with_the_numbers_before_anything_starts() {
    let bench = Bench::new();
    let workload =
        r#"kind = "micro", rows = 1_000, tables = 1, clients = 900, tests = ["point-query"]"#;
    bench.write("my.toml", &plan(workload, 1, &[WAL]));
    let run = bench.command(&["run", "my.toml"]);
    let environment = run.get_envs();
    let limited = Command::new("sh")
        .args(["-c", "ulimit -n 200 && exec \"$@\"", "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(bench.directory.path())
        .env_clear()
        .envs(environment.filter_map(|(name, value)| Some((name, value?))))
        .output()
        .unwrap();
    let error = String::from_utf8(limited.stderr).unwrap();
    assert_eq!(limited.status.code(), Some(1), "{error}");
    // A host with little memory gets a note before it.
    assert_eq!(
        error.lines().last().unwrap(),
        "error: 900 sessions need 2956 open files, and the hard limit of this process is 200: raise it (ulimit \
         -n 2956), or use fewer clients"
    );
    assert!(limited.stdout.is_empty() && bench.instances().is_empty());
    let runs = bench.run(&["list", "--format", "json"]).json();
    assert_eq!(runs, Value::Array(vec![]));
}

#[test]
fn a_plan_that_cannot_be_read() {
    let bench = Bench::new();
    let told = |arguments: &[&str]| {
        let ran = bench.run(arguments);
        assert_eq!(ran.code(), 1);
        ran.stderr
    };
    insta::assert_snapshot!(told(&["plan", "demmo"]), @"error: catalog: no plan `demmo`; nearest `demo`; available: demo, mariadb-innodb-myrocks, micro-mariadb-10.5-11.8, micro-mysql-5.6-9.7, micro-mysql-5.6-9.7-control, micro-postgres-12-18, micro-smoke, micro-sqlite, micro-sweep, mysql-5.6-to-9.7, mysql-5.6-to-9.7-control, postgres-12-to-19, postgres-history, postgres-mariadb, smoke, sqlite-history, tpcc-isolation, tpcc-mysql-5.6-9.7, tpcc-postgres, tpcc-smoke, why-mariadb-10.11-11.8, why-mysql-5.6-9.7, why-postgres-12-18");
    insta::assert_snapshot!(told(&["run", "nowhere.toml"]), @"
    error: cannot read nowhere.toml
      because No such file or directory (os error 2)
    ");
    bench.write("broken.toml", "name = \"tiny\nrounds = 1\n");
    insta::assert_snapshot!(told(&["run", "broken.toml"]), @r#"error: broken.toml:1: invalid basic string, expected `"`"#);
}

#[test]
fn without_a_lab_there_is_nothing_to_look_at() {
    let bench = Bench::new();
    for verb in ["show", "compare", "report", "history", "export"] {
        let ran = bench.run(&[verb]);
        assert_eq!(ran.code(), 1);
        let told = ran.stderr.replace(&bench.lab().display().to_string(), "LAB");
        assert_eq!(
            told,
            "error: no lab in LAB: `backslide run` makes one; for another directory use --lab\n"
        );
    }
    assert_eq!(bench.run(&["list", "--format", "json"]).json(), Value::Array(vec![]));
    assert!(!bench.lab().exists());
}

#[test]
fn a_directory_of_the_name_of_a_plan_hides_no_plan() {
    let bench = Bench::new();
    fs::create_dir(bench.path("demo")).unwrap();
    bench.run(&["plan", "demo"]).fine();
}

#[test]
fn every_plan_of_the_catalog_is_found_by_its_name() {
    let bench = Bench::new();
    for name in ["smoke", "mysql-5.6-to-9.7", "mariadb-innodb-myrocks", "postgres-12-to-19"] {
        // A disk too small for one of them is told after the plan.
        let ran = bench.run(&["plan", name, "--format", "json"]);
        let fits = ran.code() == 0 || ran.stderr.contains("of disk");
        assert!(fits, "{ran:?}");
        let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(plan["name"], name);
    }
}

#[test]
fn builds_for_programs() {
    let bench = Bench::new();
    let builds = bench.run(&["builds", "--format", "json"]).json();
    let contract = BTreeSet::from([
        "build",
        "dbms",
        "version",
        "state",
        "source",
        "program",
        "download_bytes",
        "size_bytes",
        "installed",
        "engines",
        "compiler",
        "flags",
        "allocator",
        "symbols",
        "note",
    ]);
    assert!(list(&builds).iter().all(|build| fields(build) == contract));
    let sqlite = list(&builds).iter().find(|b| b["state"] == "embedded").unwrap();
    assert_eq!(sqlite["source"], "part of backslide");
    assert!(sqlite["build"].as_str().unwrap().ends_with("bundled"), "{sqlite}");
    let named = |name: &str| list(&builds).iter().find(|build| build["build"] == name);
    for name in ["mysql-5.5.9", "mariadb-11.8.9", "postgres-9.6.24", "postgres-19rc1"] {
        assert_eq!(named(name).unwrap()["state"], "available", "{name}");
    }
}

/// Deletes that soon find no row, and updates that were to change more rows than there are.
const FILE: &str = r#"
name = "mine"
summary = "of the test"
[defaults]
rows = 20
[[table]]
name = "t"
rows = "rows"
primary_key = ["id"]
columns = { id = { type = "int", value = "row" } }
[operation.drop]
draws = { id = { int = [1, "rows"] } }
sql = "DELETE FROM {table} WHERE id = :id"
expect = [0, 1]
[operation.take]
draws = { id = { int = [1, "rows"] } }
sql = "UPDATE t SET id = :id WHERE id = :id"
expect = 2
[operation.look]
draws = { id = { int = [1, "rows"] } }
sql = "SELECT id FROM {table} WHERE id = :id"
[[step]]
name = "look"
group = "point"
operation = "look"
whole = true
[[step]]
name = "drop"
group = "write"
operation = "drop"
[[step]]
name = "take"
group = "write"
operation = "take"
"#;

/// A plan for [`FILE`], with more keys of its workload.
fn plan_for_file(keys: &str) -> String {
    let workload = format!(
        "kind = \"sql\", file = \"mine.toml\", settle = 0, warmup_seconds = 0, \
         read_seconds = 1, write_seconds = 1{keys}"
    );
    plan(&workload, 1, &[WAL])
}

/// A text however wide the lines are that it was wrapped to.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_step_found_is_told_while_it_runs() {
    let bench = Bench::new();
    bench.write("mine.toml", FILE);
    bench.write("p.toml", &plan_for_file(""));
    let ran = bench.run(&["run", "p.toml"]);
    assert_eq!(ran.code(), 20, "{ran:?}");
    let told = on_one_line(&ran.stderr);
    assert!(
        told.contains("warning: drop: no rows found: at most 0.")
            && told.contains(" `drop` changed a row, ")
            && told.contains(
                "FAILED in take: wrong answers: `update`: changed 0 rows, expected 2 (`UPDATE t SET id = "
            ),
        "{told}"
    );
    // There is nothing to compare the only system with.
    assert!(told.contains("`backslide show r1` · "), "{told}");
}

#[test]
fn a_run_that_is_refused_before_its_first_trial_is_not_kept() {
    let bench = Bench::new();
    let text = plan(WORKLOAD, 1, &[WAL]).replace("rounds", "template = true\nrounds");
    bench.write("p.toml", &text);
    let ran = bench.run(&["run", "p.toml", "--template-budget", "1K"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(ran.stderr.contains("may take 1"), "{ran:?}");
    assert!(!ran.stderr.contains("--resume"), "{ran:?}");
    let runs = bench.run(&["list", "--format", "json"]).json();
    assert_eq!(runs, Value::Array(vec![]));
}

#[test]
fn a_plan_says_when_operations_start_and_what_takes_the_time() {
    let bench = Bench::new();
    bench.write("mine.toml", FILE);
    bench.write(
        "p.toml",
        &plan_for_file(", ramp = { from = 100, p99 = \"5ms\", attempt_seconds = 2 }"),
    );
    let text = bench.run(&["plan", "p.toml"]).fine();
    for said in [
        "ramp from 100/s, p99 ≤ 5.00ms, 2 s each, poisson",
        "a closed loop: `whole` operations",
        "attempts of ramps (`ramp`)",
        "tests that write (`write_seconds`",
    ] {
        assert!(on_one_line(&text).contains(said), "{said}: {text}");
    }
    let drop = text.lines().find(|line| line.contains(" drop ")).unwrap();
    assert!(drop.contains(" 1.00s ") && drop.contains(" 31.3s "), "{drop}");
}

#[test]
fn a_workload_file_is_listed_like_those_of_the_catalog() {
    let bench = Bench::new();
    bench.write("mine.toml", FILE);
    let text = bench.run(&["workloads", "mine.toml"]).fine();
    assert!(text.starts_with("mine.toml: of the test"), "{text}");
    let step = bench.run(&["workloads", "mine.toml", "--step", "drop"]).fine();
    assert!(step.contains("DELETE FROM t WHERE id = :id"), "{step}");
    let told = |arguments: &[&str]| {
        let ran = bench.run(arguments);
        assert_eq!(ran.code(), 1, "{ran:?}");
        ran.stderr
    };
    assert!(told(&["workloads", "no.toml"]).starts_with("error: cannot read no.toml\n"));
    insta::assert_snapshot!(told(&["workloads", "mine.toml", "--step", "tke"]), @"error: workload mine.toml: no step `tke`; nearest `take`; available: load, settle, look, drop, take");
    let micro = told(&["workloads", "micro", "--step", "read-only"]);
    assert!(
        micro.starts_with("error: workload micro: no step `read-only`; available: read-only")
            && micro.ends_with(" more (`backslide workloads micro`)\n"),
        "{micro}"
    );
    // A plan chooses groups by what is listed.
    let micro = bench.run(&["workloads", "micro"]);
    assert!(micro.stderr.contains("\"group:point\""), "{micro:?}");
    assert!(micro.stdout.contains(" range-aggregate "), "{micro:?}");
}

/// One run, and everything that can be asked of it: running takes longer than asking.
#[test]
fn a_run_and_all_that_is_asked_of_it() {
    let bench = Bench::new();
    bench.write("tiny.toml", &plan(WORKLOAD, 2, &[WAL, ROLLBACK]));
    let ran = bench.run(&["run", "tiny.toml"]);
    assert_eq!(ran.code(), 0, "{ran:?}");
    assert_eq!(ran.stdout, "r1\n", "the id is all that is printed on stdout");
    assert!(bench.instances().is_empty());
    let trials = ran.stderr.lines().filter(|l| l.contains(": done in "));
    assert_eq!(trials.count(), 4, "{}", ran.stderr);

    lists_it(&bench);
    shows_it(&bench);
    compares_it(&bench);
    exports_it(&bench);
    reports_it(&bench);
    tells_what_was_not_measured(&bench);
    tells_of_results_that_cannot_be_written(&bench);
    spares_the_terminal(&bench);
    keeps_what_cannot_be_replaced(&bench);
    stops_with_its_reader(&bench);
    tells_what_is_not_there(&bench);
}

fn lists_it(bench: &Bench) {
    let runs = bench.run(&["list", "--format", "json"]).json();
    let run = &list(&runs)[0];
    assert_eq!(
        fields(run),
        BTreeSet::from([
            "run",
            "plan",
            "workload",
            "started",
            "state",
            "systems",
            "base",
            "rounds",
            "trials",
            "completed",
            "failed",
            "quarantined"
        ])
    );
    assert_eq!((&run["run"], &run["state"]), (&"r1".into(), &"finished".into()));
    assert_eq!((&run["completed"], &run["failed"]), (&4.into(), &0.into()));
    let text = redact(&bench.run(&["list"]).fine());
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    run  plan  workload       started UTC  state     trials  systems  base
    RUN   tiny  insert    DATE  finished  4/4     2        sqlite/wal
    ");
}

fn shows_it(bench: &Bench) {
    let text = bench.run(&["show"]).fine();
    assert!(text.starts_with("run r1 · plan tiny · insert · started "), "{text}");
    assert_eq!(text.matches("completed").count(), 4, "{text}");
    assert_eq!(text, bench.run(&["show", "r1"]).fine());
    for verb in ["show", "compare", "list"] {
        let output = bench.command(&[verb]).env("COLUMNS", "80").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert!(!text.is_empty() && long.is_none(), "{verb}: {text}");
    }
}

fn compares_it(bench: &Bench) {
    let ran = bench.run(&["compare", "--format", "json"]);
    // Two rounds decide nothing.
    assert_eq!(ran.code(), 11, "{ran:?}");
    let comparisons: Value = serde_json::from_str(&ran.stdout).unwrap();
    let contract = BTreeSet::from([
        "step", "metric", "unit", "base", "system", "ratio", "low", "high", "rounds", "q_value",
        "verdict", "reason", "evidence",
    ]);
    let steps: Vec<&str> = list(&comparisons)
        .iter()
        .map(|comparison| {
            assert_eq!(fields(comparison), contract);
            assert_eq!(comparison["metric"], "rate");
            assert_eq!(comparison["verdict"], "inconclusive");
            assert!(comparison["ratio"].as_f64().unwrap() > 0.0);
            assert_ne!(comparison["reason"], "");
            comparison["step"].as_str().unwrap()
        })
        .collect();
    assert_eq!(steps, ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"]);
    let junit = bench.run(&["compare", "--format", "junit"]);
    assert_eq!(junit.code(), 11);
    assert_eq!(junit.stdout.matches("<skipped ").count(), 6, "{junit:?}");
    let comment = bench.run(&["compare", "--format", "markdown"]);
    assert_eq!(comment.code(), 11);
    assert!(
        comment.stdout.starts_with("<!-- backslide compare -->\n### backslide: 6 inconclusive\n"),
        "{comment:?}"
    );
    let text = bench.run(&["compare", "r1"]);
    assert_eq!(text.code(), 11);
    assert!(text.stdout.contains("sqlite/rollback"), "{}", text.stdout);
    let other = bench.run(&["compare", "--base", "sqlite/rollback", "--format", "json"]);
    let other: Value = serde_json::from_str(&other.stdout).unwrap();
    assert_eq!(other[0]["system"], "sqlite/wal");
    let product = other[0]["ratio"].as_f64().unwrap() * comparisons[0]["ratio"].as_f64().unwrap();
    assert!((product - 1.0).abs() < 1e-9, "{product}");
}

fn exports_it(bench: &Bench) {
    let csv = bench.run(&["export", "--format", "csv"]).fine();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("run,round,position,system,step,clients,metric,unit,value"));
    let mut seen = BTreeSet::new();
    let mut trials = BTreeSet::new();
    for line in lines {
        let values: Vec<&str> = line.split(',').collect();
        assert_eq!(values.len(), 9, "{line}");
        assert!(values[8].parse::<f64>().unwrap().is_finite(), "{line}");
        assert!(seen.insert(values[..7].to_vec()), "twice: {line}");
        trials.insert((values[1], values[2], values[3]));
    }
    assert_eq!(trials.len(), 4);
    let file = bench.path("all.csv");
    bench.run(&["export", "r1", "-o", "all.csv"]).fine();
    assert_eq!(fs::read_to_string(file).unwrap(), csv);
    exports_all_else(bench);
}

fn exports_all_else(bench: &Bench) {
    let place = "run,round,position,system,step,clients";
    let beginnings: [(&[&str], String); 6] = [
        (&["--format", "jsonl"], "{\"run\":\"r1\",\"round\":1,".into()),
        (&["--what", "intervals"], format!("{place},interval,")),
        (&["--what", "histograms"], format!("{place},kind,clock,")),
        (&["--what", "comparisons"], "run,step,clients,metric,".into()),
        (&["--format", "openmetrics"], "# TYPE backslide_rate_rows_per_second gauge\n".into()),
        (&["--format", "hdr"], "#[Histogram log format version 1.3]\n".into()),
    ];
    for (asked, beginning) in beginnings {
        let text = bench.run(&[&["export", "r1"], asked].concat()).fine();
        assert!(text.starts_with(&beginning), "{asked:?}: {text}");
    }
    let reported = bench.run(&["report", "-o", "-", "--format", "csv"]).fine();
    assert_eq!(reported, bench.run(&["export"]).fine());
    bench.run(&["export", "-o", "all.parquet"]).fine();
    let parquet = fs::read(bench.path("all.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let refused: [&[&str]; 2] =
        [&["--what", "histograms", "--format", "hdr"], &["--min-effect", "5"]];
    for arguments in refused {
        let ran = bench.run(&[&["export"], arguments].concat());
        assert_eq!(ran.code(), 1, "{ran:?}");
    }
    let json = ["--what", "comparisons", "--format", "jsonl"];
    let lines = bench.run(&[&["export", "--min-effect", "5"], &json[..]].concat()).fine();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["margin"], 0.05);
}

fn reports_it(bench: &Bench) {
    let beginnings = [
        ("html", "<!DOCTYPE html>"),
        ("md", "# "),
        ("tsv", ""),
        ("json", "[\n"),
        ("csv", "run,round,position,"),
    ];
    for (format, beginning) in beginnings {
        let name = format!("x.{format}");
        let told = bench.run(&["report", "-o", &name]).fine();
        assert_eq!(told, format!("{name}\n"));
        let text = fs::read_to_string(bench.path(&name)).unwrap();
        assert!(text.starts_with(beginning), "{name}: {}", &text[..200.min(text.len())]);
        assert!(text.contains("qr100"), "{name}");
    }
    let tsv = fs::read_to_string(bench.path("x.tsv")).unwrap();
    assert!(tsv.contains('\t'));
    let html = fs::read_to_string(bench.path("x.html")).unwrap();
    assert!(html.len() < 2 << 20, "{} bytes", html.len());
    assert!(!html.contains("http://") || html.contains("http://www.w3.org/"));
    assert!(!html.contains("src=\"http"));
    let effect = ["--min-effect", "5", "-o", "-", "--format", "json"];
    let json = bench.run(&[&["report"], &effect[..]].concat()).json();
    assert_eq!(json[0]["evidence"]["margin"], 0.05);
    // What the option says counts more than the name, and the lab has a place for those without.
    bench.run(&["report", "-o", "x.txt", "--format", "csv"]).fine();
    assert!(fs::read_to_string(bench.path("x.txt")).unwrap().starts_with("run,round,"));
    let told = bench.run(&["report", "r1"]).fine();
    assert_eq!(told, format!("{}\n", bench.lab().join("reports/r1.html").display()));
}

/// Where one of several metrics was not measured it is told, in test results too.
fn tells_what_was_not_measured(bench: &Bench) {
    let asked = ["--metric", "rate", "--metric", "response.p99"];
    let ask = |format: &str| bench.run(&[&["compare", "--format", format], &asked[..]].concat());
    let told = "`response.p99` was not measured in run r1, which has rate, ";
    let junit = ask("junit");
    assert_eq!(junit.code(), 11);
    let errors = junit.stdout.matches("<error type=\"incomparable\"");
    assert_eq!(errors.count(), 1, "{junit:?}");
    assert!(junit.stdout.contains("not measured in this run"), "{junit:?}");
    assert!(on_one_line(&junit.stderr).contains(told), "{junit:?}");
    let text = ask("text");
    assert_eq!(text.code(), 11);
    assert!(on_one_line(&text.stdout).contains(told), "{text:?}");
}

/// A full disk is told, whatever the result would have been; `| head` is something else.
fn tells_of_results_that_cannot_be_written(bench: &Bench) {
    let verbs: [&[&str]; 5] = [
        &["list"],
        &["show"],
        &["compare"],
        &["compare", "--format", "json"],
        &["list", "--format", "json"],
    ];
    for arguments in verbs {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = bench.command(arguments);
        let output = command.stdout(full.unwrap()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        let error = "error: cannot write to stdout\n  because No space left on device";
        assert!(told.contains(error), "{arguments:?}: {told}");
    }
}

/// What comes from outside moves no cursor and changes no colour, among results as in errors.
fn spares_the_terminal(bench: &Bench) {
    let told = bench.run(&["report", "-o", "\u{1b}[2J.html"]).fine();
    assert_eq!(told, "\u{fffd}[2J.html\n");
    let ran = bench.run(&["report", "-o", "\u{1b}]0;x\u{7}.none"]);
    assert_eq!(ran.code(), 1);
    let told = ran.stderr;
    assert!(told.contains("\u{fffd}]0;x\u{fffd}.none"), "{told}");
    assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told}");
    // JSON may have U+007F to U+009F in its strings as they are; a terminal obeys some of them.
    let hostile = FILE.replace("of the test", r"a\u009B2Jb\u007F");
    bench.write("hostile.toml", &hostile);
    let told = bench.run(&["workloads", "./hostile.toml", "--format", "json"]);
    let told = told.fine();
    assert!(!told.contains(|c: char| c.is_control() && c != '\n'), "{told}");
    assert!(told.contains(r"a\u009b2Jb\u007f"), "{told}");
}

/// A report that cannot be written leaves what was there before and nothing else.
fn keeps_what_cannot_be_replaced(bench: &Bench) {
    let ran = bench.run(&["report", "-o", "nowhere/x.html"]);
    assert_eq!(ran.code(), 1);
    assert!(ran.stdout.is_empty());
    assert!(ran.stderr.starts_with("error: cannot write nowhere/x.html\n"), "{}", ran.stderr);
    assert!(!bench.path("nowhere").exists());

    fs::create_dir(bench.path("directory.html")).unwrap();
    bench.write("old.html", "the old one");
    let before = names(bench.directory.path());
    let ran = bench.run(&["report", "-o", "directory.html"]);
    assert_eq!(ran.code(), 1);
    // Files of this process may not grow beyond 100 blocks, as if the disk were full.
    let limited = r#"trap '' XFSZ; ulimit -f 100; exec "$0" report -o old.html"#;
    let template = bench.command::<&str>(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", limited, env!("CARGO_BIN_EXE_backslide")])
        .env("BACKSLIDE_LAB", bench.lab())
        .current_dir(template.get_current_dir().unwrap());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.starts_with("error: cannot write old.html\n"), "{told}");
    assert_eq!(fs::read_to_string(bench.path("old.html")).unwrap(), "the old one");
    assert_eq!(names(bench.directory.path()), before);
}

/// `| head -1` is no error.
fn stops_with_its_reader(bench: &Bench) {
    let verbs: [&[&str]; 5] = [
        &["report", "-o", "-"],
        &["export"],
        &["compare", "--metric", "all", "--format", "json"],
        &["show"],
        &["list"],
    ];
    for arguments in verbs {
        let mut child = bench.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ran = common::end(child);
        assert!([0, 10, 11].contains(&ran.code()), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains("error"), "{arguments:?}: {}", ran.stderr);
        assert!(!line.is_empty());
    }
}

fn tells_what_is_not_there(bench: &Bench) {
    let told = |arguments: &[&str]| {
        let ran = bench.run(arguments);
        assert_eq!(ran.code(), 1, "{ran:?}");
        ran.stderr.replace(&bench.lab().display().to_string(), "LAB")
    };
    insta::assert_snapshot!(told(&["compare", "--base", "sqlite"]), @"error: `sqlite` is ambiguous: it matches sqlite/wal, sqlite/rollback in run r1");
    insta::assert_snapshot!(told(&["report", "--base", "mysql-9.7.4/z12a"]), @"error: this run has no system `mysql-9.7.4/z12a` to compare with; its systems are sqlite/wal, sqlite/rollback");
    insta::assert_snapshot!(told(&["show", "r7"]), @"error: LAB/lab.sqlite has no run r7; `backslide list` prints the available runs");
    insta::assert_snapshot!(told(&["run", "--resume", "r1"]), @"
    error: run r1 is finished; nothing is left to resume. Trials that failed stay failed: begin a new run
    ");
    insta::assert_snapshot!(told(&["run", "--resume", "latest"]), @"error: LAB/lab.sqlite has no run latest; `backslide list` prints the available runs");
    let metric = told(&["compare", "--metric", "speed"]);
    assert!(metric.starts_with("error: no metric `speed`; nearest "), "{metric}");
}
