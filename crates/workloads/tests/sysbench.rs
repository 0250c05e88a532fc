//! Scripts that sysbench brings along: on MariaDB the statements of both programs, on PostgreSQL that they run.
#![cfg(feature = "lua")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Command;

use load::{Blind, Stop, Target};
use model::{Dbms, LuaSpec, StepRecord, WorkloadSpec};
use testkit::databases::Backend;

const SCRIPTS: &str = "/usr/share/sysbench";
const NAMES: [&str; 11] = [
    "bulk_insert",
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
];
/// What both programs are given.
const OPTIONS: [(&str, &str); 3] = [("tables", "1"), ("table_size", "500"), ("rand_seed", "42")];
const EVENTS: u64 = 30;

fn server(dbms: &str) -> Option<Backend> {
    if !Path::new(SCRIPTS).is_dir() {
        testkit::skipped("sysbench is not installed");
        return None;
    }
    Backend::server(Dbms::from_name(dbms).unwrap())
}

/// Some scripts have no option `tables`.
fn options(text: &str) -> Vec<(&'static str, &'static str)> {
    let is_known =
        |name: &str| name == "rand_seed" || text.contains("oltp_common") || text.contains(name);
    OPTIONS.into_iter().filter(|(name, _)| is_known(name)).collect()
}

/// All commands of a script, each with its record.
fn ours(name: &str, target: &Target) -> Vec<StepRecord> {
    let script = format!("{SCRIPTS}/{name}.lua");
    let text = std::fs::read_to_string(&script).unwrap();
    let options = options(&text).into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
    let spec = WorkloadSpec::Lua(LuaSpec {
        path: vec![SCRIPTS.to_owned()],
        options: options.collect(),
        events: EVENTS,
        warmup_seconds: 0,
        ..LuaSpec::usual(&script, &text)
    });
    let mut workload = workloads::workload(&spec, 7);
    let mut run = |command| workload.run(command, target, &Stop::default(), &mut Blind);
    (0..3).map(|command| run(command).unwrap()).collect()
}

fn theirs(name: &str, target: &Target) {
    let (socket, database) = (text(target, "SELECT @@socket"), text(target, "SELECT DATABASE()"));
    let user = text(target, "SELECT SUBSTRING_INDEX(USER(), '@', 1)");
    let script = std::fs::read_to_string(format!("{SCRIPTS}/{name}.lua")).unwrap();
    for command in ["prepare", "run", "cleanup"] {
        let mut sysbench = Command::new("sysbench");
        sysbench.arg(name).arg(format!("--events={EVENTS}")).args(["--threads=1", "--time=60"]);
        for (option, value) in options(&script) {
            sysbench.arg(format!("--{}={value}", option.replace('_', "-")));
        }
        sysbench.arg(format!("--mysql-socket={socket}")).arg(format!("--mysql-db={database}"));
        let done = sysbench.arg(format!("--mysql-user={user}")).arg(command).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
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

/// The statements that reach the server while `act` runs, in order. Statements of a load have random values: their
/// digits are left out.
fn logged(target: &Target, act: impl FnOnce()) -> Vec<String> {
    let mut admin = target.connector.connect().unwrap();
    let mut run = |sql: &str| admin.execute(sql).unwrap();
    run("SET GLOBAL log_output = 'TABLE'");
    run("TRUNCATE mysql.general_log");
    run("SET GLOBAL general_log = ON");
    act();
    run("SET GLOBAL general_log = OFF");
    let found = rows(
        target,
        "SELECT CONCAT(command_type, ' ', CONVERT(argument USING utf8mb4)) FROM mysql.general_log \
         WHERE command_type IN ('Query', 'Prepare', 'Execute') AND argument NOT LIKE '%@@socket%' \
         AND argument NOT LIKE '%DATABASE()%' AND argument NOT LIKE '%USER()%' AND argument NOT LIKE 'SET %'",
    );
    let plain = |line: String| {
        let is_load = line.starts_with("Query INSERT");
        if is_load {
            line.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
        } else {
            line
        }
    };
    found.into_iter().map(plain).collect()
}

#[test]
fn the_statements_of_every_script_are_those_of_sysbench() {
    let Some(server) = server("mariadb") else { return };
    for name in NAMES {
        let target = server.database();
        let own = logged(&target, || drop(ours(name, &target)));
        let other = logged(&target, || theirs(name, &target));
        let first = own.iter().zip(&other).position(|(own, other)| own != other);
        let shown = |lines: &[String]| {
            let from = first.unwrap_or(lines.len().saturating_sub(3)).saturating_sub(2);
            lines
                .iter()
                .skip(from)
                .take(6)
                .map(|line| line.chars().take(150).collect())
                .collect::<Vec<String>>()
        };
        assert!(
            own == other,
            "{name}: {} and {} statements: {:#?}\n{:#?}",
            own.len(),
            other.len(),
            shown(&own),
            shown(&other)
        );
        assert!(own.len() > 2, "{name}: {own:?}");
    }
}

#[test]
fn every_script_runs_on_postgres() {
    let Some(server) = server("postgres") else { return };
    for name in NAMES {
        let records = ours(name, &server.database());
        assert_eq!(records[1].kind("event").unwrap().sums.ops, EVENTS, "{name}");
        assert!(records[1].checks.iter().all(|check| check.holds), "{name}");
    }
}
