//! A child process that cannot be left behind.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::Product;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, getrlimit, kill_process_group,
    set_parent_process_death_signal, setrlimit,
};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::account::{NamespaceMaps, RunAs};
use crate::freeze::{FreezeError, Freezer, thaw_for_its_end};
use crate::identity::{Identity, pid_of};
use crate::installation::Installation;

const POLL: Duration = Duration::from_millis(5);

/// How long a program may stay open for writing. After it is written, a child that another thread forked
/// has it open until that child calls `exec`.
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// How long a server may take to end its own processes before it is killed with all of them, and how
/// long the kernel may take to end a killed one.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// Variables of our environment that a child gets. The others stay here: `PGDATA`, `MYSQL_HOME` and
/// similar variables, or a preloaded library, would change the measurement.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "TZ", "TMPDIR", "LD_LIBRARY_PATH"];

pub(crate) struct Launch<'a> {
    /// The program and arguments that run `program`, if any.
    pub(crate) under: &'a [String],
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
    pub(crate) directory: &'a Path,
    /// Its directory for temporary files, where it is not the host's.
    pub(crate) temporary: Option<&'a Path>,
    /// Libraries that it needs to be led to.
    pub(crate) libraries: Option<&'a Path>,
    pub(crate) preload: Option<&'a Path>,
    /// May it lock as much memory as it likes? Huge pages count as locked.
    pub(crate) locks_memory: bool,
    pub(crate) run_as: &'a RunAs,
    /// The CPUs that it may use; without a set the caller's.
    pub(crate) cpus: Option<CpuSet>,
    pub(crate) death: Signal,
}

impl<'a> Launch<'a> {
    pub(crate) fn question(installation: &'a Installation, product: &'a Product) -> Self {
        Self {
            under: &[],
            program: &installation.program,
            arguments: &product.program.version_arguments,
            directory: Path::new("/"),
            temporary: None,
            libraries: installation.libraries.as_deref(),
            preload: None,
            locks_memory: false,
            run_as: &RunAs::Ourselves,
            cpus: None,
            death: Signal::KILL,
        }
    }

    /// Starts it, with `output` as both its output and its errors.
    ///
    /// It leads a process group of its own, so that a terminal's ^C does not reach it, and the kernel
    /// sends it the death signal when the calling *thread* ends: call this from a thread that lives
    /// as long as the process shall.
    pub(crate) fn spawn(&self, input: Stdio, output: fs::File) -> io::Result<Running> {
        let mut words = self.under.iter().map(OsStr::new).chain([self.program.as_os_str()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command
            .args(words)
            .args(self.arguments)
            .current_dir(self.directory)
            .env_clear()
            .envs(self.environment())
            .stdin(input)
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0);
        if let RunAs::Account(account) = self.run_as {
            command.uid(account.uid).gid(account.gid);
        }
        ChildSetup {
            parent: rustix::process::getpid(),
            cpus: self.cpus,
            locked: self.locks_memory.then(unlimited_lock),
            namespace: matches!(self.run_as, RunAs::Namespace).then(NamespaceMaps::of_caller),
            death: self.death,
        }
        .attach(&mut command);
        Running::new(spawn(&mut command)?, self.death)
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&str, OsString)> =
            PASSED_ON.iter().filter_map(|name| Some((*name, env::var_os(name)?))).collect();
        variables.push(("LC_ALL", OsString::from("C")));
        // Of two values for one name the later holds.
        if let Some(directory) = self.temporary {
            variables.push(("TMPDIR", directory.into()));
        }
        if let Some(directory) = self.libraries {
            let mut path = OsString::from(directory);
            if let Some(inherited) = env::var_os("LD_LIBRARY_PATH") {
                path.push(":");
                path.push(inherited);
            }
            variables.push(("LD_LIBRARY_PATH", path));
        }
        if let Some(library) = self.preload {
            variables.push(("LD_PRELOAD", library.into()));
        }
        variables
    }
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    let deadline = Instant::now() + BUSY_LIMIT;
    loop {
        match command.spawn() {
            Err(cause)
                if cause.kind() == io::ErrorKind::ExecutableFileBusy
                    && Instant::now() < deadline =>
            {
                thread::sleep(POLL);
            }
            done => return done,
        }
    }
}

/// No limit of locked memory, which root may set, and the highest that anybody may.
fn unlimited_lock() -> [Rlimit; 2] {
    let maximum = getrlimit(Resource::Memlock).maximum;
    let unlimited = Rlimit { current: None, maximum: None };
    let allowed = Rlimit { current: maximum, maximum };
    [unlimited, allowed]
}

struct ChildSetup {
    parent: Pid,
    cpus: Option<CpuSet>,
    /// Limits of locked memory, the best first.
    locked: Option<[Rlimit; 2]>,
    namespace: Option<NamespaceMaps>,
    death: Signal,
}

