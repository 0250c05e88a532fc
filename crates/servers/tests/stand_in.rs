//! Lifecycles that no real server can be made to have: a shell script stands in for one.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Config, Engine, Setting};
use servers::{Instance, InstanceSpec, ServerError, inspect};

/// Answers `--version`, initialises by making the data directory, and else does `behaviour`, which may use
/// `$socket`.
fn stand_in(base: &Path, behaviour: &str) {
    let script = format!(
        r#"#!/bin/sh
file="${{1#--defaults-file=}}"
case "$*" in
    *--version*) echo 'mysqld  Ver 8.0.33 for Linux on x86_64 (a script)'; exit 0;;
    *--initialize-insecure*) mkdir "$(sed -n 's/^datadir = //p' "$file")"; exit;;
esac
socket=$(sed -n 's/^socket = //p' "$file")
{behaviour}
"#
    );
    let program = base.join("bin/mysqld");
    fs::create_dir_all(base.join("bin")).unwrap();
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn spec(base: &Path) -> InstanceSpec {
    InstanceSpec {
        build: inspect(base).unwrap(),
        engine: Engine::Innodb,
        config: Config {
            left_out: Vec::new(),
            name: "c".to_owned(),
            summary: String::new(),
            settings: Vec::new(),
        },
        directory: base.join("instances/one"),
        server_cpus: String::new(),
    }
}

fn instance(base: &Path, behaviour: &str) -> Instance {
    stand_in(base, behaviour);
    Instance::create(spec(base)).unwrap()
}

/// The message with what differs from run to run replaced.
fn message(error: &ServerError, base: &Path) -> String {
    error
        .to_string()
        .replace(&base.display().to_string(), "BASE")
}

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn one_that_dies_at_once_shows_its_last_words() {
    let base = tempfile::tempdir().unwrap();
    let mut server = instance(base.path(), "echo '[ERROR] no room' >&2; exit 3");
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one died: exit status: 3
      | [ERROR] no room
    ");
    assert_eq!(error.log_tail(), ["[ERROR] no room"]);
    assert!(!server.is_alive() && server.pid().is_none());
    assert!(!server.endpoint_socket().parent().unwrap().exists());
}

#[test]
fn one_that_never_opens_its_socket_is_killed() {
    let base = tempfile::tempdir().unwrap();
    let mut server = instance(base.path(), "echo starting; exec sleep 63");
    let limit = Duration::from_millis(300);
    let begin = Instant::now();
    let error = server.start(&mut || Ok(()), limit).unwrap_err();
    assert!(begin.elapsed() < LIMIT);
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one did not answer within 300ms: it has not opened its socket; it was killed
      | starting
    ");
    assert!(!server.is_alive());
}

#[test]
fn one_that_refuses_every_login_is_killed_and_the_last_refusal_shown() {
    let base = tempfile::tempdir().unwrap();
    let mut server = instance(base.path(), ": > \"$socket\"; exec sleep 64");
    let mut attempts = 0;
    let mut refuse = || {
        attempts += 1;
        Err(format!("access denied, attempt {attempts}"))
    };
    let error = server
        .start(&mut refuse, Duration::from_millis(300))
        .unwrap_err();
    assert!(attempts > 1);
    let expected = format!("within 300ms: access denied, attempt {attempts}; it was killed");
    assert!(error.to_string().contains(&expected), "{error}");
    assert!(!server.is_alive());
}

#[test]
fn one_that_ignores_the_request_to_stop_is_killed_and_that_is_said() {
    let base = tempfile::tempdir().unwrap();
    let behaviour = "trap '' TERM; : > \"$socket\"; while :; do sleep 0.1; done";
    let mut server = instance(base.path(), behaviour);
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let error = server.stop(Duration::from_millis(300)).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @"mysql-8.0.33 in BASE/instances/one did not stop within 300ms and was killed");
    assert!(!server.is_alive() && server.pid().is_none());
}

