//! Client CPU of an INSERT statement of 50 rows: backslide's inserter against sysbench.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use bench::{Scratch, Spread, Table, heading, note, process_cpu, servers, within};
use drivers::Session;
use lab::Site;
use load::{Observer, Stop, Target};
use model::{Dialect, Edge, Interval, Nanos, Plan, WorkloadSpec};

/// backslide's client CPU over that of sysbench.
const GOAL: f64 = 0.35;
const REPEATS: usize = 5;
const SECONDS: f64 = 5.0;
/// Rows of a statement.
const ROWS: u64 = 50;
/// Statements of the first, unmeasured run of each server, which also tells the rate.
const WARM_UP: u64 = 2000;

const MEASURES: &str = "CPU time (user and system, all threads, by the process's CPU clock, between \
     the first and the last statement) of the client per INSERT of 50 rows, autocommit, text, one \
     connection on the Unix socket, into table `pi1` without secondary indexes; latencies recorded. \
     Client and server on the same CPU. backslide: the inserter of step `l.i0` through the engine; \
     sysbench: `benches/insert.lua`. Repeats alternate, 5 s each; the ratio is taken within a repeat. \
     Median [min–max].";

fn main() -> Result<()> {
    if !bench::is_asked_for() {
        return Ok(());
    }
    let version = match Command::new("sysbench").arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(error) => {
            note(&format!("skipped: no sysbench ({error})"));
            return Ok(());
        }
    };
    heading(&format!("INSERT beside {version}"), MEASURES)?;
    let mut table = Table::new([
        "server",
        "backslide, µs a statement",
        "sysbench, µs a statement",
        "ratio",
        "at most 0.35",
        "backslide, statements/s",
        "sysbench, statements/s",
    ]);
    for server in servers() {
        measure(&server, &mut table)?;
    }
    table.print("");
    Ok(())
}

/// The cost of one client.
#[derive(Clone, Copy, Debug)]
struct Spent {
    cpu: Nanos,
    statements: u64,
    seconds: f64,
}

/// The costs of one client's runs.
#[derive(Debug, Default)]
struct Side {
    micros: Spread,
    rates: Spread,
}

impl Side {
    fn add(&mut self, spent: Spent) {
        let statements = spent.statements as f64;
        self.micros.add(spent.cpu.as_micros_f64() / statements);
        self.rates.add(statements / spent.seconds);
    }
}

fn measure(server: &str, table: &mut Table<7>) -> Result<()> {
    let cpu = *probes::allowed().last().context("no CPU may be used")?;
    let scratch = Scratch::new()?;
    let (plan, mut site) = scratch.open(&plan(server, cpu))?;
    let all = probes::allowed();
    probes::pin_self(&[cpu])?;
    let (mut ours, mut theirs) = (Side::default(), Side::default());
    let first = backslide(&plan, &*site, WARM_UP)?;
    let statements = SECONDS * first.statements as f64 / first.seconds;
    for repeat in 1..=REPEATS {
        note(&format!("{server}: repeat {repeat} of {REPEATS}"));
        ours.add(backslide(&plan, &*site, statements as u64)?);
        theirs.add(sysbench(&site.target())?);
    }
    probes::pin_self(&all)?;
    site.stop()?;
    site.remove()?;
    let ratio = ours.micros.over(&theirs.micros);
    table.row([
        server.to_owned(),
        format!("{:.1}", ours.micros),
        format!("{:.1}", theirs.micros),
        format!("{ratio:.3}"),
        within(ratio.median() <= GOAL),
        format!("{:.0}", ours.rates),
        format!("{:.0}", theirs.rates),
    ]);
    Ok(())
}

fn plan(server: &str, cpu: usize) -> String {
    format!(
        r#"
        name = "insert"
        rounds = 1
        quarantine = false
        [workload]
        kind = "insert"
        scale = "tiny"
        i0_rows_per_commit = {ROWS}
        writes = "text"
        steps = ["l.i0"]
        [[system]]
        build = "{server}"
        config = "quick"
        cpus = {{ server = "{cpu}" }}
        "#
    )
}

