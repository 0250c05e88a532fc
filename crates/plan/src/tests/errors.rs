//! Bad input gets a clear error: what, where, and what to do.

use crate::{Catalog, estimate};
use insta::assert_snapshot;
use model::Bytes;

use super::{HOST, build, expand};

const SQLITE: &str = "\n[[system]]\nbuild = \"sqlite\"\nconfig = \"wal\"\n";

/// The error of a plan.
fn error(text: &str) -> String {
    expand(text).expect_err("the plan is bad").to_string()
}

/// The error of a plan with this workload, apart from it fine.
fn workload(keys: &str) -> String {
    error(&format!(
        "name = \"p\"\nrounds = 2\nworkload = {{ kind = \"insert\", scale = \"tiny\", {keys} }}{SQLITE}"
    ))
}

/// The error of a plan with these lines at the top and these systems, apart from them fine.
fn plan(top: &str, systems: &str) -> String {
    error(&format!(
        "name = \"p\"\nrounds = 2\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n{top}{systems}"
    ))
}

/// The error of a plan with one system of these keys.
fn system(keys: &str) -> String {
    plan("", &format!("\n[[system]]\n{keys}\n"))
}

#[test]
fn not_toml() {
    assert_snapshot!(error("name = \"p\"\nrounds = = 2"), @"my.toml:2: extra `=`, expected nothing");
}

#[test]
fn unknown_keys_name_the_nearest() {
    assert_snapshot!(workload("cleints = 2"), @"my.toml:3: unknown key `cleints` in workload, did you mean `clients`?");
    assert_snapshot!(plan("clients = 2", SQLITE), @"my.toml:4: `clients` is not a key of the plan: it belongs to the workload");
    assert_snapshot!(plan("huge_pages = true", SQLITE), @"my.toml:4: `huge_pages` is not a key of the plan: it belongs to a `[[system]]`");
    assert_snapshot!(system("build = \"sqlite\"\nname = \"a\""), @"my.toml:7: `name` is not a key of a system: it belongs to the plan, above its first table; here it is called `label`");
    assert_snapshot!(system("build = \"sqlite\"\nrounds = 3"), @"my.toml:7: `rounds` is not a key of a system: it belongs to the plan, above its first table");
    assert_snapshot!(plan("bsae = \"x\"", SQLITE), @"my.toml:4: unknown key `bsae` in the plan, did you mean `base`?");
    assert_snapshot!(system("biuld = \"sqlite\""), @"my.toml:6: unknown key `biuld` in system, did you mean `build`?");
    assert_snapshot!(system("build = \"mariadb\"\ncpus = { sever = \"0\" }"), @"my.toml:7: unknown key `sever` in cpus, did you mean `server`?");
    assert_snapshot!(plan("compression = true", SQLITE), @"my.toml:4: unknown key `compression` in the plan, which has: name, workload, base, seed, control, template, load_hosts, placement, connection, system, rounds, interleave, slice_ms, at_once, quarantine, profile, count, margins");
}

