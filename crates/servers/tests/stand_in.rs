//! Lifecycles that no real server can be made to have: a shell script stands in for one.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Config, Engine, Setting, System, Transport};
use servers::{Fault, Instance, InstanceSpec, ServerError, StopFlag, inspect};

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
    let config = Config { name: "c".to_owned(), ..Config::default() };
    InstanceSpec {
        system: System { config, ..System::new("a", inspect(base).unwrap()) },
        directory: base.join("instances/one"),
    }
}

fn instance(base: &Path, behaviour: &str) -> Instance {
    stand_in(base, behaviour);
    Instance::create(spec(base), StopFlag::default()).unwrap()
}

/// The message with run-dependent parts replaced.
fn message(error: &ServerError, base: &Path) -> String {
    error.to_string().replace(&base.display().to_string(), "BASE")
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
        Err(format!("access denied, attempt {attempts}").into())
    };
    let error = server.start(&mut refuse, Duration::from_millis(300)).unwrap_err();
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
    assert_eq!(server.stop(LIMIT).unwrap().0, 0, "nothing to stop took time");
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    assert!(matches!(error.fault(), Some(Fault::AlreadyRunning(_))), "{error}");
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

    stand_in(base.path(), ": > \"$socket\"; sleep 0.2; echo out of memory; kill -9 $$");
    server.start(&mut || Ok(()), LIMIT).unwrap();
    while server.is_alive() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let error = server.stop(LIMIT).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one died: signal: 9 (SIGKILL)
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
    fs::write(&program, script.replace("mkdir", "echo '[ERROR] disk full'; false")).unwrap();
    let error = Instance::create(spec(base.path()), StopFlag::default()).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one failed to initialise: exit status: 1
      | [ERROR] disk full
    ");
    assert!(base.path().join("instances/one/init.log").exists());
}

