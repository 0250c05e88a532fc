//! `quick` and `init`: comparisons without a plan file.

mod common;

use common::Bench;

/// One table, one statement: as short as a workload can be.
const WORKLOAD: &str = r#"
name = "one"
summary = "one read"

[[table]]
name = "t"
rows = 100
primary_key = ["id"]
[table.columns]
id = { type = "int", value = "row" }
n = { type = "int", value = { int = [0, 9] } }

[operation.read]
table = "t"
draws = { id = { int = [1, 100] } }
sql = "SELECT n FROM {table} WHERE id = :id"
expect = 1

[[step]]
name = "read"
operation = "read"
"#;

#[test]
fn a_setting_is_measured_without_a_plan() {
    let bench = Bench::new();
    bench.write("one.toml", WORKLOAD);
    let arguments =
        ["sqlite/wal", "--set", "synchronous=off", "--workload", "one.toml", "--minutes", "0.2"];
    let report = bench.path("r.html");
    let quick = [&["quick", "-o", report.to_str().unwrap()], &arguments[..]].concat();
    let ran = bench.run(&quick);
    assert!([0, 10, 11].contains(&ran.code()), "{ran:?}");
    let headline = ran.stdout.lines().next().unwrap();
    assert!(headline.starts_with("sqlite/wal synchronous=off "), "{}", ran.stdout);
    let told = ran.stderr.replace('\n', " ");
    assert!(told.contains("given an assumed noise of 1 % between rounds"), "{told}");
    assert_eq!(bench.run(&["compare"]).code(), ran.code(), "{ran:?}");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("</html>") && report.contains("synchronous=off"));
    assert!(bench.journal("r1").len() >= 8);
    // The plan that `init` prints is one, and says the same.
    let text = bench.run(&[&["init"], &arguments[..]].concat()).fine();
    bench.write("plan.toml", &text);
    let plan = bench.run(&["plan", "plan.toml", "--format", "json"]).json();
    assert!(plan.to_string().contains("sqlite/wal synchronous=off"), "{plan}");
}

#[test]
fn what_is_wrong_is_told_of_its_argument() {
    let bench = Bench::new();
    let error = |arguments: &[&str]| {
        let ran = bench.run(&[&["quick"], arguments].concat());
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{ran:?}");
        ran.stderr.trim_end().to_owned()
    };
    insta::assert_snapshot!(error(&["sqlite"]), @"error: name two systems, or one and a setting: `backslide quick postgres-18 --set jit=off`");
    insta::assert_snapshot!(error(&["sqlite/wal", "sqlite/wal"]), @"error: SYSTEM: `sqlite/wal` is named twice: name two different systems");
    insta::assert_snapshot!(error(&["sqlite/wal", "sqlite/waal"]), @"error: SYSTEM: no sqlite config `waal`; nearest `wal`; available: default, rollback, wal");
    insta::assert_snapshot!(error(&["sqlite/wal", "no-such"]), @"error: SYSTEM: no build `no-such`: it is neither installed nor in the catalog; `backslide builds` lists available builds, `backslide add` adds one of your own, in a plan `path = \"…\"` says where one is");
    insta::assert_snapshot!(error(&["sqlite/wal", "--set", "synchronos=off"]), @"error: --set: sqlite-3.54.1bundled: setting `synchronos` is refused: error SQLITE_ERROR: SQLite 3.54.1 has no pragma `synchronos` (in `PRAGMA synchronos = off`)");
    insta::assert_snapshot!(error(&["sqlite/wal", "sqlite", "--workload", "none.toml"]), @"
    error: --workload
      because cannot read none.toml
      because No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(error(&["sqlite/wal", "sqlite", "--workload", "mikro"]), @"error: --workload: no workload `mikro`; available: insert, tpcc, accounts, micro, orders, timeseries, and paths of workload files");
}

const SCRIPT: &str = "
sysbench.cmdline.options = { rows = { 'rows of the table', 10 }, skip_trx = { 'no transactions', false } }
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query('CREATE TABLE t (id INTEGER PRIMARY KEY)')
   for i = 1, sysbench.opt.rows do con:query('INSERT INTO t VALUES (' .. i .. ')') end
end
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query('SELECT id FROM t WHERE id = ' .. sysbench.rand.uniform(1, sysbench.opt.rows)) end
";

#[test]
#[cfg(feature = "lua")]
fn a_script_is_run_with_the_options_of_sysbench() {
    let bench = Bench::new();
    bench.write("read.lua", SCRIPT);
    let system = ["sqlite/wal", "sqlite/rollback", "--rounds", "1"];
    let run =
        |options: &[&str]| bench.run(&[&["run", "read"], &system[..], &["--"], options].concat());
    let ran = run(&[
        "--rows=20",
        "--threads=2",
        "--time=1",
        "--rate=50",
        "--percentile=99",
        "--skip-trx",
    ]);
    assert_eq!(ran.fine(), "r1\n");
    let shown = bench.run(&["show", "r1"]).fine();
    assert!(shown.contains("plan read") && shown.contains("sqlite/rollback"), "{shown}");
    let help = bench.run(&["run", "read.lua", "--", "--help"]).fine();
    let expected = "--rows=10\n    rows of the table\n--skip-trx=off\n    no transactions\n";
    assert_eq!(help, expected);
    let error = |ran: common::Ran| {
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{ran:?}");
        ran.stderr.replace(bench.path("").to_str().unwrap(), "DIR/").trim_end().to_owned()
    };
    insta::assert_snapshot!(error(run(&["--row=1"])), @"error: DIR/read.lua has no option `row`; did you mean `rows`?");
    let plan = "name = \"read\"\nrounds = 1\n[workload]\nkind = \"lua\"\nscript = \"read.lua\"\n[workload.options]\n\
                skip-trx = true\nrows = \"many\"\n[[system]]\nbuild = \"sqlite\"\n";
    bench.write("read.toml", plan);
    for verb in ["run", "plan"] {
        let message = "error: read.toml:8: option `rows`: `many` is not a number";
        assert_eq!(error(bench.run(&[verb, "read.toml"])), message);
    }
    bench.write("read.toml", &plan.replace("rows =", "row = 1 #"));
    insta::assert_snapshot!(error(bench.run(&["run", "read.toml"])), @"error: read.toml:8: DIR/read.lua has no option `row`; did you mean `rows`?");
    insta::assert_snapshot!(error(run(&["--threads=0"])), @"error: the plan of these arguments:12: `clients` must be a whole number from 1 to 10_000, not 0");
    insta::assert_snapshot!(error(run(&["prepare"])), @"error: after `--`, `prepare` is the name of a command; add `run`, the command that is measured: `-- prepare run`, or leave commands out");
    insta::assert_snapshot!(error(bench.run(&["run", "read.lua"])), @"error: name a system to run read.lua on: `backslide run read.lua postgres-18 -- --time=30`");
    insta::assert_snapshot!(error(bench.run(&["run", "reed.lua", "sqlite"])).split(" in ").next().unwrap(), @"error: no script `reed.lua`");
}
