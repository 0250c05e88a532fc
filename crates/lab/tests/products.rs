//! Products that are added with data alone, as CONTRIBUTING.md shows: one of MySQL's family, one of
//! PostgreSQL's. Their servers are scripts that say what such servers say of themselves.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use explain::{Condition, Facts, Reading, conditions, explain};
use lab::Builds;
use model::{Build, Bytes, Dbms, Dialect, HostShape, Plan};
use obtain::{Added, Depot};
use plan::Catalog;

const PERCONA: &str = include_str!("products/dbms/percona/product.toml");
const PPG: &str = include_str!("products/dbms/ppg/product.toml");
const HOST: HostShape = HostShape { cpus: 4, memory: Bytes(8 << 30) };

const PERCONA_SAYS: &str =
    "mysqld  Ver 8.0.33-25 for Linux on x86_64 (Percona Server (GPL), Release 25)";
const PPG_SAYS: &str = "postgres (PostgreSQL) 16.3 - Percona Distribution";

/// The catalog with both folders in it.
static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let file = |name: &str, text: &str| (format!("dbms/{name}/product.toml"), text.to_owned());
    Catalog::with(&[file("percona", PERCONA), file("ppg", PPG)]).unwrap()
});

/// A server program that answers every question with this line.
fn server(root: &Path, program: &str, line: &str) -> PathBuf {
    let bin = root.join(program).join("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = bin.join(program);
    fs::write(&path, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    root.join(program)
}

fn found(root: &Path) -> [Build; 2] {
    LazyLock::force(&CATALOG);
    let percona = server(root, "mysqld", PERCONA_SAYS);
    let ppg = server(root, "postgres", PPG_SAYS);
    [percona, ppg].map(|directory| servers::inspect(&directory).unwrap())
}

/// The plan of these builds, each with the config that comes after it.
fn expanded(builds: &[(&Build, &str)]) -> Plan {
    let mut text =
        "name = \"p\"\nrounds = 1\nworkload = { kind = \"insert\", scale = \"tiny\" }\n".to_owned();
    for (build, config) in builds {
        let line = format!(
            "[[system]]\nbuild = \"{}-{}\"\npath = \"/somewhere\"\nconfig = \"{config}\"\n",
            build.dbms, build.version
        );
        text.push_str(&line);
    }
    let file = plan::read(&text, "my.toml").unwrap();
    let find = |request: &plan::BuildRequest| {
        let mut all = builds.iter().map(|(build, _)| *build);
        all.find(|build| request.fits(build)).cloned().ok_or_else(|| "no build".into())
    };
    plan::expand(&file, &CATALOG, &find, HOST).unwrap()
}

#[test]
fn the_worked_example_of_contributing_is_these_files() {
    let text = include_str!("../../../CONTRIBUTING.md");
    for file in [PERCONA, PPG] {
        assert!(text.contains(file), "not in CONTRIBUTING.md:\n{file}");
    }
}

#[test]
fn a_program_says_which_product_it_is_and_the_others_stay_what_they_are() {
    let root = tempfile::tempdir().unwrap();
    let [percona, ppg] = found(root.path());
    assert_eq!(percona.id(), "percona-8.0.33");
    assert_eq!(percona.dbms.dialect(), Dialect::Mysql);
    assert_eq!(ppg.id(), "ppg-16.3");
    assert_eq!(ppg.dbms.dialect(), Dialect::Postgres);
    let oracle = "mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)";
    let mysql = server(&root.path().join("a"), "mysqld", oracle);
    assert_eq!(servers::inspect(&mysql).unwrap().dbms, Dbms::Mysql);
    let plain = server(&root.path().join("b"), "postgres", "postgres (PostgreSQL) 16.3");
    assert_eq!(servers::inspect(&plain).unwrap().dbms, Dbms::Postgres);
    let names: Vec<_> = Dbms::all().into_iter().map(Dbms::name).collect();
    assert_eq!(names, ["mysql", "percona", "mariadb", "postgres", "ppg", "sqlite"]);
}

#[test]
fn a_build_is_added_by_its_path_and_plans_find_it_by_the_product() {
    let root = tempfile::tempdir().unwrap();
    let [percona, _] = found(root.path());
    let builds = Builds::new(CATALOG.clone(), Depot::new(root.path().join("depot")));
    let path = root.path().join("mysqld");
    let added = builds.add("mine", &Added::Path(path), &mut |_| {}).unwrap();
    assert_eq!(added.build.dbms, percona.dbms);
    let request = plan::BuildRequest::named("percona-8.0");
    assert_eq!((request.dbms, request.is_general()), (Some(percona.dbms), true));
    assert_eq!(builds.find(&plan::BuildRequest::named("mine")).unwrap().id(), "mine");
}

#[test]
fn a_plan_knows_configs_costs_and_limits() {
    let root = tempfile::tempdir().unwrap();
    let [percona, ppg] = found(root.path());
    let mysql = Build { dbms: Dbms::Mysql, ..percona.clone() };
    let plan = expanded(&[(&percona, "z12a"), (&mysql, "z12a"), (&ppg, "x10a")]);
    let [of_percona, of_mysql, of_ppg] = plan.systems.as_slice() else {
        panic!("three systems expected: {:?}", plan.systems);
    };
    assert_eq!(of_percona.name, "percona-8.0.33/innodb/z12a");
    assert_eq!(of_percona.config.settings, of_mysql.config.settings);
    assert!(!of_percona.config.settings.is_empty() && !of_ppg.config.settings.is_empty());
    let estimate = plan::estimate(&plan);
    let memory = |at: usize| estimate.memory[at].1.0;
    // Its own key of `[memory]`, and the rest of MySQL's.
    assert_eq!(memory(0) - memory(1), 50 << 20);
    let limits = &ppg.dbms.product().limits;
    assert_eq!((limits.max_connections, limits.reserved_connections), (Some(100), 5));
    let stored = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
}

/// What a server with these variables is known to be.
fn facts(build: &Build, variables: &[(&str, &str)]) -> Facts {
    let variables: BTreeMap<_, _> = variables
        .iter()
        .map(|(name, value)| {
            ((*name).to_owned(), Reading { value: (*value).to_owned(), source: None })
        })
        .collect();
    Facts::of(build.id(), build.dbms, build.version.clone(), variables)
}

#[test]
fn explain_compares_it_with_its_family_and_knows_its_conditions() {
    let root = tempfile::tempdir().unwrap();
    let [percona, ppg] = found(root.path());
    let mysql = Build { dbms: Dbms::Mysql, ..percona.clone() };
    let a = facts(&mysql, &[("innodb_flush_log_at_trx_commit", "1"), ("tx_isolation", "x")]);
    let b =
        facts(&percona, &[("innodb_flush_log_at_trx_commit", "2"), ("transaction_isolation", "x")]);
    let rules = CATALOG.variables(percona.dbms);
    let explanation = explain(rules, &a, &b);
    assert!(explanation.comparable);
    let names: Vec<&str> = explanation.differences.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["innodb_flush_log_at_trx_commit"], "renamed as in MySQL's catalog");
    let durable = |facts: &Facts| {
        let stands = conditions(CATALOG.variables(facts.dbms), facts);
        let stand = stands.into_iter().find(|stand| stand.condition == Condition::Durability);
        stand.unwrap().text
    };
    assert_eq!(durable(&b), "survives a crash of the server, not of the machine");
    let of_ppg = facts(&ppg, &[("synchronous_commit", "off"), ("fsync", "on")]);
    assert_eq!(durable(&of_ppg), "may be lost in a crash of the server");
}
