//! What each microbenchmark sends for one event, counted by the server itself: as many statements of each
//! verb as the test is known to have, on every Dbms. Nothing of this is taken from our own numbers but how
//! many events there were.
//!
//! `cargo test -p lab --test counters -- --nocapture` prints the tables.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

mod common;

use std::fmt::Write;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use common::{expand_with, servers, sql};
use drivers::Session;
use lab::{Builds, Provider, Providers, Site};
use load::{Observer, Stop, Target};
use model::{Counts, Dbms, Edge, Interval, Plan, SqlWork, WorkloadSpec};
use testkit::SpoiledProvider;

/// Verbs in the order of [`Statements`].
const VERBS: [&str; 6] = ["SELECT", "UPDATE", "INSERT", "DELETE", "BEGIN", "COMMIT"];

/// How many statements of each verb, and of all verbs whatever they are.
type Statements = [u64; 7];
/// The place of the latter.
const ALL: usize = 6;

/// The 47 tests and 4 warm-ups.
const TESTS: usize = 51;

/// A server counts the end of a session that was closed before the window when it comes to it.
const LATE: u64 = 2;

/// Statements of one event of a test.
fn known(test: &str) -> Statements {
    let alone = |verb: usize| {
        let mut statements = [0; 7];
        statements[verb] = 1;
        statements[ALL] = 1;
        statements
    };
    let transaction = |selects, updates, inserts, deletes| {
        let all = selects + updates + inserts + deletes + 2;
        [selects, updates, inserts, deletes, 1, 1, all]
    };
    // `.pre`, `.warm`, `.warmpre` say when it runs, `_range=10` how large it is.
    let base = test.split(['.', '@']).next().unwrap();
    let base = base.split("_range").next().unwrap();
    match base {
        "point-query" | "random-points" | "hot-points" | "scan" | "read-only-count" => alone(0),
        _ if base.starts_with("points-") || base.starts_with("range-") => alone(0),
        _ if base.starts_with("update-") => alone(1),
        "insert" => alone(2),
        "delete" => alone(3),
        // Ten points and four ranges, or ten points and one.
        "read-only" => transaction(14, 0, 0, 0),
        _ if base.starts_with("read-only-") => transaction(11, 0, 0, 0),
        "write-only" => transaction(0, 2, 1, 1),
        "read-write" => transaction(14, 2, 1, 1),
        _ => panic!("no test is called {test}"),
    }
}

/// All tests on a build, a second each, on a table of 10,000 rows by one client.
fn plan(build: &str, set: &str) -> Plan {
    let text = format!(
        r#"
        name = "counters"
        workload = {{ kind = "micro", set = "all", tables = 1, rows = 10_000, clients = 1, read_seconds = 1, write_seconds = 1, scan_seconds = 1, warmup_seconds = 0, settle = 0 }}
        rounds = 1
        quarantine = false
        [[system]]
        build = "{build}"
        {set}
        "#
    );
    let mut plan = expand_with(&Builds::of_user().unwrap(), &text);
    // The window closes with the end of an event: what was sent and what was counted is the same then.
    sql(&mut plan, |spec| {
        for step in &mut spec.steps {
            if let SqlWork::Run(run) = &mut step.work {
                run.whole = true;
            }
        }
    });
    plan
}

/// Reads what the server has counted when the window opens and when it has closed.
struct Edges<'a> {
    count: &'a mut dyn FnMut() -> Statements,
    /// Is it a step of which statements are counted?
    counts: bool,
    open: Statements,
    close: Statements,
}

impl Observer for Edges<'_> {
    fn edge(&mut self, edge: Edge) {
        match edge {
            _ if !self.counts => {}
            Edge::Open => self.open = (self.count)(),
            Edge::Close => self.close = (self.count)(),
        }
    }

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A line of the table: what the server counted for so many events.
struct Line {
    test: String,
    counts: Counts,
    events: u64,
    counted: Statements,
}

