//! Instructions of the hot path, counted one by one.
//!
//! A child does the work and marks its begin and end with a signal; this process steps it through
//! with ptrace. Slow and exact: the kernel's fast clock (vDSO) is counted too, which Valgrind does
//! not see, and no performance counters are needed, which virtual machines often lack. A system call
//! counts as one instruction.

use std::hint::black_box;
use std::io::{Read, Write};
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bench::{Scratch, Table, expand, heading, note, within};
use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};
use load::{Blind, Recorder, StepClock, Stop, Target};
use model::{Connection, Dialect, Engine, KindSpec, Nanos, Rng};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Instructions of recording, key and clock for one operation.
const GOAL: f64 = 250.0;
/// Operations that are counted: whole buffers of the recorder, so that each is folded.
const OPERATIONS: u64 = 1024;
/// Rows of a statement, and statements that are counted.
const ROWS: u64 = 50;
const STATEMENTS: u64 = 20;
/// Says where the counting begins and where it ends.
const MARK: Signal = Signal::SIGUSR1;

const MEASURES: &str = "User instructions, counted by stepping through them. Operation: one random \
     key, one clock read (two where a schedule was waited for), its latency recorded, and its share of \
     the fold into the interval. Row: its share of making a statement of 50 rows as text and recording \
     it, against a server that is not there. Goal: under 250 an operation.";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, what] = arguments.as_slice()
        && mode == "work"
    {
        return work(what);
    }
    if !bench::is_asked_for() {
        return Ok(());
    }
    heading("Instructions of the hot path", MEASURES)?;
    let empty = count("nothing")?;
    let mut table = Table::new(["what", "instructions", "in the kernel's clock", "under 250"]);
    for (what, label, of, has_goal) in [
        ("clock", "clock read", OPERATIONS, false),
        ("key", "random key", OPERATIONS, false),
        ("query", "operation without a schedule", OPERATIONS, true),
        ("insert", "operation with a schedule", OPERATIONS, true),
        ("rows", "row of an INSERT", STATEMENTS * ROWS, false),
    ] {
        let counted = count(what)?;
        let each = counted.all.saturating_sub(empty.all) as f64 / of as f64;
        let clock = counted.in_clock as f64 / of as f64;
        let goal = if has_goal { within(each < GOAL) } else { "–".to_owned() };
        table.row([label.to_owned(), format!("{each:.1}"), format!("{clock:.1}"), goal]);
    }
    table.print("");
    Ok(())
}

/// Instructions between the marks.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    all: u64,
    /// Those of them in the code that the kernel maps into every process.
    in_clock: u64,
}

/// Instructions between the two marks of a child that does `what`.
fn count(what: &str) -> Result<Counted> {
    note(what);
    let mut child = Command::new(std::env::current_exe()?)
        .args(["work", what])
        .stdin(Stdio::piped())
        .spawn()?;
    let counted = step_through(&mut child);
    if counted.is_err() {
        child.kill()?;
    }
    child.wait()?;
    counted
}

fn step_through(child: &mut Child) -> Result<Counted> {
    let pid = Pid::from_raw(child.id() as i32);
    ptrace::seize(pid, ptrace::Options::PTRACE_O_TRACECLONE)
        .context("cannot trace a process of our own: is ptrace forbidden here?")?;
    let mut stdin = child.stdin.take().context("the child has no stdin")?;
    stdin.write_all(b"!")?;
    let thread = run_to_mark()?;
    let vdso = vdso(pid)?;
    let mut counted = Counted::default();
    loop {
        ptrace::step(thread, None)?;
        match waitpid(thread, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {
                counted.all += 1;
                let place = ptrace::getregs(thread)?.rip;
                counted.in_clock += u64::from(vdso.contains(&place));
            }
            WaitStatus::Stopped(_, signal) if signal == MARK => break,
            WaitStatus::Stopped(..) => {}
            other => bail!("the child ended while it was counted: {other:?}"),
        }
    }
    ptrace::detach(thread, None)?;
    Ok(counted)
}

/// Where the kernel's code lies in a process; nowhere, if it has none.
fn vdso(pid: Pid) -> Result<Range<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let range = maps
        .lines()
        .find(|line| line.ends_with("[vdso]"))
        .and_then(|line| line.split_once(' ')?.0.split_once('-'))
        .and_then(|(from, to)| {
            let address = |text| u64::from_str_radix(text, 16).ok();
            Some(address(from)?..address(to)?)
        });
    Ok(range.unwrap_or(0..0))
}

