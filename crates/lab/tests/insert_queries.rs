//! How queries of the Insert Benchmark reach PostgreSQL, by the server's own log.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{expand_with, servers};
use lab::{Builds, Provider, Providers};
use load::Stop;
use model::{Dbms, Edge, Interval};

/// Whoever looks at nothing.
struct Nobody;

impl load::Observer for Nobody {
    fn edge(&mut self, _: Edge) {}

    fn interval(&mut self, _: Interval) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}

/// What PostgreSQL logged of a small benchmark with these keys, one statement an entry: `statement: …` for
/// texts, `execute s0: …` for statements that the protocol prepared. `None` where there is no PostgreSQL.
fn logged(keys: &str) -> Option<Vec<String>> {
    let builds = Builds::of_user().unwrap();
    let Some(build) = servers(&builds).into_iter().find(|build| build.dbms == Dbms::Postgres)
    else {
        testkit::skipped("no PostgreSQL");
        return None;
    };
    let plan = expand_with(
        &builds,
        &format!(
            "name = \"queries\"\nrounds = 1\nquarantine = false\n\
             workload = {{ kind = \"insert\", scale = \"tiny\", rows = 2_000, query_seconds = 1, rates = [100], \
             steps = [\"l.i0\", \"l.x\", \"qr100\", \"qp100\"]{keys} }}\n\
             [[system]]\nbuild = \"{}\"\nconfig = \"quick\"\nset = {{ log_statement = \"all\" }}\n",
            build.id()
        ),
    );
    let root = tempfile::Builder::new().prefix("bs-q").tempdir().unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let directory = root.path().join("x");
    let system = &plan.systems[0];
    let opened = Providers::default().open(system, plan.statement_timeout(), &directory, None);
    let mut site = opened.unwrap_or_else(|error| panic!("{error}"));
    let target = site.target();
    let mut workload = workloads::workload(&plan.workload, 7);
    for (index, outline) in plan.steps.iter().enumerate() {
        if outline.task == model::StepTask::Settle {
            continue;
        }
        let result = workload.run(index, &target, &Stop::default(), &mut Nobody);
        let result = result.unwrap_or_else(|error| panic!("{}: {error}", outline.id));
        let wrong = result.checks.iter().find(|check| !check.holds);
        assert!(wrong.is_none(), "{}: {wrong:?}", outline.id);
    }
    drop(target);
    let log = fs::read_to_string(directory.join("server.log")).unwrap();
    site.stop().unwrap();
    site.remove().unwrap();
    let statements = log.lines().filter_map(|line| line.split_once("LOG:  "));
    Some(statements.map(|(_, said)| said.to_owned()).collect())
}

fn count(logged: &[String], begin: &str) -> usize {
    let found = logged.iter().filter(|said| said.starts_with(begin));
    found.count()
}

#[test]
fn compat_sends_queries_as_the_original_does() {
    let Some(logged) = logged(", compat = true") else {
        return;
    };
    for prepared in [
        "statement: PREPARE market_query_ps (int) AS SELECT productid, customerid, price FROM pi1 WHERE productid >= $1 ORDER BY productid, customerid, price LIMIT 10",
        "statement: PREPARE register_query_ps (int) AS SELECT cashregisterid, customerid, price FROM pi1 WHERE cashregisterid > $1 ORDER BY cashregisterid, customerid, price LIMIT 10",
        "statement: PREPARE pdc_query_ps (int) AS SELECT price, dateandtime, customerid FROM pi1 WHERE price >= $1 ORDER BY price, dateandtime, customerid LIMIT 10",
        "statement: PREPARE pk_query_ps (int,int,int,int,int,int,int,int,int,int) AS SELECT transactionid, productid, data FROM pi1 WHERE transactionid IN ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)",
    ] {
        assert_eq!(count(&logged, prepared), 1, "{prepared}");
    }
    for name in ["market_query_ps", "register_query_ps", "pdc_query_ps"] {
        assert!(count(&logged, &format!("statement: execute {name} (")) > 10);
    }
    let point =
        logged.iter().filter_map(|said| said.strip_prefix("statement: execute pk_query_ps ("));
    let mut points = 0;
    for keys in point {
        let keys: Result<Vec<i32>, _> =
            keys.trim_end_matches(')').split(',').map(str::parse).collect();
        assert_eq!(keys.unwrap().len(), 10);
        points += 1;
    }
    assert!(points > 10, "{points}");
    assert_eq!(count(&logged, "execute s"), 0);
}

#[test]
fn by_default_the_protocol_prepares_queries() {
    let Some(logged) = logged("") else { return };
    assert!(count(&logged, "execute s0: SELECT ") > 10);
    assert_eq!(count(&logged, "statement: execute "), 0);
}