#[test]
fn unknown_names_list_the_choices() {
    assert_snapshot!(system("build = \"mariadb\"\nconfig = \"z21a\""), @"my.toml:7: no mariadb config `z21a`; nearest `z11a`; available: default, quick, z10a, z11a, z11b, z11c, z11d, z11e, z11f, z12a, z12b, z12c, za1, _ahi, _cb, _dw0, _md1, _nobl, _nocb, _nops, _pl0, _pur1, _sync");
    assert_snapshot!(system("build = \"postgras-15\"\npath = \"/opt\""), @"my.toml:6: no DBMS `postgras`; nearest `postgres`; available: mysql, mariadb, postgres, sqlite");
    assert_snapshot!(system("build = \"mariadb\"\nengine = \"inodb\""), @"my.toml:7: no engine `inodb`; nearest `innodb`; available: innodb, myrocks, tokudb, heap, btree");
    assert_snapshot!(workload("steps = [\"l.i0\", \"l.x\", \"qr200\"]"), @"my.toml:3: no step `qr200`; nearest `qr100`; available: l.i0, l.x, l.i1, l.i2, qr100, qp100, qr500, qp500, qr1000, qp1000");
    assert_snapshot!(workload("queries = [\"points\"]"), @"my.toml:3: no kind of query `points`; nearest `point`; available: range, point");
    let scale = "name = \"p\"\nrounds = 1\nworkload = { kind = \"insert\", scale = \"smal\" }";
    assert_snapshot!(error(&format!("{scale}{SQLITE}")), @"my.toml:3: no scale `smal`; nearest `small`; available: tiny, small, medium, seeds");
    let kind = "name = \"p\"\nrounds = 1\nworkload = { kind = \"inserts\", scale = \"small\" }";
    assert_snapshot!(error(&format!("{kind}{SQLITE}")), @"my.toml:3: no workload `inserts`; nearest `insert`; available: insert, micro, sql, tpcc, lua");
    assert_snapshot!(Catalog::embedded().unwrap().plan("dmeo").unwrap_err(), @"catalog: no plan `dmeo`; nearest `demo`; available: demo, mariadb-innodb-myrocks, micro-mariadb-10.5-11.8, micro-mysql-5.6-9.7, micro-mysql-5.6-9.7-control, micro-postgres-12-18, micro-smoke, micro-sqlite, micro-sweep, mysql-5.6-to-9.7, mysql-5.6-to-9.7-control, postgres-12-to-19, postgres-history, postgres-mariadb, smoke, sqlite-history, tpcc-isolation, tpcc-mysql-5.6-9.7, tpcc-postgres, tpcc-smoke, why-mariadb-10.11-11.8, why-mysql-5.6-9.7, why-postgres-12-18");
}