#[test]
fn a_directory_in_use_is_refused_and_the_server_goes_on() {
    let base = tempfile::tempdir().unwrap();
    let mut server = instance(base.path(), ": > \"$socket\"; exec sleep 65");
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let error = Instance::create(spec(base.path()), StopFlag::default()).unwrap_err();
    assert!(
        matches!(error, ServerError::InUse { pid, .. } if Some(pid) == server.pid()),
        "{error}"
    );
    assert!(server.is_alive());
    server.kill();
    Instance::create(spec(base.path()), StopFlag::default()).unwrap();
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_touched() {
    let base = tempfile::tempdir().unwrap();
    stand_in(base.path(), "");
    let refuse = |change: &dyn Fn(&mut InstanceSpec)| {
        let mut spec = spec(base.path());
        change(&mut spec);
        let error = Instance::create(spec, StopFlag::default()).unwrap_err();
        assert!(!base.path().join("instances").exists(), "{error}");
        message(&error, base.path())
    };
    let set = |spec: &mut InstanceSpec, name: &str| {
        spec.system.config.settings =
            vec![Setting { name: name.to_owned(), value: Some("/x".to_owned()) }];
    };
    insta::assert_snapshot!(refuse(&|spec| set(spec, "datadir")), @"config `c`: setting `datadir` belongs to backslide, which isolates its servers with it: leave it out");
    insta::assert_snapshot!(refuse(&|spec| spec.system.engine = Engine::Heap), @"heap cannot be used with mysql: choose innodb, myrocks or tokudb");
    insta::assert_snapshot!(refuse(&|spec| spec.system.cpus.server = "1023".to_owned()), @"the server's CPUs: of the CPUs `1023` this machine offers only `none`: change the plan's `cpus`, or run it elsewhere");
    insta::assert_snapshot!(refuse(&|spec| spec.system.build.source = model::BuildSource::Embedded), @"mysql-8.0.33bundled is not a server that can be started here");
    insta::assert_snapshot!(refuse(&|spec| spec.system.build.version = "5.6.24".parse().unwrap()), @"mysql-5.6.24 cannot be initialised: the SQL of the system tables (mysql_system_tables.sql or mariadb_system_tables.sql) is missing from BASE/share");
}

#[test]
fn a_server_runs_on_its_cpus() {
    let base = tempfile::tempdir().unwrap();
    let behaviour = "grep Cpus_allowed_list /proc/self/status; : > \"$socket\"; exec sleep 66";
    stand_in(base.path(), behaviour);
    let mut spec = spec(base.path());
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = allowed.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let last = *servers::parse_cpus(allowed.trim()).unwrap().last().unwrap();
    spec.system.cpus.server = last.to_string();
    let mut server = Instance::create(spec, StopFlag::default()).unwrap();
    server.start(&mut || Ok(()), LIMIT).unwrap();
    assert_eq!(server.log_tail(1), [format!("Cpus_allowed_list:\t{last}")]);
}

#[test]
fn what_refused_to_start_leads_with_the_reason_and_an_earlier_start_is_forgotten() {
    let base = tempfile::tempdir().unwrap();
    let mut server = instance(base.path(), "echo '[ERROR] an earlier one'; exit 1");
    server.start(&mut || Ok(()), LIMIT).unwrap_err();
    stand_in(
        base.path(),
        "echo \"[ERROR] unknown variable 'x=1'\"; seq -f '[Note] Shutting down plugin %g' 60; exit 1",
    );
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    insta::assert_snapshot!(message(&error, base.path()), @r"
    mysql-8.0.33 in BASE/instances/one died: exit status: 1
      | [ERROR] unknown variable 'x=1'
      | [Note] Shutting down plugin 54
      | [Note] Shutting down plugin 55
      | [Note] Shutting down plugin 56
      | [Note] Shutting down plugin 57
      | [Note] Shutting down plugin 58
      | [Note] Shutting down plugin 59
      | [Note] Shutting down plugin 60
    ");
    let first = error.log_tail().first().unwrap();
    assert!(first.contains("unknown variable"), "{first}");
}

/// Lets this process and what it starts leave cores, as far as it may.
fn allow_cores() {
    let maximum = rustix::process::getrlimit(rustix::process::Resource::Core).maximum;
    let limit = rustix::process::Rlimit { current: maximum, maximum };
    rustix::process::setrlimit(rustix::process::Resource::Core, limit).unwrap();
}

#[test]
fn a_crash_names_the_signal_and_what_is_left() {
    allow_cores();
    let base = tempfile::tempdir().unwrap();
    let behaviour = ": > \"$socket\"; echo went well so far; sleep 0.2; kill -SEGV $$";
    let mut server = instance(base.path(), behaviour);
    server.start(&mut || Ok(()), LIMIT).unwrap();
    while server.is_alive() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let error = message(&server.stop(LIMIT).unwrap_err(), base.path());
    assert!(
        error.starts_with("mysql-8.0.33 in BASE/instances/one died: signal: 11 (SIGSEGV)"),
        "{error}"
    );
    assert!(error.contains("core"), "{error}");
    let files = server.crash_files();
    assert_eq!(files.last(), Some(&server.layout().log()));
    // Where the kernel puts cores into the working directory and the limits allow one.
    if let Some((_, rest)) = error.split_once("its core is BASE/") {
        let core = base.path().join(rest.lines().next().unwrap());
        assert_eq!(files, [core, server.layout().log()]);
    } else {
        assert_eq!(files.len(), 1, "{error}");
    }
    assert!(files.iter().all(|file| file.is_file()));
    server.remove().unwrap();
}

#[test]
fn a_build_with_a_ready_made_data_directory_is_not_initialised() {
    let base = tempfile::tempdir().unwrap();
    let script = ": > \"$socket\"; exec sleep 67";
    stand_in(base.path(), script);
    let user = base.path().join("seed/mysql/user.frm");
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    fs::write(&user, "grants").unwrap();
    fs::set_permissions(&user, fs::Permissions::from_mode(0o444)).unwrap();
    fs::write(base.path().join("seed/auto.cnf"), "server-uuid=1").unwrap();
    fs::create_dir(base.path().join("seed/META-INF")).unwrap();
    let by_path = spec(base.path());
    let mut installed = by_path.clone();
    installed.directory = base.path().join("instances/two");
    installed.system.build.source = model::BuildSource::Installed {
        directory: base.path().display().to_string(),
        origin: "an archive".to_owned(),
        digest: String::new(),
    };
    for spec in [by_path, installed] {
        let mut server = Instance::create(spec, StopFlag::default()).unwrap();
        let data = server.layout().data();
        let copy = data.join("mysql/user.frm");
        assert_eq!(fs::read_to_string(&copy).unwrap(), "grants");
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
        assert!(!server.layout().init_log().exists());
        server.start(&mut || Ok(()), LIMIT).unwrap();
    }
}

#[test]
fn an_engine_is_refused_where_the_build_lacks_it_and_turned_on_where_not() {
    let base = tempfile::tempdir().unwrap();
    stand_in(base.path(), ": > \"$socket\"; exec sleep 68");
    let mut spec = spec(base.path());
    spec.system.engine = Engine::Myrocks;
    let error = Instance::create(spec.clone(), StopFlag::default()).unwrap_err();
    let text = message(&error, base.path());
    assert!(
        text.starts_with(
            "mysql-8.0.33 has no myrocks: it has no directory of plugins below BASE; MariaDB has it"
        ),
        "{text}"
    );
    assert!(!base.path().join("instances").exists());

    let plugin = base.path().join("lib/plugin/ha_rocksdb.so");
    fs::create_dir_all(plugin.parent().unwrap()).unwrap();
    fs::write(plugin, "").unwrap();
    spec.system.config.settings =
        vec![Setting { name: "rocksdb_block_cache_size".to_owned(), value: Some("1G".to_owned()) }];
    let server = Instance::create(spec.clone(), StopFlag::default()).unwrap();
    assert!(server.config_text().contains("plugin-load-add = ha_rocksdb.so"));
    let init = fs::read_to_string(server.layout().init_config()).unwrap();
    assert!(!init.contains("ha_rocksdb") && init.contains("loose_rocksdb_block_cache_size = 1G"));
    assert_eq!(server.files().data, ["ib", ".rocksdb"]);
    let build = spec.system.build;
    let mut captures = build.dbms.product().captures(&build.version, Engine::Myrocks);
    assert!(captures.any(|(name, _)| name == "rocksdb_status"));
}

/// A library of the host that no shell maps.
fn some_library() -> Option<String> {
    let places = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
    ];
    let mut paths = places.iter().map(|place| format!("{place}/libanl.so.1"));
    let found = paths.find(|path| Path::new(path).is_file());
    if found.is_none() {
        eprintln!("skipped: no library to preload");
    }
    found
}

#[test]
fn a_library_is_preloaded_into_the_server_alone() {
    let Some(library) = some_library() else {
        return;
    };
    let base = tempfile::tempdir().unwrap();
    stand_in(
        base.path(),
        "echo \"with $LD_PRELOAD\"; : > \"$socket\"; while :; do sleep 0.1; done",
    );
    let program = base.path().join("bin/mysqld");
    let script = fs::read_to_string(&program).unwrap();
    fs::write(&program, script.replace("mkdir", "echo \"init with ${LD_PRELOAD-nothing}\"; mkdir"))
        .unwrap();
    let mut spec = spec(base.path());
    spec.system.preload = "libanl.so.1".to_owned();
    let mut server = Instance::create(spec, StopFlag::default()).unwrap();
    let init = fs::read_to_string(server.layout().init_log()).unwrap();
    assert_eq!(init.trim(), "init with nothing");
    assert!(matches!(server.mapped().unwrap_err().fault(), Some(Fault::NotRunning)));
    server.start(&mut || Ok(()), LIMIT).unwrap();
    assert!(server.log_tail(1)[0].ends_with("/libanl.so.1"));

    let mapped = server.mapped().unwrap();
    let real = fs::canonicalize(library).unwrap();
    assert!(mapped.libraries.iter().any(|l| l.path == real && !l.deleted), "{mapped:?}");
    assert!(mapped.allocator.starts_with("C library (/"), "{mapped:?}");
    assert_eq!(
        mapped.program.file_name().unwrap(),
        fs::canonicalize("/bin/sh").unwrap().file_name().unwrap()
    );
    assert_eq!(mapped.program_sha256.len(), 64);
}

#[test]
fn a_library_that_is_missing_or_passed_over_is_an_error() {
    let base = tempfile::tempdir().unwrap();
    stand_in(base.path(), ": > \"$socket\"; exec sleep 70");
    let mut spec = spec(base.path());
    spec.system.preload = "nosuchmalloc".to_owned();
    let error = Instance::create(spec.clone(), StopFlag::default()).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "the library to preload, `nosuchmalloc`, is missing: looked for libnosuchmalloc.so* in"
        ),
        "{error}"
    );
    assert!(!base.path().join("instances").exists());

    let no_library = base.path().join("libtext.so");
    fs::write(&no_library, "text").unwrap();
    spec.system.preload = no_library.display().to_string();
    let mut server = Instance::create(spec, StopFlag::default()).unwrap();
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    let text = message(&error, base.path());
    assert!(
        text.starts_with("mysql-8.0.33 does not map BASE/libtext.so, which it was started with"),
        "{text}"
    );
    assert!(text.contains("cannot be preloaded"), "{text}");
    assert!(!server.is_alive() && server.pid().is_none());
}

