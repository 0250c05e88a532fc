//! The real binary in a lab of its own.
#![allow(dead_code, reason = "each test program uses some of it")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use model::RunId;
use rustix::process::{Pid, Signal};
use store::Store;
use tempfile::TempDir;

/// Longer than anything here takes on the slowest machine; only a hang takes this long.
const PATIENCE: Duration = Duration::from_mins(2);

/// The workload of [`plan`]: all that is needed to be quick.
pub(crate) const WORKLOAD: &str = r#"kind = "insert", scale = "tiny", rows = 2_000, i1_rows = 400, i2_rows = 100, rates = [100], query_seconds = 1"#;

/// A plan of these systems, each a `[[system]]` without its header. Tests disturb each other, and that is no
/// reason to run anything again.
pub(crate) fn plan(workload: &str, rounds: u32, systems: &[&str]) -> String {
    let systems = systems.iter().map(|s| format!("[[system]]\n{s}\n"));
    format!(
        "name = \"tiny\"\nworkload = {{ {workload} }}\nrounds = {rounds}\nquarantine = false\n{}",
        systems.collect::<String>()
    )
}

/// A directory with a lab in it that is gone with its test.
pub(crate) struct Bench {
    pub(crate) directory: TempDir,
}

/// A process that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { status: output.status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap()
    }

    /// What it printed, if it exited with 0.
    pub(crate) fn fine(self) -> String {
        assert_eq!(self.code(), 0, "{self:?}");
        self.stdout
    }

    pub(crate) fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.fine()).unwrap()
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("bs-t").tempdir().unwrap();
        // A server that runs as another user must get through to its own directory.
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path(), open).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The lab's directory; there is none before the first run.
    pub(crate) fn lab(&self) -> PathBuf {
        self.path("lab")
    }

    pub(crate) fn instances(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.lab().join("instances")).into_iter();
        entries.flatten().map(|e| e.unwrap().path()).collect()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The command with the lab set, and nothing of the environment that it would obey.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backslide"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("COLUMNS", "100")
            .env("BACKSLIDE_LAB", self.lab())
            .env("BACKSLIDE_CACHE", self.path("cache"))
            // Sockets of a server that was killed are gone with the test too.
            .env("TMPDIR", self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        Ran::new(&self.command(arguments).output().unwrap())
    }

    /// Starts it; [`end`] waits for its end.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Trials with an outcome, as round and system.
    pub(crate) fn journal(&self, run: &str) -> Vec<(u32, String)> {
        let store = Store::open(&self.lab().join("lab.sqlite")).unwrap();
        let journal = store.journal(&RunId(run.to_owned())).unwrap();
        journal.into_iter().map(|(key, _)| (key.round, key.system)).collect()
    }

    /// Processes that have this lab in their command line, other than by its environment.
    pub(crate) fn processes(&self) -> Vec<String> {
        let lab = self.lab().display().to_string();
        let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
        lines.filter(|line| line.contains(&lab)).collect()
    }
}

/// Waits for a process to end, and reads what it printed.
pub(crate) fn end(child: Child) -> Ran {
    Ran::new(&child.wait_with_output().unwrap())
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until something is there.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Names of all that lies in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
