//! Systems of arguments are those of a plan, and their errors name the arguments.

use insta::assert_snapshot;
use model::Plan;

use super::{CATALOG, HOST, build, expand, find};
use crate::{Argument, PlanError, SystemArguments, of_arguments};

const fn argument<'a>(name: &'a str, text: &'a str) -> Argument<'a> {
    Argument { name, text }
}

const fn of(build: &str) -> SystemArguments<'_> {
    SystemArguments::of(argument("BUILD", build))
}

fn with_engine<'a>(build: &'a str, engine: &'a str) -> SystemArguments<'a> {
    SystemArguments { engine: Some(argument("--engine", engine)), ..of(build) }
}

fn with_config<'a>(build: &'a str, config: &'a str) -> SystemArguments<'a> {
    SystemArguments { config: Some(argument("--config", config)), ..of(build) }
}

fn with_set<'a>(build: &'a str, options: &[(&'a str, Option<&'a str>)]) -> SystemArguments<'a> {
    let set = options.iter();
    SystemArguments {
        set: set.map(|&(option, value)| (argument("--set", option), value)).collect(),
        ..of(build)
    }
}

fn expanded(systems: &[SystemArguments<'_>]) -> Result<Plan, PlanError> {
    crate::expand(&of_arguments(systems)?, &CATALOG, &find, HOST)
}

fn error(systems: &[SystemArguments<'_>]) -> String {
    expanded(systems).expect_err("the arguments are bad").to_string()
}

#[test]
fn a_system_is_that_of_a_plan() {
    let arguments = SystemArguments {
        engine: Some(argument("--engine", "innodb")),
        config: Some(argument("--config", "z12a")),
        ..with_set(
            "mariadb",
            &[
                ("sync_binlog", Some("1")),
                ("skip-log-bin", None),
                ("init_connect", Some("SET @a = \"\\x\"")),
            ],
        )
    };
    let wanted = expand(
        "name = \"p\"\nrounds = 1\nworkload = { kind = \"insert\", scale = \"tiny\" }\n\
         [[system]]\nbuild = \"mariadb\"\nengine = \"innodb\"\nconfig = \"z12a\"\n\
         set = { sync_binlog = \"1\", skip-log-bin = true, init_connect = 'SET @a = \"\\x\"' }\n",
    );
    assert_eq!(expanded(&[arguments]).unwrap().systems, wanted.unwrap().systems);
    let two = expanded(&[with_config("sqlite", "wal"), of("postgres")]).unwrap();
    let names: Vec<&str> = two.systems.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["sqlite/wal", "postgres-15.18/default"]);
}

#[test]
fn the_argument_at_fault_is_named() {
    assert_snapshot!(error(&[of("mysql")]), @"BUILD: no build `mysql`: no mysqld in PATH; give its `path`");
    assert_snapshot!(error(&[of(" ")]), @r#"`BUILD` must be text, not " ""#);
    assert_snapshot!(error(&[with_config("sqlite", "")]), @r#"`--config` must be text, not """#);
    assert_snapshot!(error(&[with_config("sqlite", "waal")]), @"--config: no sqlite config `waal`; nearest `wal`; available: default, rollback, wal");
    assert_snapshot!(error(&[with_config("sqlite", "z12a")]), @"--config: config `z12a` is for mysql and mariadb; sqlite has: default, rollback, wal");
    assert_snapshot!(error(&[with_engine("mariadb", "inodb")]), @"--engine: no engine `inodb`; nearest `innodb`; available: innodb, myrocks, tokudb, heap, btree");
    assert_snapshot!(error(&[with_engine("postgres", "innodb")]), @"--engine: postgres has no engine `innodb`: use heap, or leave it out");
    assert_snapshot!(error(&[with_set("postgres", &[("io_method", Some("sync"))])]), @"--set: postgres 15.18 does not know `io_method`, which exists since 18; leave it out");
    assert_snapshot!(error(&[with_set("mariadb", &[("sync_binlog", Some("1")), ("sync_binlog", Some("0"))])]), @"--set: `sync_binlog` is given twice: leave one out");
    assert_snapshot!(error(&[of("mariadb-10.5")]), @"BUILD: `mariadb-10.5` was requested, but mariadb-10.11.18 was found, which does not match; install the one that is meant, or add it under another name (`backslide add`)");
    assert_snapshot!(error(&[of("sqlite"), with_config("sqlite", "default")]), @"BUILD: `sqlite/default` is named twice: name two different systems");
}

#[test]
fn a_version_that_is_too_old_is_told() {
    let file = of_arguments(&[of("postgres")]).unwrap();
    let old = crate::expand(&file, &CATALOG, &|r| Ok(build(r, "9.5.3")), HOST).unwrap_err();
    assert_snapshot!(old, @"BUILD: postgres 9.5.3 is an unsupported version; postgres is supported from 9.6 on");
}