#[test]
fn huge_pages_are_asked_for_and_their_absence_is_an_error() {
    let base = tempfile::tempdir().unwrap();
    stand_in(base.path(), "grep 'Max locked' /proc/self/limits; : > \"$socket\"; exec sleep 71");
    let mut spec = spec(base.path());
    spec.system.huge_pages = true;
    let mut server = Instance::create(spec, StopFlag::default()).unwrap();
    assert!(server.config_text().contains("\nlarge-pages\n"));
    let init = fs::read_to_string(server.layout().init_config()).unwrap();
    assert!(!init.contains("large-pages"));
    // Whatever this host has: the stand-in uses none of it.
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    match &error {
        ServerError::HugePages { cause, .. } => {
            let text = cause.to_string();
            assert!(text.contains("leave `huge_pages` out"), "{text}");
            assert!(server.log_tail(1).is_empty(), "it was started");
        }
        ServerError::NotHuge { got_mib, wanted_mib, .. } => {
            assert_eq!((*got_mib, *wanted_mib), (0, 128));
            // The soft limit is as high as the hard one, if not higher than before.
            let limits: Vec<&str> = error.log_tail()[0].split_whitespace().collect();
            assert_eq!(limits[3], limits[4], "{limits:?}");
        }
        other => panic!("{other}"),
    }
    assert!(!server.is_alive());
}

