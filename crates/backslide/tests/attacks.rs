//! What is hostile or broken around the program: files without end, full devices, small stacks, kills, and programs
//! that look at what they are given.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::Bench;

#[test]
fn a_plan_without_end_is_refused_and_a_pipe_does_not_hold_it_up() {
    let bench = Bench::new();
    let made = Command::new("mkfifo").arg(bench.path("pipe.toml")).status();
    assert!(made.unwrap().success());
    let large = fs::File::create(bench.path("large.toml")).unwrap();
    large.set_len(300 << 20).unwrap();
    bench.write("plan.toml", "name = \"x\"\nrounds = 1\nworkload = { kind = \"sql\", file = \"./pipe.toml\" }\n[[system]]\nbuild = \"sqlite\"\n");
    let mut told = String::new();
    for arguments in [
        &["plan", "/dev/zero"][..],
        &["run", "pipe.toml"],
        &["plan", "large.toml"],
        &["plan", "plan.toml"],
        &["workloads", "./pipe.toml"],
        &["workloads", "/dev/zero"],
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.code(), 1, "{arguments:?}: {ran:?}");
        told.push_str(&ran.stderr);
    }
    insta::assert_snapshot!(told, @r"
    error: cannot read /dev/zero
      because it is not a regular file; copy its contents into one
    error: cannot read pipe.toml
      because it is not a regular file; copy its contents into one
    error: cannot read large.toml
      because it is larger than 4.00 MiB; plans and workload files are smaller
    error: cannot read the workload of plan.toml
      because cannot read ./pipe.toml
      because it is not a regular file; copy its contents into one
    error: cannot read ./pipe.toml
      because it is not a regular file; copy its contents into one
    error: cannot read /dev/zero
      because it is not a regular file; copy its contents into one
    ");
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    let bench = Bench::new();
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let output = bench.command(arguments).stdout(full.unwrap()).output();
        let output = output.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        let error = "error: cannot write to stdout\n  because No space left on device";
        assert!(told.starts_with(error), "{arguments:?}: {told}");
    }
    assert_eq!(bench.run(&["--no-such"]).code(), 2);
    assert_eq!(bench.run(&["--help"]).code(), 0);
}

#[test]
fn a_small_stack_is_enough() {
    let bench = Bench::new();
    let limited = r#"ulimit -s 64; exec "$0" plan demo"#;
    let mut command = Command::new("sh");
    command
        .args(["-c", limited, env!("CARGO_BIN_EXE_backslide")])
        .env("BACKSLIDE_LAB", bench.lab());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Curl is a stand-in that writes down its environment.
#[test]
fn no_program_that_is_started_gets_the_password_or_an_empty_tmpdir() {
    let bench = Bench::new();
    let bin = bench.path("bin");
    fs::create_dir(&bin).unwrap();
    let seen = bench.path("seen");
    let script = format!("#!/bin/sh\n/usr/bin/env > '{}'\nexit 7\n", seen.display());
    for client in ["curl", "wget"] {
        fs::write(bin.join(client), &script).unwrap();
        fs::set_permissions(bin.join(client), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let arguments = ["add", "mine", "--archive", "http://127.0.0.1:1/a.tar.gz"];
    let mut command = bench.command(&arguments);
    command
        .env("PATH", &bin)
        .env("KEPT", "yes")
        .env("BACKSLIDE_PASSWORD", "open-sesame")
        .env("TMPDIR", "");
    let output = command.output().unwrap();
    assert!(!output.status.success());
    let seen = fs::read_to_string(seen).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(seen.contains("KEPT=yes"), "{seen}");
    assert!(!seen.contains("sesame") && !seen.contains("TMPDIR=\n"), "{seen}");
}

/// The measured path does without: `drivers`, `load` and `model`; `testkit` is for tests only.
#[test]
fn a_release_checks_the_arithmetic_of_every_crate_outside_of_the_measured_path() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let manifest = fs::read_to_string(format!("{root}/Cargo.toml")).unwrap();
    for name in common::names(format!("{root}/crates").as_ref()) {
        let entry = format!("[profile.release.package.{name}]\noverflow-checks = true\n");
        let without =
            ["data", "drivers", "load", "model", "testkit", "workloads"].contains(&name.as_str());
        assert_eq!(manifest.contains(&entry), !without, "{name}");
    }
}