#[test]
fn missing_keys() {
    assert_snapshot!(error("rounds = 1"), @"my.toml:1: the plan needs the key `name`");
    assert_snapshot!(error("name = \"p\"\nworkload = { kind = \"insert\", scale = \"tiny\" }"), @"my.toml:1: the plan needs the key `system`");
    assert_snapshot!(error("name = \"p\"\nworkload = { kind = \"insert\" }"), @"my.toml:2: workload needs the key `scale`");
    assert_snapshot!(system("config = \"wal\""), @"my.toml:5: system needs the key `build`");
    assert_snapshot!(error("name = \"p\"\nrounds = 1\nworkload = \"insert\""), @r#"my.toml:3: `workload` must be a table such as { kind = "insert", scale = "small" }, not "insert""#);
}

#[test]
fn values_of_the_wrong_type_or_size() {
    assert_snapshot!(workload("rows = 0"), @"my.toml:3: `rows` must be a whole number from 1 to 100_000_000_000, not 0");
    assert_snapshot!(workload("rows = -5"), @"my.toml:3: `rows` must be a whole number from 1 to 100_000_000_000, not -5");
    assert_snapshot!(workload("rows = 99999999999999999999"), @"my.toml:3: `rows` must be a whole number from 1 to 100_000_000_000, not 99999999999999999999");
    assert_snapshot!(workload("clients = \"two\""), @r#"my.toml:3: `clients` must be a whole number from 1 to 10_000, not "two""#);
    assert_snapshot!(workload("deletes = 1"), @"my.toml:3: `deletes` must be true or false, not 1");
    assert_snapshot!(workload("rates = []"), @"my.toml:3: `rates` must be a list with at least one value, not an empty one");
    assert_snapshot!(workload("rates = [100, 0]"), @"my.toml:3: `rates` must be a whole number from 1 to 10_000_000, not 0");
    assert_snapshot!(workload("settle = \"never\""), @r#"my.toml:3: `settle` must be "formula", or a whole number of seconds up to a week, not "never""#);
    assert_snapshot!(workload("secondary_indexes = 4"), @"my.toml:3: `secondary_indexes` must be a whole number from 0 to 3, not 4");
    assert_snapshot!(system("build = \"mariadb\"\ncpus = { server = \"3-1\" }"), @r#"my.toml:7: `server` must be a list of CPUs such as "0-3,8", not "3-1""#);
    assert_snapshot!(system("build = \"mariadb-ten\"\npath = \"/opt\""), @r#"my.toml:6: `build` must be "mariadb", or "mariadb-" and a version, not "mariadb-ten""#);
    assert_snapshot!(system("build = \"mariadb\"\nset = { innodb_io_capacity = [1] }"), @"my.toml:7: `innodb_io_capacity` must be text, a number, true or false, not a list");
    assert_snapshot!(system("build = \"mariadb\"\nset = { skip-log-bin = false }"), @"my.toml:7: `skip-log-bin` must be true, or left out, not false");
    assert_snapshot!(plan("seed = -1", SQLITE), @"my.toml:4: `seed` must be a whole number from 0 to 9_223_372_036_854_775_807, not -1");
    assert_snapshot!(plan("system = []", ""), @"my.toml:4: `system` must be a list with at least one value, not an empty one");
}

#[test]
fn values_that_do_not_go_together() {
    assert_snapshot!(workload("tables = \"shared\""), @r#"my.toml:3: `tables = "shared"` excludes `deletes`, because clients would delete each other's rows: set `deletes = false` too"#);
    assert_snapshot!(workload("data_min = 30"), @"my.toml:3: `data_min` (30) is greater than `data_max` (20)");
    assert_snapshot!(workload("rows = 300"), @"my.toml:3: `rows` (300) must be more than the 400 rows that deletes may be ahead of inserts (`queue` = 8 statements of up to 50 rows per commit)");
    assert_snapshot!(workload("secondary_indexes = 1"), @r#"my.toml:3: `secondary_indexes` = 1 leaves step `qr100` without an index that it reads: make it 3, or set `queries = ["point"]`"#);
    assert_snapshot!(workload("compat = true, pacing = \"even\""), @r#"my.toml:3: `compat = true` is the original's behaviour, which excludes `pacing = "even"`: leave one of them out"#);
    assert_snapshot!(workload("clients = 10_000, rows = 10_000_000_000"), @"my.toml:3: `clients` × (`rows` + `i1_rows` + `i2_rows` + `rates` × `query_seconds`) is 100_000_132_000_000 rows, more than 1_000_000_000_000: make one of them smaller");
    assert_snapshot!(workload("rates = [100, 100]"), @"my.toml:3: step `qr100` would be there twice: `rates` and `queries` must not repeat a value");
    assert_snapshot!(workload("steps = [\"l.x\", \"l.i0\"]"), @"my.toml:3: `steps` must name each step once and keep their order: l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000");
    assert_snapshot!(workload("steps = [\"l.i0\", \"l.i0\"]"), @"my.toml:3: `steps` must name each step once and keep their order: l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000");
    assert_snapshot!(workload("steps = [\"l.x\", \"l.i1\"]"), @"my.toml:3: step `l.x` needs `l.i0` in `steps`: it makes and fills the tables");
    assert_snapshot!(workload("steps = [\"l.i0\", \"qr100\"]"), @"my.toml:3: step `qr100` needs `l.x` in `steps`, which makes the indexes; or set `secondary_indexes = 0`");
    assert_snapshot!(workload("partitions = 4"), @"my.toml:5: `partitions` = 4 and `build`: sqlite-3.51.1bundled has no range partitions; leave one of them out");
}

#[test]
fn a_number_of_counted_rounds_is_at_least_one() {
    let with = |key: &str, build: &str| plan(key, &format!("\n[[system]]\nbuild = \"{build}\"\n"));
    assert_snapshot!(with("count = 0", "sqlite"), @"my.toml:4: `count` must be `true`, `false` or a whole number from 1 to 1_000, not 0");
}

#[test]
fn systems_that_cannot_be() {
    assert_snapshot!(system("build = \"postgres\"\nengine = \"innodb\""), @"my.toml:7: postgres has no engine `innodb`: use heap, or leave it out");
    assert_snapshot!(system("build = \"sqlite\"\nconnect = \"db1\""), @r#"my.toml:7: `connect` and `build = "sqlite"`: sqlite has no server; leave `connect` out"#);
    assert_snapshot!(system("build = \"mariadb\"\npath = \"/opt\"\nconnect = \"db1\""), @"my.toml:8: `path` and `connect`: a server is either started from a path or connected to");
    assert_snapshot!(system("build = \"mariadb\"\nconfig = \"z12a\"\nconnect = \"db1\""), @"my.toml:7: `connect` and `config`: a foreign server keeps its own settings");
    assert_snapshot!(system("build = \"sqlite\"\ncpus = { server = \"0\" }"), @r#"my.toml:7: `cpus.server` and `build = "sqlite"`: backslide starts no server process to place"#);
    assert_snapshot!(plan("", &format!("{SQLITE}{SQLITE}")), @"my.toml:10: a second system with the name `sqlite/wal`: give one of them another `label`");
    let labelled = format!("{SQLITE}{SQLITE}label = \"control\"\n");
    assert_snapshot!(plan("control = true", &labelled), @r#"my.toml:4: `control = true` and a system with `label = "control"`: leave one of them out"#);
}

#[test]
fn builds_that_are_not_there() {
    assert_snapshot!(system("build = \"mysql-8.0\"\nconnect = \"a@db1\""), @"my.toml:6: the `mysql-8.0` server that `connect` names: no mysqld in PATH; give its `path`");
    assert_snapshot!(system("build = \"mysql-8.0\""), @"my.toml:6: no build `mysql-8.0`: no mysqld in PATH; give its `path`");
    assert_snapshot!(system("build = \"mariadb-10.5\""), @"my.toml:6: `mariadb-10.5` was requested, but mariadb-10.11.18 was found, which does not match; install the one that is meant, or give its `path`");
    assert_snapshot!(system("build = \"postgres-15.1\""), @"my.toml:6: `postgres-15.1` was requested, but postgres-15.18 was found, which does not match; install the one that is meant, or give its `path`");
}

#[test]
fn versions_that_are_too_old() {
    let text = "name = \"p\"\nrounds = 1\nworkload = { kind = \"insert\", scale = \"tiny\" }\n\
                [[system]]\nbuild = \"postgres\"";
    let file = crate::read(text, "my.toml").unwrap();
    let catalog = Catalog::embedded().unwrap();
    let old = crate::expand(&file, &catalog, &|r| Ok(build(r, "9.5.3")), HOST).unwrap_err();
    assert_snapshot!(old, @"my.toml:5: postgres 9.5.3 is an unsupported version; postgres is supported from 9.6 on");
}

#[test]
fn a_base_that_is_none_or_many() {
    let two = "\n[[system]]\nbuild = \"mariadb\"\nconfig = \"quick\"\n\
               [[system]]\nbuild = \"mariadb\"\nconfig = \"z12a\"\n";
    assert_snapshot!(plan("base = \"mariadb\"", two), @r#"my.toml:4: `base = "mariadb"` fits more than one system, such as `mariadb-10.11.18/innodb/quick` and `mariadb-10.11.18/innodb/z12a`: give one of these names"#);
    assert_snapshot!(plan("base = \"mariadb/innodb/quik\"", two), @"my.toml:4: no system `mariadb/innodb/quik`; available: mariadb-10.11.18/innodb/quick, mariadb-10.11.18/innodb/z12a");
}

#[test]
fn a_plan_that_is_too_large_for_the_disk() {
    let text = format!(
        "name = \"p\"\nrounds = 2\nworkload = {{ kind = \"insert\", scale = \"seeds\" }}{SQLITE}"
    );
    let needs = estimate(&expand(&text).unwrap());
    assert_snapshot!(needs.fits(Bytes(1 << 30), "/var/lab").unwrap_err(), @"the plan needs about 4.74 GiB of disk, /var/lab has 1.00 GiB free; use a smaller scale or --lab elsewhere");
    assert!(needs.fits(needs.disk, "/var/lab").is_ok());
}

#[test]
fn caches_that_are_larger_than_memory_are_noted() {
    let text = format!(
        "name = \"p\"\nrounds = 2\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}{SQLITE}set = {{ cache_size = -9_000_000 }}\n"
    );
    let needs = estimate(&expand(&text).unwrap());
    assert_snapshot!(needs.lacks_memory(Bytes(8 << 30)).unwrap(), @"note: the plan may need about 25.8 GiB of memory, the host has 8.00 GiB: a server may not start, swap, or be killed; set smaller caches, or let fewer systems be up at once");
    assert_eq!(needs.lacks_memory(needs.peak_memory), None);
}

#[test]
fn mistakes_of_a_table_and_of_a_list_are_told_together() {
    assert_snapshot!(system("bild = \"sqlite\"\nconfg = \"wal\""), @"
    my.toml:6: unknown key `bild` in system, did you mean `build`?
    my.toml:7: unknown key `confg` in system, did you mean `config`?
    ");
    let two = "\n[[system]]\nbuild = \"sqlite\"\ncofig = \"wal\"\n[[system]]\nbuild = \"sqlite\"\nlable = \"b\"\n";
    assert_snapshot!(plan("", two), @"
    my.toml:7: unknown key `cofig` in system, did you mean `config`?
    my.toml:10: unknown key `lable` in system, did you mean `label`?
    ");
    let values = workload("rows = 0, clients = \"many\"");
    assert!(values.lines().count() == 2 && values.contains("`clients` must be"), "{values}");
}

#[test]
fn files_that_are_no_catalog() {
    let add = |path: &str, text: &str| {
        Catalog::with(&[(path.to_owned(), text.to_owned())]).unwrap_err().to_string()
    };
    assert_snapshot!(add("dbms/oracle/configs/x.toml", ""), @"dbms/oracle/configs/x.toml: not a file of the catalog, which has dbms/<name>/product.toml, builds.toml and variables.toml there, dbms/<name>/configs/<name>.toml, dbms/<name>/configs/modifiers/<word>.toml, plans/<name>.toml, workloads/<name>.toml, helpers.toml, layers.toml, noise.toml and scales.toml");
    assert_snapshot!(add("notes.txt", ""), @"notes.txt: not a file of the catalog, which has dbms/<name>/product.toml, builds.toml and variables.toml there, dbms/<name>/configs/<name>.toml, dbms/<name>/configs/modifiers/<word>.toml, plans/<name>.toml, workloads/<name>.toml, helpers.toml, layers.toml, noise.toml and scales.toml");
    assert_snapshot!(add("dbms/mariadb/configs/mine.toml", "sumary = \"x\""), @"catalog/dbms/mariadb/configs/mine.toml:1: unknown key `sumary` in config, did you mean `summary`?");
    assert_snapshot!(add("scales.toml", "[tiny]\nrows = 1"), @"catalog/scales.toml:1: scale needs the key `i1_rows`");
}

#[test]
fn keys_of_a_script_that_contradict_each_other() {
    let script = |keys: &str| {
        let workload = format!("workload = {{ kind = \"lua\", {keys} }}");
        error(&format!("name = \"p\"\nrounds = 2\n{workload}{SQLITE}"))
    };
    let ramp = "script = \"a.lua\", ramp = { from = 5, p99 = \"1s\" }";
    assert_snapshot!(script(&format!("{ramp}, events = 5")), @"my.toml:3: `events` and `ramp` exclude each other: each rate is tried for a time");
    assert_snapshot!(script(&format!("{ramp}, rate = 5")), @"my.toml:3: `rate` and `ramp` exclude each other: leave one of them out");
    assert_snapshot!(script("script = \"a.lua\", clients = [1, 1]"), @"my.toml:3: `clients` has 1 twice");
    let option = |option: &str| script(&format!("script = \"a.lua\", options = {{ {option} }}"));
    assert_snapshot!(option("threads = 5"), @"my.toml:3: `threads` of sysbench is the key `clients` of `workload`, beside `options`");
    assert_snapshot!(option("mysql-host = \"x\""), @"my.toml:3: `mysql_host` would name a server or a way to it, which `[[system]]` does; leave it out");
    assert_snapshot!(option("percentile = 101"), @"my.toml:3: `percentile`: expected a whole number from 0 to 100, found `101`");
    assert_snapshot!(option("rand_seed = 99999999999"), @"my.toml:3: `rand_seed`: expected a whole number from 0 to 2147483647, found `99999999999`");
    assert_snapshot!(option("db_ps_mode = \"foo\""), @"my.toml:3: `db_ps_mode`: expected auto or disable, found `foo`");
    assert_snapshot!(script("script = \"x/prepare.lua\""), @"my.toml:3: `script` has the name of one of its commands, and each is a step; rename the file");
    assert_snapshot!(script("script = \"a.lua\", commands = [\"prepare\"]"), @r#"my.toml:3: `commands` without "run": it is the command that is measured"#);
}