#[test]
fn a_port_that_another_process_took_is_exchanged_until_it_is_known() {
    let base = tempfile::tempdir().unwrap();
    let takes_any_but = |taken: u16| {
        let behaviour = format!(
            "case \"$*\" in *--port={taken}*) echo 'Address already in use'; exit 1;; esac\n\
             : > \"$socket\"; exec sleep 66"
        );
        stand_in(base.path(), &behaviour);
    };
    stand_in(base.path(), "");
    let mut spec = spec(base.path());
    spec.system.connection.transport = Transport::Tcp;
    let mut server = Instance::create(spec, StopFlag::default()).unwrap();
    let taken = server.port().unwrap();
    let listener = std::net::TcpListener::bind(("127.0.0.1", taken)).unwrap();
    takes_any_but(taken);
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let port = server.port().unwrap();
    assert_ne!(port, taken);
    drop(listener);
    server.kill();

    // Sessions of the workload know it now.
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    takes_any_but(port);
    let error = server.start(&mut || Ok(()), LIMIT).unwrap_err();
    assert!(error.to_string().contains("Address already in use"), "{error}");
    drop(listener);
    takes_any_but(taken);
    server.start(&mut || Ok(()), LIMIT).unwrap();
    assert_eq!(server.port(), Some(port));
    let process = server.process().unwrap();
    assert!(process.is_alive());
    server.remove().unwrap();
    assert!(!process.is_alive());
}

/// Sets the flag once the file says `word`.
fn set_when(flag: &StopFlag, file: &Path, word: &'static str) -> std::thread::JoinHandle<()> {
    let (flag, file) = (StopFlag::clone(flag), file.to_owned());
    std::thread::spawn(move || {
        let begin = Instant::now();
        while !fs::read_to_string(&file).is_ok_and(|text| text.contains(word)) {
            assert!(begin.elapsed() < LIMIT, "{} says nothing", file.display());
            std::thread::sleep(Duration::from_millis(10));
        }
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    })
}

/// So long that a test that waits for it never ends.
const FOREVER: Duration = Duration::from_hours(24);

#[test]
fn a_wish_to_stop_ends_the_wait_for_an_initialisation_a_start_and_a_stop() {
    let base = tempfile::tempdir().unwrap();
    let is_interrupted = |error: &ServerError| {
        assert!(matches!(error.fault(), Some(Fault::Interrupted)), "{error}");
    };
    stand_in(base.path(), "");
    let program = base.path().join("bin/mysqld");
    let script = fs::read_to_string(&program).unwrap();
    let hung = script.replace("mkdir", "echo hung; sleep 86400; mkdir");
    fs::write(&program, hung).unwrap();
    let flag = StopFlag::default();
    let spec = spec(base.path());
    let setter = set_when(&flag, &spec.directory.join("init.log"), "hung");
    is_interrupted(&Instance::create(spec.clone(), flag).unwrap_err());
    setter.join().unwrap();
    assert!(!spec.directory.exists());

    stand_in(base.path(), "echo starting; exec sleep 86400");
    let flag = StopFlag::default();
    let mut server = Instance::create(spec.clone(), StopFlag::clone(&flag)).unwrap();
    let setter = set_when(&flag, &server.layout().log(), "starting");
    is_interrupted(&server.start(&mut || Ok(()), FOREVER).unwrap_err());
    setter.join().unwrap();
    assert!(!server.is_alive());
    server.remove().unwrap();

    stand_in(base.path(), "trap 'echo asked' TERM; : > \"$socket\"; while :; do sleep 0.1; done");
    let flag = StopFlag::default();
    let mut server = Instance::create(spec, StopFlag::clone(&flag)).unwrap();
    server.start(&mut || Ok(()), LIMIT).unwrap();
    let setter = set_when(&flag, &server.layout().log(), "asked");
    is_interrupted(&server.stop(FOREVER).unwrap_err());
    setter.join().unwrap();
    assert!(!server.is_alive());
}
