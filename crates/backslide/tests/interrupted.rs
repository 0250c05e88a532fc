//! Runs that are interrupted at any moment: nothing that is finished is lost or done again, and
//! nothing is left behind.

mod common;

use std::time::Duration;

use common::{Bench, WORKLOAD, end, plan, signal, wait_for};
use rusqlite::{Connection, OpenFlags};
use rustix::process::Signal;

const SYSTEMS: [&str; 2] =
    ["build = \"sqlite\"\nconfig = \"wal\"", "build = \"sqlite\"\nconfig = \"rollback\""];

/// A bench with a plan of two rounds in `tiny.toml`: a few seconds.
fn bench() -> Bench {
    let bench = Bench::new();
    let workload = format!("{WORKLOAD}, queries = [\"range\"]");
    bench.write("tiny.toml", &plan(&workload, 2, &SYSTEMS));
    bench
}

/// The run is finished, every trial is there once, and nothing else is.
fn assert_complete(bench: &Bench) {
    let runs = bench.run(&["list", "--format", "json"]).json();
    assert_eq!(runs[0]["state"], "finished");
    assert_eq!((&runs[0]["completed"], &runs[0]["failed"]), (&4.into(), &0.into()));
    let mut journal = bench.journal("r1");
    journal.sort();
    let wanted = [1, 2]
        .map(|round| ["sqlite/rollback", "sqlite/wal"].map(|system| (round, system.to_owned())));
    assert_eq!(journal, wanted.concat());
    assert!(bench.instances().is_empty());
    assert!(bench.processes().is_empty());
    bench.run(&["report", "-o", "x.html"]).fine();
}

#[test]
fn killed_at_several_moments_and_resumed() {
    let bench = bench();
    for millis in [40, 250, 500, 1_000, 1_500, 120] {
        let has_run = !bench.run(&["list", "--format", "json"]).fine().starts_with("[]");
        let arguments: &[&str] =
            if has_run { &["run", "--resume", "r1"] } else { &["run", "tiny.toml"] };
        let before = if has_run { bench.journal("r1") } else { Vec::new() };
        let child = bench.start(arguments);
        std::thread::sleep(Duration::from_millis(millis));
        signal(&child, Signal::KILL);
        end(child);
        assert!(bench.processes().is_empty());
        if has_run {
            assert_eq!(bench.journal("r1")[..before.len()], before, "finished trials are kept");
        }
    }
    let ran = bench.run(&["run", "--resume", "r1"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (0, "r1\n"), "{ran:?}");
    assert_complete(&bench);
}

#[test]
fn interrupted_once_it_ends_cleanly_and_says_how_to_go_on() {
    let bench = bench();
    let child = bench.start(&["run", "tiny.toml"]);
    wait_for("an instance", || bench.instances().pop());
    signal(&child, Signal::INT);
    let ran = end(child);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains("^C again stops at once"), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with("interrupted; continue with `backslide run --resume r1`\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "r1\n");
    assert!(bench.instances().is_empty(), "the trial under way was not tidied up");
    assert_eq!(bench.run(&["list", "--format", "json"]).json()[0]["state"], "unfinished");

    bench.run(&["run", "--resume", "r1"]).fine();
    assert_complete(&bench);
}

#[test]
fn a_request_to_terminate_is_an_interrupt() {
    let bench = bench();
    let child = bench.start(&["run", "tiny.toml"]);
    wait_for("an instance", || bench.instances().pop());
    signal(&child, Signal::TERM);
    let ran = end(child);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains("continue with `backslide run --resume r1`"), "{}", ran.stderr);
}

/// A statement that waits for a lock holds up a clean stop for as long as its timeout, ten minutes;
/// the second ^C does not wait for it.
#[test]
fn interrupted_twice_it_ends_at_once() {
    let bench = Bench::new();
    let workload = WORKLOAD.replace("query_seconds = 1", "query_seconds = 60");
    bench.write("long.toml", &plan(&workload, 1, &SYSTEMS[..1]));
    let child = bench.start(&["run", "long.toml"]);
    let database = wait_for("the database with its table", || {
        let path = bench.instances().pop()?.join("ib.sqlite");
        // Whoever opens it before it is set up is in the way of that.
        let has_log = path.with_extension("sqlite-wal").exists();
        has_log.then_some(())?;
        let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
        let locked = database.execute_batch("BEGIN IMMEDIATE; SELECT 1 FROM pi1 LIMIT 1;");
        locked.ok().map(|()| database)
    });
    // A writer comes within half a second and waits for the lock.
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, Signal::INT);
    let ran = end(child);
    assert_eq!(ran.code(), 1, "{ran:?}");
    assert!(ran.stderr.contains("^C again stops at once"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("interrupted; "), "it was not at once: {}", ran.stderr);
    drop(database);
    // What was journaled is there, and the run can go on.
    assert_eq!(bench.run(&["list", "--format", "json"]).json()[0]["state"], "unfinished");
}

/// Starts a script whose first event creates the file `begun` and then runs `event`.
#[cfg(feature = "lua")]
fn start_script(bench: &Bench, event: &str) -> std::process::Child {
    let begun = bench.path("begun");
    let mark = format!("io.open('{}', 'w'):close()", begun.display());
    bench.write("script.lua", &format!("function event() {mark} {event} end"));
    let child = bench.start(&["run", "script.lua", "sqlite", "--rounds", "1", "--", "--time=60"]);
    wait_for("the first event", || begun.exists().then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    child
}

/// Lua's C functions cannot be interrupted; the second ^C does not wait for them.
#[test]
#[cfg(feature = "lua")]
fn a_script_in_a_function_of_c_ends_with_the_second_interrupt() {
    let bench = Bench::new();
    let endless = "string.find(('a'):rep(4e4), ('a?'):rep(40) .. ('.-'):rep(12) .. 'b')";
    let mut child = start_script(&bench, endless);
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(child.try_wait().unwrap(), None, "the function has ended: the test shows nothing");
    signal(&child, Signal::INT);
    let ran = end(child);
    assert_eq!((ran.code(), ran.stdout.as_str()), (1, "r1\n"), "{ran:?}");
    assert!(ran.stderr.contains("a C function that it calls"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("interrupted; "), "it was not at once: {}", ran.stderr);
    assert!(bench.processes().is_empty());
}

/// While a command runs, C's `system` lets the whole program ignore ^C.
#[test]
#[cfg(feature = "lua")]
fn a_script_that_runs_a_command_is_interrupted() {
    let bench = Bench::new();
    let child = start_script(&bench, "os.execute('echo told; sleep 2')");
    signal(&child, Signal::INT);
    let ran = end(child);
    assert_eq!((ran.code(), ran.stdout.as_str()), (1, "r1\n"), "{ran:?}");
    assert!(
        ran.stderr.contains("told\n") && ran.stderr.contains("interrupted; "),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_second_run_in_the_lab_is_refused_while_one_goes_on() {
    let bench = bench();
    let child = bench.start(&["run", "tiny.toml"]);
    wait_for("an instance", || bench.instances().pop());
    let second = bench.run(&["run", "tiny.toml"]);
    assert_eq!(second.code(), 1, "{second:?}");
    let lab = bench.lab();
    let told = format!(
        "error: another run is under way in {} (process {}); wait for it, or use another lab \
         directory (--lab)\n",
        lab.display(),
        child.id()
    );
    assert!(second.stderr.ends_with(&told), "{}", second.stderr);
    // Looking at it is allowed meanwhile.
    assert_eq!(bench.run(&["list", "--format", "json"]).json()[0]["state"], "unfinished");
    assert_eq!(end(child).code(), 0);
    assert_complete(&bench);
}
