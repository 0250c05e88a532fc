//! Scripts of sysbench: the statements that reach a server from both programs.
//!
//! The scripts are those that sysbench brings along, or all of the directories in `BACKSLIDE_SCRIPTS`.
#![cfg(feature = "lua")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use drivers::Session;
use load::{Blind, Stop, Target};
use model::{Dbms, Dialect, LuaSpec, WorkloadSpec};
use testkit::databases::Backend;

const INSTALLED: &str = "/usr/share/sysbench";
/// What both programs are given, where the script has such an option.
const OPTIONS: [(&str, &str); 6] = [
    ("tables", "1"),
    ("table_size", "500"),
    ("scale", "1"),
    ("use_fk", "0"),
    ("random_points", "5"),
    ("delta", "3"),
];
const SEED: (&str, &str) = ("rand_seed", "42");
const EVENTS: u64 = 30;

/// One script, given what it knows of [`OPTIONS`].
struct Script {
    path: PathBuf,
    spec: LuaSpec,
}

/// All scripts that have events.
fn scripts() -> Vec<PathBuf> {
    let named = std::env::var_os("BACKSLIDE_SCRIPTS").unwrap_or_else(|| INSTALLED.into());
    let files =
        std::env::split_paths(&named).filter_map(|place| fs::read_dir(place).ok()).flatten();
    let mut found: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    found.retain(|path| {
        let is_script = path.extension().is_some_and(|ending| ending == "lua");
        is_script && fs::read_to_string(path).unwrap().contains("function event")
    });
    found.sort();
    found
}

impl Script {
    fn new(path: PathBuf, dialect: Dialect) -> Self {
        let (name, text) = (path.display().to_string(), fs::read_to_string(&path).unwrap());
        let beside = path.parent().unwrap().display().to_string();
        let usual = LuaSpec { path: vec![beside], ..LuaSpec::usual(&name, &text) };
        let known = workloads::script_options(&usual, dialect).unwrap();
        let is_known =
            |name: &str| known.iter().any(|it| it[0] == format!("--{}", name.replace('_', "-")));
        let given = OPTIONS.into_iter().filter(|(name, _)| is_known(name)).chain([SEED]);
        let options: BTreeMap<_, _> = given.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let spec = LuaSpec { options, events: EVENTS, warmup_seconds: 0, ..usual };
        Self { path, spec }
    }

    /// Why the command fails, where it does.
    fn ours(&self, command: &str, target: &Target) -> Option<String> {
        let step = self.spec.commands.iter().position(|it| it == command).unwrap();
        let mut workload = workloads::workload(&WorkloadSpec::Lua(self.spec.clone()), 7);
        match workload.run(step, target, &Stop::default(), &mut Blind) {
            Ok(record) => record.checks.into_iter().find(|check| !check.holds).map(|it| it.what),
            Err(error) => Some(error.to_string()),
        }
    }

    /// The same by sysbench, which refuses a command that the script does not have.
    fn theirs(&self, command: &str, target: &Target) -> Option<String> {
        let mut sysbench = Command::new("sysbench");
        sysbench.arg(&self.path).current_dir(self.path.parent().unwrap());
        sysbench.arg(format!("--events={EVENTS}")).args(["--threads=1", "--time=60"]);
        for (option, value) in &self.spec.options {
            sysbench.arg(format!("--{}={value}", option.replace('_', "-")));
        }
        let done = sysbench.args(login(target)).arg(command).output().unwrap();
        let told = [done.stdout, done.stderr].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        let is_fine = done.status.success() || told.contains("does not implement");
        (!is_fine).then_some(told)
    }
}

/// How sysbench reaches the database.
fn login(target: &Target) -> Vec<String> {
    match target.dialect {
        Dialect::Mysql => vec![
            format!("--mysql-socket={}", text(target, "SELECT @@socket")),
            format!("--mysql-db={}", text(target, "SELECT DATABASE()")),
            format!("--mysql-user={}", text(target, "SELECT SUBSTRING_INDEX(USER(), '@', 1)")),
        ],
        Dialect::Postgres => vec![
            "--db-driver=pgsql".to_owned(),
            format!(
                "--pgsql-host={}",
                text(target, "SHOW unix_socket_directories").trim_matches('"')
            ),
            format!("--pgsql-port={}", text(target, "SHOW port")),
            format!("--pgsql-db={}", text(target, "SELECT current_database()")),
            format!("--pgsql-user={}", text(target, "SELECT current_user")),
        ],
        Dialect::Sqlite => unreachable!("sysbench knows no SQLite"),
    }
}