impl ChildSetup {
    #[expect(
        unsafe_code,
        reason = "only the child itself can ask for its death signal and namespace"
    )]
    fn attach(self, command: &mut Command) {
        // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are allowed:
        // it makes plain system calls and allocates nothing, in its errors neither.
        unsafe { command.pre_exec(move || self.apply()) };
    }

    fn apply(&self) -> io::Result<()> {
        if let Some(cpus) = &self.cpus {
            sched_setaffinity(None, cpus)?;
        }
        if let Some([unlimited, allowed]) = &self.locked {
            // Before the namespace, where nobody may raise it. The pool and the server decide whether the
            // lower one is enough.
            setrlimit(Resource::Memlock, *unlimited)
                .or_else(|_| setrlimit(Resource::Memlock, *allowed))?;
        }
        if let Some(namespace) = &self.namespace {
            namespace.enter()?;
        }
        // After every change of credentials, because each clears it.
        set_parent_process_death_signal(Some(self.death))?;
        // If the parent died before the line above, no signal comes any more.
        if getppid() == Some(self.parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    }
}

/// A process that we started; dropping it ends it and all that it started.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) identity: Identity,
    death: Signal,
    ended: Option<ExitStatus>,
    /// Since it was frozen for the first time.
    freezer: Option<Freezer>,
}

impl Running {
    fn new(mut child: Child, death: Signal) -> io::Result<Self> {
        match Identity::of(child.id()) {
            Ok(identity) => Ok(Self { child, identity, death, ended: None, freezer: None }),
            Err(cause) => {
                // Without /proc it could not be told from another process later.
                let _ = child.kill();
                let _ = child.wait();
                Err(cause)
            }
        }
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Waits for its end, but no longer than `limit`.
    pub(crate) fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        self.wait_unless(limit, &AtomicBool::new(false))
    }

    /// Waits for its end, but no longer than `limit`, nor on once `stop` is set.
    pub(crate) fn wait_unless(&mut self, limit: Duration, stop: &AtomicBool) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            let is_over = begin.elapsed() >= limit || stop.load(Ordering::Relaxed);
            if self.ended().is_some() || is_over {
                return self.ended;
            }
            thread::sleep(POLL);
        }
    }

    /// Holds it and all that it started still.
    pub(crate) fn freeze(&mut self, told: impl FnOnce()) -> Result<(), FreezeError> {
        self.freezer.get_or_insert_with(|| Freezer::new(&self.identity)).freeze(told)
    }

    pub(crate) fn thaw(&mut self) -> Result<(), FreezeError> {
        self.freezer.as_mut().map_or(Ok(()), Freezer::thaw)
    }

    /// Sends it a signal, and lets it run on to receive it.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.identity.signal(signal);
        // Dropping it thaws the server, whatever became of its files.
        self.freezer = None;
    }

    /// Ends it and all that it started, and waits for the end.
    pub(crate) fn kill(&mut self) {
        self.kill_after(KILL_LIMIT);
    }

    /// Ends it and all that it started at once, and waits for the end of all of them: nothing of it gets a
    /// chance to tidy up, nor to go on for a moment without the rest.
    pub(crate) fn crash(&mut self) {
        if self.ended().is_some() {
            return;
        }
        // A process that stands still starts no others while they are listed.
        self.identity.signal(Signal::STOP);
        self.freezer = None;
        let children = self.identity.children();
        kill_tree(&self.identity, &children);
        self.wait(KILL_LIMIT);
        for child in &children {
            wait_for_stranger(child, KILL_LIMIT);
        }
    }

    /// Leaves it `limit` to end its own processes before all are killed.
    fn kill_after(&mut self, limit: Duration) {
        if self.ended().is_some() {
            return;
        }
        self.freezer = None;
        let children = self.identity.children();
        if self.death != Signal::KILL {
            end(&self.identity, self.death);
            if self.wait(limit).is_some() {
                return;
            }
        }
        kill_tree(&self.identity, &children);
        self.wait(KILL_LIMIT);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills a process, its group where it leads one, and children that left the group, as PostgreSQL's do.
fn kill_tree(leader: &Identity, children: &[Identity]) {
    // While the process lives, no group but its own can have its pid as id.
    if leader.is_alive()
        && let Some(group) = pid_of(leader.pid)
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    leader.signal(Signal::KILL);
    for child in children {
        child.signal(Signal::KILL);
    }
}

/// Ends a process that is not our child: asks, waits `limit`, then kills it and its children. True
/// when asking was enough.
pub(crate) fn end_stranger(identity: &Identity, stop: Signal, limit: Duration) -> bool {
    let children = identity.children();
    identity.signal(stop);
    thaw_for_its_end(identity);
    if wait_for_stranger(identity, limit) {
        return true;
    }
    kill_tree(identity, &children);
    wait_for_stranger(identity, KILL_LIMIT);
    false
}

fn wait_for_stranger(identity: &Identity, limit: Duration) -> bool {
    let begin = Instant::now();
    while identity.is_alive() {
        if begin.elapsed() >= limit {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}

/// The process of a server of ours, for those who only need to know whether it still runs, or to end it
/// while another thread waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    pub(crate) identity: Identity,
    pub(crate) death: Signal,
}

impl ServerProcess {
    /// Does exactly this process still run? Two small files are read to find out.
    pub fn is_alive(&self) -> bool {
        self.identity.is_alive()
    }

    /// Does the kernel write its core? It gives no answer meanwhile, and ends by itself.
    pub fn is_dumping_core(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.identity.pid));
        status.is_ok_and(|text| text.lines().any(|line| line == "CoreDumping:\t1"))
    }

    /// Ends it without waiting for that; [`crate::Instance::kill`] then waits, and tidies up.
    pub fn end(&self) {
        end(&self.identity, self.death);
    }
}

