//! The clients that are compared: backslide, sysbench, pgbench, and the floor.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use bench::number_after;
use model::{Dialect, Nanos};
use nix::sys::resource::{UsageWho, getrusage};

use crate::child;
use crate::same::{TESTS, script};
use crate::server::{Place, ROWS};
use crate::spec::{INSERT, RANGE, Work};

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Ours.
    Backslide,
    /// Ours, with the script of sysbench.
    Script,
    /// sysbench with its own scripts.
    Sysbench,
    /// pgbench with the same query, prepared.
    Pgbench,
    /// Writes a request that never changes but for its key, polls, reads, looks at nothing.
    Floor,
}

/// A client's task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) clients: u32,
    pub(crate) seconds: u32,
}

/// A client's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// One kind of work.
    Work(Work),
    /// A test of the microbenchmarks.
    Test(&'static str),
}

impl Task {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Work(work) => work.name(),
            Self::Test(name) => name,
        }
    }

    /// The task with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let test = TESTS.iter().find(|(test, _)| *test == name);
        let test = test.map(|(test, _)| Self::Test(test));
        Work::from_name(name).map(Self::Work).or(test)
    }
}

/// Work and cost of a client's process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    pub(crate) cpu: Nanos,
    pub(crate) operations: u64,
    /// Bytes, where the client tells.
    pub(crate) peak: Option<u64>,
}

impl Spent {
    /// Microseconds of CPU for an operation.
    pub(crate) fn micros(&self) -> f64 {
        self.cpu.as_micros_f64() / self.operations as f64
    }
}

/// Are both peers on this machine?
pub(crate) fn are_there() -> bool {
    let answers = |peer: &Path| Command::new(peer).arg("--version").output().is_ok();
    answers(Path::new("sysbench")) && answers(&pgbench_itself())
}

/// The program itself: what Debian has in the path is a Perl script that looks for it, at a cost.
fn pgbench_itself() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut found: Vec<PathBuf> = versions
        .flatten()
        .map(|version| version.path().join("bin/pgbench"))
        .filter(|program| program.exists())
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from("pgbench"))
}

impl Client {
    /// Its command, all arguments included.
    pub(crate) fn command(self, job: Job, place: &Place) -> Result<Command> {
        match self {
            Self::Backslide => ours("backslide", job, place),
            Self::Script => ours("script", job, place),
            Self::Floor => ours("floor", job, place),
            Self::Sysbench => sysbench(job, place),
            Self::Pgbench => pgbench(job, place),
        }
    }

    /// Runs it on this CPU; returns its cost.
    pub(crate) fn run(self, job: Job, place: &Place, cpu: Option<usize>) -> Result<Spent> {
        let command = self.command(job, place)?;
        let before = children_cpu()?;
        let output = on_cpu(&command, cpu).output()?;
        let cpu = children_cpu()? - before;
        Ok(Spent {
            cpu,
            operations: self.operations(&output)?,
            peak: number_after(&text(&output), child::PEAK),
        })
    }

    /// Operations that its output tells.
    pub(crate) fn operations(self, output: &Output) -> Result<u64> {
        let said = text(output);
        let mark = match self {
            Self::Backslide | Self::Script | Self::Floor => child::DONE,
            Self::Sysbench => "transactions:",
            Self::Pgbench => "number of transactions actually processed:",
        };
        let operations = number_after(&said, mark).filter(|n| *n > 0);
        match operations {
            Some(operations) if output.status.success() => Ok(operations),
            _ => bail!("{self:?} failed ({}):\n{said}", output.status),
        }
    }
}

fn text(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    format!("{said}{errors}")
}

/// The same command, bound to a CPU.
fn on_cpu(command: &Command, cpu: Option<usize>) -> Command {
    let Some(cpu) = cpu else {
        let mut same = Command::new(command.get_program());
        same.args(command.get_args());
        return same;
    };
    let mut bound = Command::new("taskset");
    bound.arg("-c").arg(cpu.to_string());
    bound.arg(command.get_program()).args(command.get_args());
    bound
}

/// CPU time of all children that have ended.
fn children_cpu() -> Result<Nanos> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let (user, system) = (usage.user_time(), usage.system_time());
    let micros = (user.tv_sec() + system.tv_sec()) * 1_000_000 + user.tv_usec() + system.tv_usec();
    Ok(Nanos(micros as u64 * 1000))
}

fn ours(who: &str, job: Job, place: &Place) -> Result<Command> {
    // Each run has keys and values of its own, as each of a peer's has: an update that finds its value in the
    // row already costs the server next to nothing.
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let seed = RUNS.fetch_add(1, Ordering::Relaxed);
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args([child::MODE, who, job.task.name()])
        .args([job.clients.to_string(), job.seconds.to_string()])
        .arg(seed.to_string())
        .args(place.arguments());
    Ok(command)
}

fn sysbench(job: Job, place: &Place) -> Result<Command> {
    let mut command = Command::new("sysbench");
    match job.task {
        Task::Test(test) => {
            command.arg(script(test)?);
        }
        Task::Work(Work::Point) => {
            command.arg("oltp_point_select");
        }
        Task::Work(Work::Range) => {
            command.args([
                "oltp_read_only",
                "--skip_trx=on",
                "--point_selects=0",
                "--simple_ranges=1",
                "--sum_ranges=0",
                "--order_ranges=0",
                "--distinct_ranges=0",
            ]);
            command.arg(format!("--range_size={RANGE}"));
        }
        Task::Work(Work::Update) => {
            command.arg("oltp_update_non_index");
        }
        Task::Work(Work::Insert) => {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/insert.lua");
            command.arg(script).arg(format!("--rows={INSERT}"));
        }
    }
    if job.task != Task::Work(Work::Insert) {
        command.args(["--tables=1", "--rand-type=uniform"]);
        command.arg(format!("--table-size={ROWS}"));
    }
    command
        .arg(format!("--threads={}", job.clients))
        .arg(format!("--time={}", job.seconds))
        .args(["--events=0", "--percentile=99"])
        .args(sysbench_login(place))
        .arg("run");
    Ok(command)
}

/// The options with which sysbench reaches the server.
pub(crate) fn sysbench_login(place: &Place) -> Vec<String> {
    match place.dialect {
        Dialect::Postgres => vec![
            "--db-driver=pgsql".to_owned(),
            format!("--pgsql-host={}", place.socket),
            format!("--pgsql-port={}", place.port),
            format!("--pgsql-user={}", place.user),
            format!("--pgsql-db={}", place.database),
        ],
        Dialect::Mysql | Dialect::Sqlite => vec![
            "--db-driver=mysql".to_owned(),
            format!("--mysql-socket={}", place.socket),
            format!("--mysql-user={}", place.user),
            format!("--mysql-db={}", place.database),
        ],
    }
}

fn pgbench(job: Job, place: &Place) -> Result<Command> {
    if job.task != Task::Work(Work::Point) {
        bail!("pgbench is asked for point selects only");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/point.sql");
    let script = script.to_str().context("a path that is not text")?;
    let mut command = Command::new(pgbench_itself());
    command
        .args(["-n", "-M", "prepared", "-f", script])
        .arg("-D")
        .arg(format!("rows={ROWS}"))
        .args(["-c", &job.clients.to_string()])
        .args(["-j", &job.clients.to_string()])
        .args(["-T", &job.seconds.to_string()])
        .args(["-h", &place.socket, "-p", &place.port, "-U", &place.user])
        .arg(&place.database);
    Ok(command)
}