fn text(target: &Target, sql: &str) -> String {
    rows(target, sql).concat()
}

fn rows(target: &Target, sql: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let mut session = target.connector.connect().unwrap();
    session.query(sql, &mut |row| rows.push(row.value(0).to_text().unwrap_or_default())).unwrap();
    rows
}

/// The statements that reach the server while `act` runs, in order.
fn logged<T>(target: &Target, act: impl FnOnce() -> T) -> (Vec<String>, T) {
    let mut admin = target.connector.connect().unwrap();
    let mut value = None;
    let act = || value = Some(act());
    let lines = match target.dialect {
        Dialect::Mysql => logged_by_mysql(&mut *admin, target, act),
        Dialect::Postgres => logged_by_postgres(&mut *admin, target, act),
        Dialect::Sqlite => unreachable!("it has no log"),
    };
    (with_loads_summed(lines), value.unwrap())
}

fn logged_by_mysql(admin: &mut dyn Session, target: &Target, act: impl FnOnce()) -> Vec<String> {
    let mut run = |sql: &str| admin.execute(sql).unwrap();
    run("SET GLOBAL log_output = 'TABLE'");
    run("TRUNCATE mysql.general_log");
    run("SET GLOBAL general_log = ON");
    act();
    run("SET GLOBAL general_log = OFF");
    rows(
        target,
        "SELECT CONCAT(command_type, ' ', CONVERT(argument USING utf8mb4)) FROM mysql.general_log \
         WHERE command_type IN ('Query', 'Prepare', 'Execute') AND argument NOT LIKE '%@@socket%' \
         AND argument NOT LIKE '%DATABASE()%' AND argument NOT LIKE '%USER()%' AND argument NOT LIKE 'SET %'",
    )
}

/// PostgreSQL tells a statement when it is executed, with its parameters in a line of their own.
fn logged_by_postgres(admin: &mut dyn Session, target: &Target, act: impl FnOnce()) -> Vec<String> {
    let log = Path::new(&text(target, "SHOW data_directory")).join("../server.log");
    let database = text(target, "SELECT current_database()");
    let mut set = |setting: &str| {
        admin.execute(&format!("ALTER DATABASE {database} SET {setting}")).unwrap();
    };
    set("log_statement = 'all'");
    set("log_min_messages = 'log'");
    let before = fs::metadata(&log).unwrap().len() as usize;
    act();
    set("log_statement = 'none'");
    let text = String::from_utf8_lossy(&fs::read(&log).unwrap()[before..]).into_owned();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let (_, told) =
            line.split_once("LOG:  ").or_else(|| line.split_once("DETAIL:  ")).unwrap_or(("", ""));
        if let Some((_, sql)) = told.split_once(": ").filter(|_| told.starts_with("execute ")) {
            lines.push(format!("execute {sql}"));
        } else if told.starts_with("statement: ") || told.to_lowercase().starts_with("parameters: ")
        {
            lines.push(told.to_owned());
        } else if let (Some(rest), Some(last)) = (line.strip_prefix('\t'), lines.last_mut()) {
            last.push_str(rest);
        }
    }
    let is_question = |line: &String| {
        line.contains("SHOW ") || line.contains("current_") || line.contains("ALTER DATABASE")
    };
    lines.retain(|line| !is_question(line));
    lines
}

/// An INSERT of many rows with their number in place of the rows, whose values are random in sysbench too.
fn load_of(line: &str) -> Option<(String, usize)> {
    let (begin, rows) =
        line.split_once('(').filter(|_| line.len() > 500 && line.contains("),("))?;
    Some((begin.to_owned(), rows.matches("),(").count() + 1))
}

/// INSERTs of a load that follow each other are one: how many rows fit in a statement depends on their values.
fn with_loads_summed(lines: Vec<String>) -> Vec<String> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for line in lines {
        let (text, rows) = load_of(&line).unwrap_or((line, 0));
        match all.last_mut() {
            Some((last, sum)) if *last == text && rows > 0 => *sum += rows,
            _ => all.push((text, rows)),
        }
    }
    all.into_iter()
        .map(|(text, rows)| if rows > 0 { format!("{text}: {rows} rows") } else { text })
        .collect()
}