/// Ends a process with this signal, also where it stands still.
fn end(process: &Identity, death: Signal) {
    process.signal(death);
    thaw_for_its_end(process);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn shell(script: &str, output: &Path, death: Signal) -> Running {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let launch = Launch {
            under: &[],
            program: Path::new("/bin/sh"),
            arguments: &arguments,
            directory: Path::new("/"),
            temporary: Some(Path::new("/tmp/of the instance")),
            libraries: Some(Path::new("/some/lib")),
            preload: None,
            locks_memory: false,
            run_as: &RunAs::Ourselves,
            cpus: None,
            death,
        };
        let output = fs::File::create(output).unwrap();
        launch.spawn(Stdio::null(), output).unwrap()
    }

    #[test]
    fn a_child_gets_a_clean_environment() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let mut running =
            shell("echo \"$TMPDIR\"; echo \"${LD_LIBRARY_PATH%%:*}\"; env", &log, Signal::KILL);
        assert!(running.wait(Duration::from_secs(10)).unwrap().success());
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("/tmp/of the instance\n/some/lib\n"), "{text}");
        assert!(text.contains("LC_ALL=C\n"));
        assert!(!text.contains("CARGO"), "{text}");
    }

    #[test]
    fn a_program_that_is_open_for_writing_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("server");
        fs::copy("/bin/sleep", &program).unwrap();
        let open = fs::File::options().append(true).open(&program).unwrap();
        let mut command = Command::new(&program);
        command.arg("0");
        match command.spawn() {
            // Linux 6.11 and 6.12 do not mind.
            Ok(mut child) => drop(child.wait()),
            Err(cause) => assert_eq!(cause.kind(), io::ErrorKind::ExecutableFileBusy),
        }
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            drop(open);
        });
        assert!(spawn(&mut command).unwrap().wait().unwrap().success());
        writer.join().unwrap();
    }

    #[test]
    fn dropping_ends_the_whole_group() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let running = shell("sleep 61 & echo $!; wait", &log, Signal::KILL);
        let begin = Instant::now();
        let grandchild = loop {
            if let Ok(pid) = fs::read_to_string(&log).unwrap().trim().parse::<u32>() {
                break Identity::of(pid).unwrap();
            }
            assert!(begin.elapsed() < Duration::from_secs(10), "the script said nothing");
            thread::sleep(POLL);
        };
        assert!(grandchild.is_alive());
        drop(running);
        assert!(wait_for_stranger(&grandchild, Duration::from_secs(5)), "it outlived its owner");
    }

    #[test]
    fn a_crash_leaves_no_time_to_tidy_up_and_nobody_behind() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let mut running = shell(
            "trap 'echo tidied; exit 0' QUIT; setsid sleep 62 & echo $!; while :; do sleep 0.1; done",
            &log,
            Signal::QUIT,
        );
        let begin = Instant::now();
        let said = || fs::read_to_string(&log).unwrap();
        while !said().ends_with('\n') && begin.elapsed() < KILL_LIMIT {
            thread::sleep(POLL);
        }
        // Its own session, as the processes of PostgreSQL have it.
        let outside: u32 = said().trim().parse().unwrap();
        let outside = Identity::of(outside).unwrap();
        running.crash();
        assert!(running.ended().is_some_and(|status| !status.success()));
        assert!(!outside.is_alive(), "a process of it goes on");
        assert!(!said().contains("tidied"));
    }

    #[test]
    fn a_death_signal_that_is_ignored_is_followed_by_a_kill() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let mut running =
            shell("trap '' TERM; echo ready; while :; do sleep 1; done", &log, Signal::TERM);
        let begin = Instant::now();
        while fs::read_to_string(&log).unwrap().is_empty() && begin.elapsed() < KILL_LIMIT {
            thread::sleep(POLL);
        }
        running.kill_after(Duration::from_millis(200));
        assert!(running.ended().is_some_and(|status| !status.success()));
    }
}
