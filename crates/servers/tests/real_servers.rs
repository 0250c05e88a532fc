//! The servers that are installed on this machine; each test says so and returns where there are none.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model::{Build, Config, Dbms, Setting};
use servers::{HowEnded, Instance, InstanceSpec, ServerError, discover, sweep};

const LIMIT: Duration = Duration::from_mins(1);

/// Names the directory in which a second process of this test program shall start a server and wait to be
/// killed.
const VICTIM: &str = "BACKSLIDE_TEST_VICTIM";

/// The newest build of each family on this machine.
fn newest() -> Vec<Build> {
    let all = discover();
    let newest = Dbms::ALL
        .iter()
        .filter_map(|dbms| all.iter().find(|build| build.dbms == *dbms));
    let builds: Vec<Build> = newest.cloned().collect();
    if builds.is_empty() {
        eprintln!("skipped: no server");
    }
    builds
}

fn spec(build: &Build, directory: PathBuf, settings: &[(&str, &str)]) -> InstanceSpec {
    let settings = settings.iter().map(|(name, value)| Setting {
        name: (*name).to_owned(),
        value: Some((*value).to_owned()),
    });
    InstanceSpec {
        build: build.clone(),
        engine: build.dbms.default_engine(),
        config: Config {
            left_out: Vec::new(),
            name: "test".to_owned(),
            summary: String::new(),
            settings: settings.collect(),
        },
        directory,
        server_cpus: String::new(),
    }
}

/// Starts a server and waits until it takes connections and says that it does: its socket exists before that,
/// and MariaDB can miss a request to stop that comes too early.
fn start(server: &mut Instance) -> Result<model::Nanos, ServerError> {
    let socket = server.endpoint_socket();
    let log = server.layout().log();
    let said = fs::read_to_string(&log).map_or(0, |text| text.len());
    let mut ready = || {
        UnixStream::connect(&socket).map_err(|error| error.to_string())?;
        let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        let is_ready = text[said..].contains("ready for connections")
            || text[said..].contains("ready to accept connections");
        is_ready
            .then_some(())
            .ok_or_else(|| "it is not ready".to_owned())
    };
    server.start(&mut ready, LIMIT)
}

/// Does a process run, other than as one that ended and was not reaped?
fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    })
}

/// A process and all that it started.
fn tree(pid: u32) -> Vec<u32> {
    let children = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
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
        let mut server = Instance::create(spec(&build, directory.clone(), &[])).unwrap();
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
fn a_setting_that_the_server_refuses_is_named_by_the_server() {
    for build in newest() {
        let root = tempfile::tempdir().unwrap();
        let spec = spec(&build, root.path().join("x"), &[("no_such_setting", "1")]);
        // MySQL and MariaDB read the file as they initialise, PostgreSQL when it starts.
        let error = Instance::create(spec)
            .and_then(|mut server| start(&mut server))
            .unwrap_err();
        assert!(error.to_string().contains("no_such_setting"), "{error}");
        assert!(
            error
                .log_tail()
                .iter()
                .any(|line| line.contains("no_such_setting"))
        );
    }
}

#[test]
fn settings_reach_the_server_and_several_run_at_once() {
    let root = tempfile::tempdir().unwrap();
    let mut running = Vec::new();
    for build in newest() {
        let setting = match build.dbms {
            Dbms::Mysql | Dbms::Mariadb => ("max_connections", "nonsense"),
            Dbms::Postgres | Dbms::Sqlite => ("shared_buffers", "nonsense"),
        };
        for copy in 1..=2 {
            let directory = root.path().join(format!("{}-{copy}", build.id()));
            let mut server = Instance::create(spec(&build, directory, &[])).unwrap();
            start(&mut server).unwrap();
            running.push(server);
        }
        let wrong = spec(&build, root.path().join("wrong"), &[setting]);
        let error = Instance::create(wrong)
            .and_then(|mut server| start(&mut server))
            .unwrap_err();
        assert!(
            error.to_string().contains(setting.0) || error.to_string().contains("max-connections"),
            "{error}"
        );
    }
    let pids: Vec<u32> = running
        .iter()
        .flat_map(|server| tree(server.pid().unwrap()))
        .collect();
    assert!(running.iter().all(Instance::is_alive));
    drop(running);
    assert!(all_end(&pids), "a dropped instance left a process");
}

/// Not a test of its own: what the victim of the tests below does.
#[test]
fn victim() {
    let Some(directory) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let dbms = directory.file_name().unwrap().to_str().unwrap();
    let build = newest()
        .into_iter()
        .find(|build| build.dbms.name() == dbms)
        .unwrap();
    let mut server = Instance::create(spec(&build, directory, &[])).unwrap();
    start(&mut server).unwrap();
    let socket = server.endpoint_socket();
    println!(
        "\npid {} {}",
        server.pid().unwrap(),
        socket.parent().unwrap().display()
    );
    std::thread::sleep(Duration::from_mins(10));
}

/// Starts a second process of this program that starts a server, kills it with SIGKILL, and returns the
/// server's processes and socket directory.
fn kill_a_victim(directory: &Path) -> (Vec<u32>, PathBuf) {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(victim.stdout.take().unwrap());
    let said = output
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("pid ").map(str::to_owned));
    let pids = said
        .as_deref()
        .and_then(|said| said.split_once(' ')?.0.parse().ok())
        .map(tree);
    let ran = pids
        .as_ref()
        .is_some_and(|pids| pids.iter().take(1).all(|&server| runs(server)));
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
        let (pids, socket) = kill_a_victim(&directory);
        assert!(all_end(&pids), "{} outlived its backslide", build.id());
        assert!(socket.exists());
        let swept = sweep(root.path());
        // The kernel was quicker; where it was not, the server stopped when asked.
        assert!(
            swept.iter().all(|s| s.how != HowEnded::StillThere),
            "{swept:?}"
        );
        assert!(!socket.exists());
        // The next trial takes the directory over.
        let mut server = Instance::create(spec(&build, directory, &[])).unwrap();
        start(&mut server).unwrap();
        server.stop(LIMIT).unwrap();
    }
}