#[test]
fn ways_to_end() {
    let base = tempfile::tempdir().unwrap();
    let behaviour = "trap 'exit 0' TERM; : > \"$socket\"; while :; do sleep 0.05; done";
    let mut server = instance(base.path(), behaviour);
    assert_eq!(
        server.stop(LIMIT).unwrap().0,
        0,
        "nothing to stop took time"
    );
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    assert!(
        matches!(error, ServerError::AlreadyRunning { .. }),
        "{error}"
    );
    assert!(server.is_alive());
    server.stop(LIMIT).unwrap();
    assert!(!server.is_alive());

    stand_in(
        base.path(),
        "trap 'echo torn; exit 7' TERM; : > \"$socket\"; while :; do sleep 0.05; done",
    );
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let error = server.stop(LIMIT).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one did not stop cleanly: exit status: 7
      | torn
    ");

    stand_in(
        base.path(),
        ": > \"$socket\"; sleep 0.2; echo out of memory; kill -9 $$",
    );
    server.start(&mut || Ok(()), LIMIT).unwrap();
    while server.is_alive() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let error = server.stop(LIMIT).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one died: signal: 9 (SIGKILL)
      | torn
      | out of memory
    ");
    server.remove().unwrap();
    assert!(!base.path().join("instances/one").exists());
}

#[test]
fn a_failed_initialisation_shows_its_log() {
    let base = tempfile::tempdir().unwrap();
    stand_in(base.path(), "");
    let program = base.path().join("bin/mysqld");
    let script = fs::read_to_string(&program).unwrap();
    fs::write(
        &program,
        script.replace("mkdir", "echo '[ERROR] disk full'; false"),
    )
    .unwrap();
    let error = Instance::create(spec(base.path())).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 failed to initialise BASE/instances/one: exit status: 1
      | [ERROR] disk full
    ");
    assert!(base.path().join("instances/one/init.log").exists());
}

#[test]
fn a_directory_in_use_is_refused_and_the_server_goes_on() {
    let base = tempfile::tempdir().unwrap();
    let mut server = instance(base.path(), ": > \"$socket\"; exec sleep 65");
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let error = Instance::create(spec(base.path())).unwrap_err();
    assert!(
        matches!(error, ServerError::InUse { pid, .. } if Some(pid) == server.pid()),
        "{error}"
    );
    assert!(server.is_alive());
    server.kill();
    Instance::create(spec(base.path())).unwrap();
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_touched() {
    let base = tempfile::tempdir().unwrap();
    stand_in(base.path(), "");
    let refuse = |change: &dyn Fn(&mut InstanceSpec)| {
        let mut spec = spec(base.path());
        change(&mut spec);
        let error = Instance::create(spec).unwrap_err();
        assert!(!base.path().join("instances").exists(), "{error}");
        message(&error, base.path())
    };
    let set = |spec: &mut InstanceSpec, name: &str| {
        spec.config.settings = vec![Setting {
            name: name.to_owned(),
            value: Some("/x".to_owned()),
        }];
    };
    insta::assert_snapshot!(refuse(&|spec| set(spec, "datadir")), @"config `c`: setting `datadir` belongs to backslide, which isolates its servers with it: leave it out");
    insta::assert_snapshot!(refuse(&|spec| spec.engine = Engine::Heap), @"heap cannot be used with mysql: choose innodb");
    insta::assert_snapshot!(refuse(&|spec| spec.server_cpus = "1023".to_owned()), @"the server's CPUs: of the CPUs `1023` this machine offers only `none`: change the plan's `cpus`, or run it where they exist");
    insta::assert_snapshot!(refuse(&|spec| spec.build.source = model::BuildSource::Embedded), @"mysql-8.0.33 is not a server that can be started here");
    insta::assert_snapshot!(refuse(&|spec| spec.build.version = "5.6.24".parse().unwrap()), @"mysql-5.6.24 cannot be initialised: the SQL of the system tables (mysql_system_tables.sql or mariadb_system_tables.sql) is missing from BASE/share");
}

#[test]
fn a_server_runs_on_its_cpus() {
    let base = tempfile::tempdir().unwrap();
    let behaviour = "grep Cpus_allowed_list /proc/self/status; : > \"$socket\"; exec sleep 66";
    stand_in(base.path(), behaviour);
    let mut spec = spec(base.path());
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = allowed
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap();
    let last = *servers::parse_cpus(allowed.trim()).unwrap().last().unwrap();
    spec.server_cpus = last.to_string();
    let mut server = Instance::create(spec).unwrap();
    server.start(&mut || Ok(()), LIMIT).unwrap();
    assert_eq!(server.log_tail(1), [format!("Cpus_allowed_list:\t{last}")]);
}
