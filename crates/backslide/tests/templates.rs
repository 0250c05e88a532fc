//! Plans with `template = true` through the binary: killed at any moment, what is whole is used again.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use common::{Bench, end, names, plan, signal, wait_for};
use rustix::process::Signal;

const SYSTEMS: [&str; 2] =
    ["build = \"sqlite\"\nconfig = \"wal\"", "build = \"sqlite\"\nconfig = \"rollback\""];

/// Loads for a moment, so that it can be killed meanwhile.
const WORKLOAD: &str = r#"kind = "insert", scale = "tiny", rows = 40_000, i1_rows = 400, i2_rows = 100, rates = [100], queries = ["range"], query_seconds = 1, settle = 0"#;

/// A bench with such a plan of two rounds in `tiny.toml`.
fn bench() -> Bench {
    let bench = Bench::new();
    let text = plan(WORKLOAD, 2, &SYSTEMS);
    bench.write("tiny.toml", &format!("template = true\n{text}"));
    bench
}

/// Names of what is in a directory of the lab; nothing where there is none.
fn there(bench: &Bench, directory: &str) -> Vec<String> {
    let path = bench.lab().join(directory);
    if path.is_dir() { names(&path) } else { Vec::new() }
}

/// The whole templates, each with the number of its data directory: another one after it was made anew.
fn whole(bench: &Bench) -> Vec<(String, u64)> {
    let names = there(bench, "templates").into_iter();
    let number = |path: &Path| fs::metadata(path).unwrap().ino();
    names
        .filter(|name| !name.starts_with('.'))
        .map(|name| {
            let data = bench.lab().join("templates").join(&name).join("data");
            let number = number(&data);
            (name, number)
        })
        .collect()
}

#[test]
fn killed_while_it_loads_and_while_it_measures_and_resumed() {
    let bench = bench();
    let child = bench.start(&["run", "tiny.toml"]);
    wait_for("the first loading", || {
        there(&bench, "instances").contains(&"r1-0-1".to_owned()).then_some(())
    });
    signal(&child, Signal::KILL);
    end(child);
    assert!(whole(&bench).len() < 2);

    let child = bench.start(&["run", "--resume", "r1"]);
    wait_for("the first trial", || {
        let instances = there(&bench, "instances");
        instances.iter().any(|name| name.starts_with("r1-1-")).then_some(())
    });
    signal(&child, Signal::KILL);
    end(child);
    let templates = whole(&bench);
    assert_eq!(templates.len(), 2);

    let ran = bench.run(&["run", "--resume", "r1"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (0, "r1\n"), "{ran:?}");
    assert!(ran.stderr.contains("template of sqlite/wal: "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("anew") && !ran.stderr.contains("not the one"), "{}", ran.stderr);
    assert_eq!(whole(&bench), templates, "what is whole is loaded again");
    let mut journal = bench.journal("r1");
    journal.sort();
    let wanted = [1, 2]
        .map(|round| ["sqlite/rollback", "sqlite/wal"].map(|system| (round, system.to_owned())));
    assert_eq!(journal, wanted.concat());
    assert!(bench.instances().is_empty());
    // Only what was measured is compared: the loading is no result of these trials.
    let compared = bench.run(&["compare", "r1", "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    let steps = compared.as_array().unwrap().iter();
    let mut steps: Vec<&str> = steps.map(|one| one["step"].as_str().unwrap()).collect();
    steps.dedup();
    assert_eq!(steps, ["qr100"]);
}

#[test]
fn a_damaged_template_is_made_anew_and_the_plan_counts_it() {
    let bench = bench();
    let planned = bench.run(&["plan", "tiny.toml", "--format", "json"]).json();
    let of_a_trial = planned["systems"][0]["disk_bytes"].as_u64().unwrap();
    assert!(planned["disk_bytes"].as_u64().unwrap() > 2 * of_a_trial);
    bench.run(&["run", "tiny.toml"]).fine();
    let before = whole(&bench);
    let file = bench.lab().join("templates").join(&before[0].0).join("data/ib.sqlite");
    let length = fs::metadata(&file).unwrap().len();
    fs::File::options().write(true).open(&file).unwrap().set_len(length / 2).unwrap();
    let ran = bench.run(&["run", "tiny.toml"]);
    assert_eq!(ran.code(), 0, "{ran:?}");
    assert!(
        ran.stderr.contains("is damaged, backslide makes it again: expected "),
        "{}",
        ran.stderr
    );
    let after = whole(&bench);
    assert_eq!((&before[0].0, &before[1]), (&after[0].0, &after[1]));
    // The same rows; how they fill the pages depends on how writers met.
    assert!(fs::metadata(&file).unwrap().len() > length * 3 / 4);
}