/// Runs every test of the plan's workload.
fn measure(plan: &Plan, target: &Target, count: &mut dyn FnMut() -> Statements) -> Vec<Line> {
    let WorkloadSpec::Sql(spec) = &plan.workload else {
        panic!("another workload");
    };
    let mut workload = workloads::workload(&plan.workload, 7);
    let mut lines = Vec::new();
    for (index, outline) in plan.steps.iter().enumerate() {
        let mut edges = Edges {
            count: &mut *count,
            counts: matches!(spec.steps[index].work, SqlWork::Run(_)),
            open: [0; 7],
            close: [0; 7],
        };
        let result = workload.run(index, target, &Stop::default(), &mut edges);
        let result = result.unwrap_or_else(|error| panic!("{}: {error}", outline.id));
        let wrong = result.checks.iter().find(|check| !check.holds);
        assert!(wrong.is_none(), "{}: {wrong:?}", outline.id);
        if !edges.counts {
            continue;
        }
        let kinds = &result.kinds;
        let subject = kinds.iter().find(|kind| kind.spec.name == outline.subject.kind);
        let subject = subject.unwrap();
        assert_eq!((subject.sums.retries, subject.late), (0, 0), "{}", outline.id);
        let mut counted = edges.close;
        for (counted, before) in counted.iter_mut().zip(edges.open) {
            *counted -= before;
        }
        lines.push(Line {
            test: outline.id.to_string(),
            counts: outline.subject.counts,
            events: subject.sums.ops,
            counted,
        });
    }
    lines
}

/// Prints the lines and compares each with what is known.
fn check(plan: &Plan, lines: &[Line]) {
    let build = &plan.systems[0].build;
    let mut table = format!(
        "{}: statements of an event, expected=counted by the server\n{:<34}{:>9}  {} all\n",
        build.id(),
        "test",
        "events",
        VERBS.join(" ")
    );
    let mut wrong = Vec::new();
    for line in lines {
        let expected = known(&line.test);
        let each = line.counted.map(|counted| counted as f64 / line.events as f64);
        let each = expected.iter().zip(each);
        let each: Vec<String> = each.map(|(e, c)| format!("{e}={c}")).collect();
        let (test, events, each) = (&line.test, line.events, each.join(" "));
        let _infallible = writeln!(table, "{test:<34}{events:>9}  {each}");
        // What throughput counts is what the server counts; scans count rows.
        let ours = match line.counts {
            Counts::Operations => Some(1),
            Counts::Statements(each) => Some(u64::from(each)),
            Counts::Rows => None,
        };
        let mut counted = line.counted;
        counted[ALL] = counted[ALL].saturating_sub(LATE).max(expected[ALL] * line.events);
        let holds = line.events > 0
            && line.counted[ALL] >= counted[ALL]
            && counted == expected.map(|each| each * line.events)
            && ours.is_none_or(|ours| ours == expected[ALL]);
        if !holds {
            wrong.push(line.test.as_str());
        }
    }
    // At once: other tests print, too.
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(lines.len(), TESTS);
}

/// A site of the plan's only system in a directory that everybody can enter.
fn open(provider: &dyn Provider, plan: &Plan, directory: &Path) -> Box<dyn Site> {
    let opened = provider.open(&plan.systems[0], plan.statement_timeout(), directory, None);
    opened.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail.join("\n")))
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::Builder::new().prefix("bs-c").tempdir().unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let directory = root.path().join("x");
    (root, directory)
}