/// Without numbers and quoted texts.
fn without_values(lines: &[String]) -> Vec<String> {
    let plain = |line: &String| -> String {
        let unquoted = line.split('\'').step_by(2).collect::<String>();
        unquoted.chars().filter(|c| !c.is_ascii_digit()).collect()
    };
    lines.iter().map(plain).collect()
}

/// A database with the tables of another: what a script sends may depend on what it reads.
fn copy(server: &Backend, target: &Target) -> Target {
    let (copy, third) = (server.database(), server.database());
    let name = |target: &Target, function: &str| text(target, &format!("SELECT {function}"));
    if target.dialect == Dialect::Postgres {
        let [name, from] = [&copy, target].map(|it| name(it, "current_database()"));
        let mut session = third.connector.connect().unwrap();
        session.execute(&format!("DROP DATABASE {name}")).unwrap();
        session.execute(&format!("CREATE DATABASE {name} TEMPLATE {from}")).unwrap();
        return copy;
    }
    let from = name(target, "DATABASE()");
    let mut session = copy.connector.connect().unwrap();
    for table in rows(target, "SHOW TABLES") {
        session.execute(&format!("CREATE TABLE {table} LIKE {from}.{table}")).unwrap();
        session.execute(&format!("INSERT INTO {table} SELECT * FROM {from}.{table}")).unwrap();
    }
    copy
}

fn compare(dbms: &str) {
    if !Path::new(INSTALLED).is_dir() {
        return testkit::skipped("sysbench is not installed");
    }
    let Some(server) = Backend::server(Dbms::from_name(dbms).unwrap()) else { return };
    let (mut wrong, mut all) = (Vec::new(), 0);
    for path in scripts() {
        let (target, mut other_target) = (server.database(), server.database());
        let script = Script::new(path, target.dialect);
        for command in &script.spec.commands {
            if command == LuaSpec::RUN {
                other_target = copy(&server, &target);
            }
            let (own, failed) = logged(&target, || script.ours(command, &target));
            let (other, failed_there) =
                logged(&other_target, || script.theirs(command, &other_target));
            all += own.len();
            // What a script reads of a clock, or of rows that a load draws without a seed, no two runs share.
            let by_chance = without_values(&own) == without_values(&other);
            let how = match (own == other, by_chance) {
                (true, _) => "same".to_owned(),
                (false, true) => {
                    let differ = own.iter().zip(&other).filter(|(own, other)| own != other);
                    format!("same but for the values of {}", differ.count())
                }
                (false, false) => "other".to_owned(),
            };
            let name = script.path.display();
            #[expect(clippy::print_stdout, reason = "the table of docs/sysbench.md is made of it")]
            {
                println!(
                    "{dbms} {name} {command}: {} statements, {how}; {failed:?}, {failed_there:?}",
                    own.len()
                );
            }
            // A script that does not run there need not run here.
            let is_same = own == other || by_chance && is_drawn_anew(&script);
            if !is_same || failed.is_some() != failed_there.is_some() {
                wrong.push(difference(&script.path, &own, &other));
            }
        }
    }
    assert!(wrong.is_empty() && all > 0, "{}", wrong.join("\n"));
}

/// Has it rows of a load that are no matter of digits alone, and times of day?
fn is_drawn_anew(script: &Script) -> bool {
    script.spec.options.contains_key("scale")
}

/// The first statements that differ, with the two before them.
fn difference(path: &Path, own: &[String], other: &[String]) -> String {
    let first = own.iter().zip(other).position(|(own, other)| own != other);
    let from = first.unwrap_or(own.len().min(other.len())).saturating_sub(2);
    let shown = |lines: &[String]| -> Vec<String> {
        lines.iter().skip(from).take(5).map(|line| line.chars().take(200).collect()).collect()
    };
    let (ours, theirs) = (shown(own), shown(other));
    format!(
        "{}: {} and {} statements: {ours:#?}\n{theirs:#?}",
        path.display(),
        own.len(),
        other.len()
    )
}

#[test]
fn the_statements_of_every_script_are_those_of_sysbench_on_mariadb() {
    compare("mariadb");
}

#[test]
fn the_statements_of_every_script_are_those_of_sysbench_on_postgres() {
    compare("postgres");
}

#[test]
#[ignore = "a MySQL server is seldom on the PATH"]
fn the_statements_of_every_script_are_those_of_sysbench_on_mysql() {
    compare("mysql");
}