/// Lets all threads run until one of them marks the begin; tells which.
fn run_to_mark() -> Result<Pid> {
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Stopped(thread, signal) if signal == MARK => return Ok(thread),
            // A new thread starts with a stop of its own, which is not for it.
            WaitStatus::Stopped(thread, _) | WaitStatus::PtraceEvent(thread, ..) => {
                ptrace::cont(thread, None)?;
            }
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => bail!("the child did not begin"),
            _ => {}
        }
    }
}

fn work(what: &str) -> Result<()> {
    // Until we are traced.
    std::io::stdin().read_exact(&mut [0])?;
    match what {
        "nothing" => {
            raise(MARK)?;
            raise(MARK)?;
            Ok(())
        }
        "clock" => {
            let clock = StepClock::start();
            repeat(|_| {
                black_box(clock.now());
            })
        }
        "key" => {
            let mut rng = Rng::new(42);
            repeat(|_| {
                black_box(rng.below(1_000_000));
            })
        }
        "query" => operations(false),
        "insert" => operations(true),
        "rows" => rows(),
        _ => bail!("no such work: {what}"),
    }
}

fn operations(scheduled: bool) -> Result<()> {
    let kind = KindSpec { name: "operation".to_owned(), scheduled };
    let recorder = Recorder::new(vec![kind], 1, Nanos::SECOND);
    let mut client = recorder.client(0, &StepClock::start());
    let mut rng = Rng::new(42);
    repeat(|n| {
        // Stepping takes seconds; given times keep it within one interval, as most folds are.
        let start = Nanos(n * 400_000);
        let end = start + Nanos(10_000 + n * 50);
        if scheduled {
            black_box(client.begin());
        } else {
            black_box(client.begin_after(start));
        }
        black_box(rng.below(1_000_000));
        black_box(client.clock().now());
        client.record(0, start, scheduled.then_some(start), end, 1);
    })
}

/// Does `act` as often as is counted: once to warm up, then between the marks.
fn repeat(mut act: impl FnMut(u64)) -> Result<()> {
    for is_counted in [false, true] {
        if is_counted {
            raise(MARK)?;
        }
        (0..OPERATIONS).for_each(&mut act);
    }
    raise(MARK)?;
    Ok(())
}

/// Step `l.i0` against a server that is not there.
fn rows() -> Result<()> {
    let text = format!(
        r#"
        name = "rows"
        rounds = 1
        quarantine = false
        [workload]
        kind = "insert"
        scale = "tiny"
        rows = {}
        i0_rows_per_commit = {ROWS}
        writes = "text"
        steps = ["l.i0"]
        [[system]]
        build = "sqlite"
        "#,
        (WARM_UP + STATEMENTS + 1) * ROWS
    );
    let plan = expand(&text, &Scratch::new()?.lab.host()?)?;
    let target = Target {
        dialect: Dialect::Mysql,
        engine: Engine::Innodb,
        version: plan.systems[0].build.version.clone(),
        ours: true,
        connection: Connection::default(),
        connector: Arc::new(Nowhere),
        patient: Arc::new(Nowhere),
        load_hosts: None,
    };
    let mut workload = workloads::workload(&plan.workload, plan.seed);
    workload.run(0, &target, &Stop::default(), &mut Blind)?;
    Ok(())
}

/// Statements before the counting begins.
const WARM_UP: u64 = 3;

/// Connects to nothing.
struct Nowhere;

impl Connector for Nowhere {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::<NoServer>::default())
    }
}

/// Takes every statement; marks the begin and the end of the counting.
#[derive(Default)]
struct NoServer {
    inserts: u64,
    info: SessionInfo,
}

impl Session for NoServer {
    fn query(&mut self, sql: &str, _: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        if black_box(sql).starts_with("INSERT") {
            self.inserts += 1;
            if self.inserts == WARM_UP || self.inserts == WARM_UP + STATEMENTS {
                // Without the mark nothing is counted, and the bench says so.
                let _ = raise(MARK);
            }
        }
        Ok(Done { affected: ROWS, ..Done::default() })
    }

    fn prepare(&mut self, _: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
        Ok(StatementId(0))
    }

    fn execute_prepared(
        &mut self,
        _: StatementId,
        _: &[Param<'_>],
        _: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        Ok(Done::default())
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}
