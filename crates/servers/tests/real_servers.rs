//! The servers that are installed on this machine; each test says so and returns where there are none.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model::{Build, Config, Connection, Dbms, Setting, System, Transport};
use servers::{
    Fault, FreezeError, HowEnded, Instance, InstanceSpec, ServerError, StopFlag, discover, sweep,
};

const LIMIT: Duration = Duration::from_mins(1);

/// Names the directory in which a second process of this test program shall start a server and wait to be
/// killed.
const VICTIM: &str = "BACKSLIDE_TEST_VICTIM";

/// Names the variable that makes the victim freeze its server.
const FROZEN: &str = "BACKSLIDE_TEST_FROZEN";

/// The newest build of each family on this machine.
fn newest() -> Vec<Build> {
    let all = discover();
    let newest =
        Dbms::all().into_iter().filter_map(|dbms| all.iter().find(|build| build.dbms == dbms));
    let builds: Vec<Build> = newest.cloned().collect();
    if builds.is_empty() {
        testkit::skipped("no server");
    }
    builds
}

fn spec(build: &Build, directory: PathBuf, settings: &[(&str, &str)]) -> InstanceSpec {
    let settings = settings.iter().map(|(name, value)| Setting {
        name: (*name).to_owned(),
        value: Some((*value).to_owned()),
    });
    let config =
        Config { name: "test".to_owned(), settings: settings.collect(), ..Config::default() };
    InstanceSpec { system: System { config, ..System::new("a", build.clone()) }, directory }
}

/// Starts a server and waits until it takes connections and says that it does: its socket exists before that.
fn start(server: &mut Instance) -> Result<model::Nanos, ServerError> {
    let socket = server.endpoint_socket();
    let log = server.layout().log();
    let said = fs::read_to_string(&log).map_or(0, |text| text.len());
    let mut ready = || {
        UnixStream::connect(&socket)?;
        let text = fs::read_to_string(&log)?;
        let is_ready = text[said..].contains("ready for connections")
            || text[said..].contains("ready to accept connections");
        is_ready.then_some(()).ok_or_else(|| "it is not ready".into())
    };
    server.start(&mut ready, LIMIT)
}

/// Does a process run, other than as one that ended and was not reaped?
fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    })
}

/// A process and all that it started.
fn tree(pid: u32) -> Vec<u32> {
    let children = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        (parent == pid.to_string()).then_some(child)
    });
    std::iter::once(pid).chain(children).collect()
}

fn all_end(pids: &[u32]) -> bool {
    let begin = Instant::now();
    while pids.iter().any(|&pid| runs(pid)) {
        if begin.elapsed() > Duration::from_secs(15) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

#[test]
fn create_start_restart_stop_in_a_path_with_a_space() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("a lab/it's #1");
        let mut server =
            Instance::create(spec(&build, directory.clone(), &[]), StopFlag::default()).unwrap();
        for round in 1..=2 {
            start(&mut server).unwrap();
            assert!(server.is_alive(), "{} in round {round}", build.id());
            assert!(server.endpoint_socket().exists());
            assert!(server.layout().data().is_dir());
            assert!(!server.log_tail(1).is_empty());
            let pids = tree(server.pid().unwrap());
            server.stop(LIMIT).unwrap();
            assert!(all_end(&pids), "{} left a process", build.id());
            assert!(!server.is_alive() && server.pid().is_none());
            assert!(!server.endpoint_socket().parent().unwrap().exists());
        }
        server.remove().unwrap();
        assert!(!directory.exists());
    }
}

#[test]
fn a_server_on_tcp_keeps_its_port_and_has_a_certificate() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let mut spec = spec(&build, root.path().join("it's #1"), &[]);
        spec.system.connection =
            Connection { transport: Transport::Tcp, tls: true, ..Connection::default() };
        let mut server = Instance::create(spec, StopFlag::default()).unwrap();
        start(&mut server).unwrap();
        let port = server.port().unwrap();
        let layout = server.layout().clone();
        assert!(layout.certificate().is_file() && layout.key().is_file());
        for _ in 1..=2 {
            TcpStream::connect(("127.0.0.1", port)).unwrap();
            UnixStream::connect(server.endpoint_socket()).unwrap();
            server.stop(LIMIT).unwrap();
            assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
            start(&mut server).unwrap();
            assert_eq!(server.port(), Some(port));
        }
        server.remove().unwrap();
    }
}

#[test]
fn a_setting_that_the_server_refuses_is_named_by_the_server() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let spec = spec(&build, root.path().join("x"), &[("no_such_setting", "1")]);
        // MySQL and MariaDB read the file as they initialise, PostgreSQL when it starts.
        let error = Instance::create(spec, StopFlag::default())
            .and_then(|mut server| start(&mut server))
            .unwrap_err();
        let text = error.to_string();
        let first = text.lines().nth(1).unwrap_or_default();
        assert!(first.contains("no_such_setting"), "{text}");
        assert!(error.log_tail().iter().any(|line| line.contains("no_such_setting")));
    }
}