/// Reads this process's CPU clock at the edges of the window.
#[derive(Debug, Default)]
struct Edges {
    open: Nanos,
    close: Nanos,
}

impl Observer for Edges {
    fn edge(&mut self, edge: Edge) {
        match edge {
            Edge::Open => self.open = process_cpu(),
            Edge::Close => self.close = process_cpu(),
        }
    }

    fn interval(&mut self, _: Interval) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs `l.i0` with this many statements into a new table, which it leaves there.
fn backslide(plan: &Plan, site: &dyn Site, statements: u64) -> Result<Spent> {
    let target = site.target();
    target.connector.connect()?.execute("DROP TABLE IF EXISTS pi1")?;
    let mut spec = plan.workload.clone();
    if let WorkloadSpec::Insert(spec) = &mut spec {
        spec.rows = statements * ROWS;
    }
    let mut workload = workloads::workload(&spec, plan.seed);
    let mut edges = Edges::default();
    let result = workload.run(0, &target, &Stop::default(), &mut edges)?;
    if let Some(wrong) = result.checks.iter().find(|check| !check.holds) {
        bail!("{}: {} is not {}", wrong.what, wrong.actual, wrong.expected);
    }
    Ok(Spent { cpu: edges.close - edges.open, statements, seconds: result.window.as_secs_f64() })
}

/// Runs sysbench for as long into the same table, emptied.
fn sysbench(target: &Target) -> Result<Spent> {
    let mut session = target.connector.connect()?;
    session.execute("TRUNCATE TABLE pi1")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/insert.lua");
    let output = Command::new("sysbench")
        .arg(script)
        .args(["--threads=1", "--events=0", "--percentile=99"])
        .arg(format!("--time={SECONDS}"))
        .arg(format!("--rows={ROWS}"))
        .args(login(target.dialect, &mut *session)?)
        .arg("run")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let spent = said.lines().find_map(spent).filter(|spent| spent.statements > 0);
    spent.with_context(|| format!("sysbench failed:\n{said}{errors}"))
}

/// `bench: cpu_ns=… statements=…`, the line of the script.
fn spent(line: &str) -> Option<Spent> {
    let (cpu, statements) = line.strip_prefix("bench: cpu_ns=")?.split_once(" statements=")?;
    Some(Spent {
        cpu: Nanos(cpu.parse().ok()?),
        statements: statements.trim().parse().ok()?,
        seconds: SECONDS,
    })
}

/// The options with which sysbench reaches the server that this session is connected to.
fn login(dialect: Dialect, session: &mut dyn Session) -> Result<Vec<String>> {
    let mut ask = |sql: &str| -> Result<String> {
        let mut answer = None;
        session.query(sql, &mut |row| answer = row.value(0).to_text())?;
        answer.with_context(|| format!("no answer to {sql}"))
    };
    Ok(match dialect {
        Dialect::Mysql => {
            let user = ask("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)")?;
            vec![
                "--db-driver=mysql".to_owned(),
                format!("--mysql-socket={}", ask("SELECT @@socket")?),
                format!("--mysql-user={user}"),
                format!("--mysql-db={}", ask("SELECT DATABASE()")?),
            ]
        }
        Dialect::Postgres => {
            // Quoted, where it holds more than letters.
            let socket = ask("SHOW unix_socket_directories")?;
            let socket = socket.trim_matches('"');
            vec![
                "--db-driver=pgsql".to_owned(),
                format!("--pgsql-host={socket}"),
                format!("--pgsql-port={}", ask("SHOW port")?),
                format!("--pgsql-user={}", ask("SELECT current_user")?),
                format!("--pgsql-db={}", ask("SELECT current_database()")?),
            ]
        }
        Dialect::Sqlite => bail!("sysbench knows no SQLite"),
    })
}