/// MySQL and MariaDB count in their status: each statement by its kind, whether prepared or not. Of all
/// statements, `asked` are our own: those of this function.
fn by_status(session: &mut dyn Session, asked: &mut u64) -> Statements {
    const SQL: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Com_select', \
        'Com_update', 'Com_insert', 'Com_delete', 'Com_begin', 'Com_commit', 'Threads_connected')";
    let begin = Instant::now();
    loop {
        let mut counted = [0; 7];
        let mut sessions = 0;
        *asked += 1;
        session
            .query(SQL, &mut |row| {
                let name = row.value(0).to_text().unwrap();
                let value: u64 = row.value(1).to_text().unwrap().parse().unwrap();
                let verb = |verb: &&str| name.ends_with(&verb.to_lowercase());
                match VERBS.iter().position(verb) {
                    Some(verb) => counted[verb] = value,
                    None if name == "Questions" => counted[ALL] = value - *asked,
                    None => sessions = value,
                }
            })
            .unwrap();
        // The end of a session counts as a question, and may come late. Ours and the client's are left.
        if sessions == 2 {
            return counted;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{sessions} sessions");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The build of that family that is here. Debian has no MySQL: it is counted where a build is installed.
#[expect(clippy::print_stderr, reason = "says why it was skipped")]
fn build_of(dbms: Dbms) -> Option<String> {
    let servers = servers(&Builds::of_user().unwrap());
    let build = servers.into_iter().find(|build| build.dbms == dbms);
    match build {
        None if dbms == Dbms::Mysql => eprintln!("skipped: no MySQL is installed"),
        None => testkit::skipped("no server"),
        Some(_) => {}
    }
    build.map(|build| build.id())
}

fn of_mysql(dbms: Dbms) {
    let Some(build) = build_of(dbms) else { return };
    let plan = plan(&build, "config = \"quick\"");
    let (_root, directory) = scratch();
    let mut site = open(&Providers::default(), &plan, &directory);
    let target = site.target();
    let mut session = target.connector.connect().unwrap();
    let mut asked = 0;
    let lines = measure(&plan, &target, &mut || by_status(&mut *session, &mut asked));
    check(&plan, &lines);
    drop((session, target));
    site.stop().unwrap();
    site.remove().unwrap();
}

#[test]
fn mariadb() {
    of_mysql(Dbms::Mariadb);
}

#[test]
fn mysql() {
    of_mysql(Dbms::Mysql);
}

/// The lines that PostgreSQL's log has more since the last look, by the verb of their statement.
struct Log {
    path: PathBuf,
    seen: u64,
    counted: Statements,
}

impl Log {
    fn count(&mut self) -> Statements {
        let mut file = fs::File::open(&self.path).unwrap();
        file.seek(SeekFrom::Start(self.seen)).unwrap();
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        self.seen += text.len() as u64;
        for line in String::from_utf8_lossy(&text).lines() {
            // `… LOG:  execute s1: SELECT …`, `… LOG:  statement: BEGIN`
            let Some((_, logged)) = line.split_once("LOG:  ") else {
                continue;
            };
            let Some((how, sql)) = logged.split_once(": ") else {
                continue;
            };
            if !(how == "statement" || how.starts_with("execute")) {
                continue;
            }
            self.counted[ALL] += 1;
            let verb = sql.split([' ', ';']).next().unwrap_or_default();
            if let Some(verb) = VERBS.iter().position(|known| *known == verb) {
                self.counted[verb] += 1;
            }
        }
        self.counted
    }
}

#[test]
fn postgres() {
    let Some(build) = build_of(Dbms::Postgres) else {
        return;
    };
    let set = "config = \"quick\"\nset = { log_statement = \"all\" }";
    let plan = plan(&build, set);
    let (_root, directory) = scratch();
    let mut site = open(&Providers::default(), &plan, &directory);
    let mut log = Log { path: directory.join("server.log"), seen: 0, counted: [0; 7] };
    let lines = measure(&plan, &site.target(), &mut || log.count());
    check(&plan, &lines);
    site.stop().unwrap();
    site.remove().unwrap();
}

/// SQLite is in this process: what a session is asked to run is what it runs.
#[test]
fn sqlite() {
    let plan = plan("sqlite", "config = \"wal\"");
    let (_root, directory) = scratch();
    let provider = SpoiledProvider::default();
    let mut site = open(&provider, &plan, &directory);
    let lines = measure(&plan, &site.target(), &mut || {
        let sent = provider.sent();
        let mut counted = [0; 7];
        for (counted, verb) in counted.iter_mut().zip(VERBS) {
            *counted = sent.get(verb).copied().unwrap_or_default();
        }
        counted[ALL] = sent.values().sum();
        counted
    });
    check(&plan, &lines);
    site.stop().unwrap();
    site.remove().unwrap();
}
