//! The real binary under limits of the shell that starts it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::process::Command;

use common::{Bench, Ran, end, names, plan};

/// What backslide does with `arguments` after a shell has done `first`.
fn after(first: &str, bench: &Bench, arguments: &[&str]) -> Ran {
    let inner = bench.command(arguments);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("{first}; exec \"$@\""), "sh"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(bench.directory.path())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    end(shell.spawn().unwrap())
}

fn clients(clients: u32) -> String {
    let workload = format!(
        "kind = \"micro\", tests = [\"point-query\"], tables = 1, rows = 1_000, read_seconds = 1, \
         warmup_seconds = 0, settle = 0, warm_ups = false, clients = {clients}"
    );
    plan(&workload, 1, &["build = \"sqlite\"\nconfig = \"wal\""])
}

#[test]
fn two_thousand_clients_are_refused_before_the_first_trial_where_the_hard_limit_is_too_low() {
    let bench = Bench::new();
    bench.write("p.toml", &clients(2_000));
    for verb in ["plan", "run"] {
        let ran = after("ulimit -n 1000", &bench, &[verb, "p.toml"]);
        let said = "2000 sessions need 6256 open files, and the hard limit of this process is 1000: raise it (ulimit -n 6256), or use fewer clients";
        let words = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{verb}: {ran:?}");
        assert_ne!(ran.code(), 0);
    }
    let list = bench.run(&["list", "--format", "json"]).json();
    assert_eq!(list.as_array().map(Vec::len), Some(0), "{list}");
    assert!(bench.instances().is_empty(), "{:?}", names(&bench.lab()));
}

#[test]
fn a_low_soft_limit_is_raised() {
    let bench = Bench::new();
    bench.write("p.toml", &clients(200));
    after("ulimit -Sn 64", &bench, &["run", "p.toml"]).fine();
}
