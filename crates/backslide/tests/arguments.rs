//! Verbs that are given a system as arguments, and no plan: what is wrong with it is told of the arguments.

mod common;

use common::Bench;
use insta::assert_snapshot;

/// What a verb that must fail prints for people.
fn error(bench: &Bench, arguments: &[&str]) -> String {
    let ran = bench.run(arguments);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert_eq!(ran.stdout, "");
    assert!(bench.instances().is_empty());
    ran.stderr.trim_end().to_owned()
}

#[test]
fn of_a_crash_check() {
    let bench = Bench::new();
    let error = |arguments: &[&str]| error(&bench, &[&["crash-check"], arguments].concat());
    assert_snapshot!(error(&["no-such"]), @"error: BUILD: no build `no-such`: it is neither installed nor in the catalog; `backslide builds` lists available builds, `backslide add` adds one of your own, in a plan `path = \"…\"` says where one is");
    assert_snapshot!(error(&[""]), @r#"error: `BUILD` must be text, not """#);
    assert_snapshot!(error(&["sqlite", "--config", "waal"]), @"error: --config: no sqlite config `waal`; nearest `wal`; available: default, rollback, wal");
    assert_snapshot!(error(&["sqlite", "--config", "a\"b"]), @"error: --config: no sqlite config `a\"b`; available: default, rollback, wal");
    assert_snapshot!(error(&["sqlite", "--engine", "innodb"]), @"error: --engine: sqlite has no engine `innodb`: use btree, or leave it out");
    assert_snapshot!(error(&["sqlite", "--set", "synchronous=off", "--set", "synchronous=full"]), @"error: --set: `synchronous` is given twice: leave one out");
}

#[test]
fn of_a_try() {
    let bench = Bench::new();
    let error = |arguments: &[&str]| error(&bench, &[&["try"], arguments].concat());
    assert_snapshot!(error(&["sqlite", "--config", "x\"y"]), @"
    error: sqlite does not work here
      because --config: no sqlite config `x\"y`; available: default, rollback, wal
    ");
    assert_snapshot!(error(&["sqlite", "--engine", "heap"]), @"
    error: sqlite does not work here
      because --engine: sqlite has no engine `heap`: use btree, or leave it out
    ");
    assert_snapshot!(error(&["no-such\nbuild"]), @"
    error: no-such
    build does not work here
      because BUILD: no build `no-such
    build`: it is neither installed nor in the catalog; `backslide builds` lists available builds, `backslide add` adds one of your own, in a plan `path = \"…\"` says where one is
    ");
}

#[test]
fn of_an_explanation() {
    let bench = Bench::new();
    let error = |a: &str, b: &str| error(&bench, &["explain", a, b]);
    assert_snapshot!(error("sqlite/wal", "sqlite/waal"), @"error: SYSTEM: no sqlite config `waal`; nearest `wal`; available: default, rollback, wal");
    assert_snapshot!(error("sqlite/wal", "no-such"), @"error: SYSTEM: no build `no-such`: it is neither installed nor in the catalog; `backslide builds` lists available builds, `backslide add` adds one of your own, in a plan `path = \"…\"` says where one is");
    assert_snapshot!(error("sqlite/heap", "sqlite"), @"error: SYSTEM: sqlite has no engine `heap`: use btree, or leave it out");
    assert_snapshot!(error("sqlite", "sqlite/default"), @"error: SYSTEM: `sqlite/default` is named twice: name two different systems");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let bench = Bench::new();
    let help = bench.run(&["--help"]).fine();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    // The second line of a long text begins with more spaces.
    let commands: Vec<&str> = commands.filter(|command| !command.is_empty()).collect();
    assert!(commands.contains(&"compare"), "{commands:?}");
    let pages = bench.directory.path().join("man1");
    bench.run(&["manual", pages.to_str().unwrap()]).fine();
    let scripts = ["bash", "zsh", "fish"].map(|shell| bench.run(&["completions", shell]).fine());
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(pages.join(format!("backslide-{command}.1")).is_file(), "{command}");
        for script in &scripts {
            assert!(script.contains(command), "{command}");
        }
    }
    assert!(pages.join("backslide.1").is_file());
    let refused = bench.run(&["completions", "csh"]);
    assert_eq!(refused.code(), 2, "{refused:?}");
}