#[test]
fn settings_reach_the_server_and_several_run_at_once() {
    let root = tempfile::tempdir().unwrap();
    let mut running = Vec::new();
    for build in newest() {
        let setting = match build.dbms {
            Dbms::Mysql | Dbms::Mariadb => ("max_connections", "nonsense"),
            _ => ("shared_buffers", "nonsense"),
        };
        for copy in 1..=2 {
            let directory = root.path().join(format!("{}-{copy}", build.id()));
            let mut server =
                Instance::create(spec(&build, directory, &[]), StopFlag::default()).unwrap();
            start(&mut server).unwrap();
            running.push(server);
        }
        let wrong = spec(&build, root.path().join("wrong"), &[setting]);
        let error = Instance::create(wrong, StopFlag::default())
            .and_then(|mut server| start(&mut server))
            .unwrap_err();
        assert!(
            error.to_string().contains(setting.0) || error.to_string().contains("max-connections"),
            "{error}"
        );
    }
    let pids: Vec<u32> = running.iter().flat_map(|server| tree(server.pid().unwrap())).collect();
    assert!(running.iter().all(Instance::is_alive));
    drop(running);
    assert!(all_end(&pids), "a dropped instance left a process");
}

/// Waits until a server that got a signal is gone.
fn until_dead(server: &Instance) {
    let begin = Instant::now();
    while server.is_alive() {
        assert!(begin.elapsed() < LIMIT, "the signal did not end it");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(server: &Instance, signal: rustix::process::Signal) {
    let pid = i32::try_from(server.pid().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn two_different_builds_run_at_once_each_with_files_of_its_own() {
    let builds = newest();
    let [one, two, ..] = builds.as_slice() else {
        testkit::skipped("fewer than two builds");
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let mut servers: Vec<Instance> = [one, two]
        .map(|build| {
            Instance::create(spec(build, root.path().join(build.id()), &[]), StopFlag::default())
                .unwrap()
        })
        .into();
    for server in &mut servers {
        start(server).unwrap();
    }
    assert!(servers.iter().all(Instance::is_alive));
    let sockets: Vec<PathBuf> = servers.iter().map(Instance::endpoint_socket).collect();
    assert_ne!(sockets[0].parent(), sockets[1].parent());
    let programs: Vec<PathBuf> =
        servers.iter().map(|server| server.mapped().unwrap().program).collect();
    assert_ne!(programs[0], programs[1]);
    for server in &mut servers {
        // No file of the host is read, whoever wrote one.
        let command = format!("/proc/{}/cmdline", server.pid().unwrap());
        let command = fs::read_to_string(command).unwrap();
        let ours = server.layout().config().display().to_string();
        assert!(command.contains(&ours), "{command}");
        server.stop(LIMIT).unwrap();
    }
}

#[test]
fn a_crash_is_told_with_its_signal_and_its_log_and_core_are_kept() {
    let maximum = rustix::process::getrlimit(rustix::process::Resource::Core).maximum;
    let limit = rustix::process::Rlimit { current: maximum, maximum };
    rustix::process::setrlimit(rustix::process::Resource::Core, limit).unwrap();
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let mut server =
            Instance::create(spec(&build, root.path().join("x"), &[]), StopFlag::default())
                .unwrap();
        start(&mut server).unwrap();
        let pids = tree(server.pid().unwrap());
        signal(&server, rustix::process::Signal::SEGV);
        until_dead(&server);
        let error = server.stop(LIMIT).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error.fault(), Some(Fault::Died(_))), "{text}");
        // Killed by it, or after it caught it and told its log.
        let told = ["signal: 11 (SIGSEGV)", "after it caught signal 11"];
        assert!(told.iter().any(|words| text.contains(words)), "{text}");
        assert!(!error.log_tail().is_empty());

        let files = server.crash_files();
        assert!(files.contains(&server.layout().log()), "{files:?}");
        if text.contains("its core is ") {
            assert_eq!(files.len(), 2, "{files:?}");
            assert!(text.contains(&files[0].display().to_string()), "{text}");
        }
        assert!(files.iter().all(|file| file.is_file()), "{files:?}");
        assert!(all_end(&pids), "{} left a process", build.id());
        server.remove().unwrap();
    }
}

#[test]
fn what_a_server_maps_is_told_and_a_preloaded_library_is_among_it() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let mut spec = spec(&build, root.path().join("x"), &[]);
        // Part of every C library of the last years, and of no server.
        spec.system.preload = "libanl.so.1".to_owned();
        let mut server = match Instance::create(spec, StopFlag::default()) {
            Err(ServerError::Preload(missing)) => {
                eprintln!("skipped: no library to preload: {missing}");
                return;
            }
            created => created.unwrap(),
        };
        start(&mut server).unwrap();
        let mapped = server.mapped().unwrap();
        let named = |part: &str| {
            let named = |path: &Path| path.file_name().unwrap().to_string_lossy().contains(part);
            mapped.libraries.iter().any(|library| named(&library.path))
        };
        assert!(named("libanl.so"), "{mapped:?}");
        assert!(named("libc.so"), "{mapped:?}");
        assert!(mapped.libraries.is_sorted(), "{mapped:?}");
        assert!(mapped.allocator.contains(" (/"), "{mapped:?}");
        assert_eq!(mapped.program_sha256.len(), 64);
    }
}

#[test]
fn myrocks_starts_where_there_is_its_plugin_and_is_refused_elsewhere() {
    for build in newest() {
        if build.dbms != Dbms::Mariadb {
            continue;
        }
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("x");
        let mut spec = spec(&build, directory.clone(), &[("rocksdb_block_cache_size", "32M")]);
        spec.system.engine = model::Engine::Myrocks;
        match Instance::create(spec, StopFlag::default()) {
            Err(ServerError::NoEngine(missing)) => {
                assert!(missing.to_string().contains("ha_rocksdb.so"), "{missing}");
                assert!(!directory.exists());
            }
            created => {
                let mut server = created.unwrap();
                start(&mut server).unwrap();
                let files = server.files();
                let [tables, engine] = files.data.as_slice() else {
                    panic!("{files:?}");
                };
                assert_eq!(*tables, "ib");
                assert!(server.layout().data().join(engine).is_dir());
                server.stop(LIMIT).unwrap();
            }
        }
    }
}

/// Not a test of its own: what the victim of the tests below does.
#[test]
fn victim() {
    let Some(directory) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let dbms = directory.file_name().unwrap().to_str().unwrap();
    let build = newest().into_iter().find(|build| build.dbms.name() == dbms).unwrap();
    let mut server = Instance::create(spec(&build, directory, &[]), StopFlag::default()).unwrap();
    start(&mut server).unwrap();
    if std::env::var_os(FROZEN).is_some() {
        server.freeze(|| {}).unwrap();
    }
    let socket = server.endpoint_socket();
    println!("\npid {} {}", server.pid().unwrap(), socket.parent().unwrap().display());
    std::thread::sleep(Duration::from_mins(10));
}

/// Starts a second process of this program that starts a server, kills it with SIGKILL, and returns the
/// server's processes and socket directory.
fn kill_a_victim(directory: &Path, frozen: bool) -> (Vec<u32>, PathBuf) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "victim", "--nocapture"]).env(VICTIM, directory);
    if frozen {
        command.env(FROZEN, "yes");
    }
    let mut victim = command.stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(victim.stdout.take().unwrap());
    let said = output
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("pid ").map(str::to_owned));
    let pids = said.as_deref().and_then(|said| said.split_once(' ')?.0.parse().ok()).map(tree);
    let ran = pids.as_ref().is_some_and(|pids| pids.iter().take(1).all(|&server| runs(server)));
    // Before anything can fail here: nothing else would end it.
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(ran, "the victim started no server: {said:?}");
    let said = said.unwrap_or_default();
    let (_, socket) = said.split_once(' ').unwrap();
    (pids.unwrap_or_default(), PathBuf::from(socket))
}

#[test]
fn a_killed_backslide_leaves_no_server_and_the_sweep_removes_its_socket() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join(build.dbms.name());
        let (pids, socket) = kill_a_victim(&directory, false);
        assert!(all_end(&pids), "{} outlived its backslide", build.id());
        assert!(socket.exists());
        let swept = sweep(root.path());
        // The kernel was quicker; where it was not, the server stopped when asked.
        assert!(swept.iter().all(|s| s.how != HowEnded::StillThere), "{swept:?}");
        assert!(!socket.exists());
        // The next trial takes the directory over.
        let mut server =
            Instance::create(spec(&build, directory, &[]), StopFlag::default()).unwrap();
        start(&mut server).unwrap();
        server.stop(LIMIT).unwrap();
    }
}

#[test]
fn a_server_that_a_killed_backslide_left_frozen_is_ended_by_the_sweep() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let (pids, socket) = kill_a_victim(&root.path().join(build.dbms.name()), true);
        let swept = sweep(root.path());
        assert!(swept.iter().all(|s| s.how != HowEnded::StillThere), "{swept:?}");
        assert!(all_end(&pids), "{} outlived its backslide", build.id());
        assert!(!socket.exists());
    }
}

/// Clock ticks of CPU that these processes have used.
fn ticks(pids: &[u32]) -> u64 {
    let of = |pid: &u32| -> u64 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
    };
    pids.iter().map(of).sum()
}

#[test]
fn a_frozen_server_uses_no_cpu_and_stops_cleanly_when_it_is_asked() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let mut server =
            Instance::create(spec(&build, root.path().join("x"), &[]), StopFlag::default())
                .unwrap();
        start(&mut server).unwrap();
        let pids = tree(server.pid().unwrap());
        for _ in 0..20 {
            server.freeze(|| {}).unwrap();
            let before = ticks(&pids);
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(ticks(&pids), before, "{} ran while it was frozen", build.id());
            server.thaw().unwrap();
        }
        server.freeze(|| {}).unwrap();
        server.stop(LIMIT).unwrap();
        assert!(all_end(&pids));
        assert!(matches!(server.freeze(|| {}), Err(FreezeError::NotStarted)));
        // One that is killed while it is frozen ends too.
        start(&mut server).unwrap();
        let pids = tree(server.pid().unwrap());
        server.freeze(|| {}).unwrap();
        server.kill();
        assert!(all_end(&pids));
    }
}
