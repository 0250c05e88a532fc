//! The real binary with the servers of this machine; each test says so and returns where there are
//! none.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/stranger.rs"]
mod stranger;

use std::fs;
use std::time::Duration;

use common::{Bench, end, plan, signal, wait_for};
use model::{Dbms, Dialect, RunId, StepSeries};
use rustix::process::Signal;
use serde_json::Value;
use store::{Store, Want};
use stranger::{LIMIT, Stranger};

const LOAD: &str =
    r#"kind = "insert", scale = "tiny", rows = 2_000, i1_rows = 400, i2_rows = 100, rates = [100]"#;

/// The families of servers that the binary finds here.
fn found() -> Vec<Dbms> {
    let builds = Bench::new().run(&["builds", "--format", "json"]).json();
    let builds = builds.as_array().unwrap();
    let is_there = |dbms: &Dbms| builds.iter().any(|build| build["dbms"] == dbms.name());
    let found: Vec<Dbms> = [Dbms::Mariadb, Dbms::Postgres].into_iter().filter(is_there).collect();
    if found.is_empty() {
        testkit::skipped("no server");
    }
    found
}

/// Does a process run, other than as one that ended and was not reaped?
fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        let rest = stat.rsplit_once(") ").map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.starts_with(['Z', 'X']))
    })
}

/// A process and those that it started itself.
fn tree(pid: u32) -> Vec<u32> {
    let children = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        (parent == pid.to_string()).then_some(child)
    });
    std::iter::once(pid).chain(children).collect()
}

/// The values of a metric, by `step system`.
fn values(bench: &Bench, metric: &str) -> Vec<(String, f64)> {
    let csv = bench.run(&["export"]).fine();
    let rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[6] == metric)
        .map(|row| (format!("{} {}", row[4], row[3]), row[8].parse().unwrap()))
        .collect()
}

/// The plan's only run is finished, with this many trials, and nothing is left behind.
fn assert_complete(bench: &Bench, trials: usize) {
    let runs = bench.run(&["list", "--format", "json"]).json();
    assert_eq!(runs[0]["state"], "finished");
    assert_eq!((&runs[0]["completed"], &runs[0]["failed"]), (&trials.into(), &0.into()));
    assert_eq!(bench.journal("r1").len(), trials);
    assert!(bench.instances().is_empty());
    assert!(bench.processes().is_empty(), "{:?}", bench.processes());
}

#[test]
fn all_steps_with_text_and_with_prepared_statements() {
    let systems = found().into_iter().map(|dbms| format!("build = \"{dbms}\"\nconfig = \"quick\""));
    let systems: Vec<String> = systems.collect();
    if systems.is_empty() {
        return;
    }
    let systems: Vec<&str> = systems.iter().map(String::as_str).collect();
    for statements in ["text", "prepared"] {
        let bench = Bench::new();
        let workload = format!("{LOAD}, query_seconds = 1, statements = \"{statements}\"");
        bench.write("servers.toml", &plan(&workload, 1, &systems));
        let ran = bench.run(&["run", "servers.toml"]);
        assert_eq!(ran.code(), 0, "{statements}: {ran:?}");
        assert_complete(&bench, systems.len());
        let steps = 6;
        for metric in ["server.rss", "size.data"] {
            let values = values(&bench, metric);
            assert_eq!(values.len(), steps * systems.len(), "{metric}: {values:?}");
            assert!(values.iter().all(|(_, value)| *value > 0.0), "{metric}: {values:?}");
        }
        // A step of milliseconds may take less than what the system counts in; queries do not.
        let cpu = values(&bench, "server.cpu/o");
        let queries = cpu.iter().filter(|(step, _)| step.starts_with('q'));
        assert_eq!(queries.clone().count(), 2 * systems.len(), "{cpu:?}");
        assert!(queries.clone().all(|(_, value)| *value > 0.0), "{cpu:?}");
        let html = bench.run(&["report", "-o", "-"]).fine();
        assert!(html.contains("config file"), "the report has no configs");
    }
}

#[test]
fn killed_in_the_middle_no_server_survives_and_the_run_goes_on() {
    for dbms in found() {
        let bench = Bench::new();
        let system = format!("build = \"{dbms}\"\nconfig = \"quick\"");
        let workload = format!("{LOAD}, query_seconds = 2, queries = [\"point\"]");
        bench.write("one.toml", &plan(&workload, 1, &[&system]));
        let child = bench.start(&["run", "one.toml"]);
        let pid = wait_for("a server", || server_of(&bench));
        let servers = wait_for("its processes", || {
            let tree = tree(pid);
            // PostgreSQL has started its own by the time it serves; MariaDB has threads.
            (tree.len() > 1 || dbms == Dbms::Mariadb).then_some(tree)
        });
        signal(&child, Signal::KILL);
        end(child);
        wait_for("the end of the servers", || {
            (!servers.iter().any(|&pid| runs(pid))).then_some(())
        });
        let ran = bench.run(&["run", "--resume", "r1"]);
        assert_eq!(ran.code(), 0, "{ran:?}");
        assert_complete(&bench, 1);
    }
}

/// The recorded process of the server in the lab's only instance, if it runs.
fn server_of(bench: &Bench) -> Option<u32> {
    let record = fs::read(bench.instances().pop()?.join("instance.json")).ok()?;
    let record: Value = serde_json::from_slice(&record).ok()?;
    let pid = record["server"]["pid"].as_u64()? as u32;
    runs(pid).then_some(pid)
}

/// Each event adds a row. A client that does not find the prepared number of rows at its start fails the trial.
#[cfg(feature = "lua")]
const COUNTING: &str = "
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query('CREATE TABLE t (id INT PRIMARY KEY, n INT)')
   for i = 1, 50 do con:query('INSERT INTO t VALUES (' .. i .. ', 0)') end
   print('prepared')
end
function thread_init()
   con = sysbench.sql.driver():connect()
   assert(con:query_row('SELECT count(*) FROM t') == '50')
end
function event()
   n = (n or 50) + 1
   con:query('INSERT INTO t VALUES (' .. n .. ', 1)')
end
";

#[test]
#[cfg(feature = "lua")]
fn a_script_prepares_a_template_once_and_each_trial_begins_with_a_copy() {
    let (bench, systems) = (Bench::new(), found());
    bench.write("count.lua", COUNTING);
    let builds =
        systems.iter().map(|dbms| format!("build = \"{}\"\nconfig = \"quick\"", dbms.name()));
    let builds: Vec<String> = builds.collect();
    let builds: Vec<&str> = builds.iter().map(String::as_str).collect();
    let workload = r#"kind = "lua", script = "count.lua", events = 20, warmup_seconds = 0"#;
    bench.write("count.toml", &format!("template = true\n{}", plan(workload, 2, &builds)));
    for prepared in [systems.len(), 0] {
        let ran = bench.run(&["run", "count.toml"]);
        assert_eq!(ran.code(), 0, "{ran:?}");
        let lines = ran.stderr.lines().filter(|line| line.ends_with("prepare: prepared"));
        assert_eq!(lines.count(), prepared, "{}", ran.stderr);
    }
}

/// A server that answers nothing holds up a clean stop; the second ^C ends it.
#[test]
fn interrupted_twice_no_server_survives() {
    if !found().contains(&Dbms::Mariadb) {
        return;
    }
    let bench = Bench::new();
    let system = "build = \"mariadb\"\nconfig = \"quick\"";
    let workload = format!("{LOAD}, query_seconds = 60");
    bench.write("one.toml", &plan(&workload, 1, &[system]));
    let child = bench.start(&["run", "one.toml"]);
    let pid = wait_for("a server", || server_of(&bench));
    wait_for("its table", || {
        let data = bench.instances().pop()?.join("data/ib/pi1.ibd");
        data.exists().then_some(())
    });
    let process = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(process, Signal::STOP).unwrap();
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, Signal::INT);
    let ran = end(child);
    assert_eq!(ran.code(), 1, "{ran:?}");
    wait_for("the end of the server", || (!runs(pid)).then_some(()));
}

#[test]
fn a_setting_that_the_server_refuses_shows_what_it_says() {
    for dbms in found() {
        let bench = Bench::new();
        // What only a start finds out.
        let (set, said) = match dbms {
            Dbms::Postgres => (
                "shared_preload_libraries = \"no_such_library\"",
                "could not access file \"no_such_library\"",
            ),
            _ => (
                "default_storage_engine = \"no_such\"",
                "Unknown/unsupported storage engine: no_such",
            ),
        };
        let system = format!("build = \"{dbms}\"\nset = {{ {set} }}");
        bench.write("bad.toml", &plan(LOAD, 1, &[&system]));
        let ran = bench.run(&["run", "bad.toml"]);
        assert_eq!(ran.code(), 20, "{ran:?}");
        assert_eq!(ran.stdout, "r1\n");
        assert!(ran.stderr.contains("1 trial failed: `backslide show r1` says why"), "{ran:?}");
        let shown = bench.run(&["show", "r1"]).fine();
        assert!(shown.contains(said), "{shown}");
        assert!(bench.processes().is_empty());
        assert!(bench.instances().is_empty(), "{:?}", bench.instances());
    }
}

#[test]
fn a_server_that_is_not_ours_is_measured_and_left_as_it_was() {
    for dbms in found() {
        let stranger = Stranger::start(dbms);
        let pid = stranger.instance.pid().unwrap();
        let bench = Bench::new();
        let workload = format!("{LOAD}, query_seconds = 1, queries = [\"range\"]");
        let system = stranger.system(stranger.instance.superuser());
        bench.write("theirs.toml", &plan(&workload, 1, &[&system]));
        let ran = bench.run(&["run", "theirs.toml"]);
        assert_eq!(ran.code(), 0, "{ran:?}");
        assert_complete(&bench, 1);
        // It is on this machine, so its process is watched; its files are its own business.
        assert!(values(&bench, "server.rss").iter().all(|(_, value)| *value > 0.0));
        assert_eq!(values(&bench, "server.rss").len(), 5);
        assert!(values(&bench, "size.data").is_empty());
        assert_eq!(stranger.instance.pid(), Some(pid), "it was restarted");
        let left = match dbms.dialect() {
            Dialect::Postgres => "SELECT datname FROM pg_database WHERE datname LIKE 'backslide%'",
            Dialect::Mysql | Dialect::Sqlite => "SHOW DATABASES LIKE 'backslide%'",
        };
        assert_eq!(stranger.session().execute(left).unwrap().rows, 0);
        refuses_to_drop(dbms, &stranger, &bench);
        stranger.instance.remove().unwrap();
    }
}

/// A database with the name of ours that somebody else made is left alone, and so is that of a run on another
/// host. An empty one is used: a run ended before it could mark it.
fn refuses_to_drop(dbms: Dbms, stranger: &Stranger, bench: &Bench) {
    let outside = |sql: &str| stranger.session().execute(sql).unwrap();
    let inside = |sql: &str| {
        let session = stranger.session_in("backslide_ib");
        session.unwrap().execute(sql).unwrap();
    };
    let refuses = |told: &str| {
        let ran = bench.run(&["run", "theirs.toml"]);
        assert_eq!(ran.code(), 20, "{ran:?}");
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    };
    outside("CREATE DATABASE backslide_ib");
    inside("CREATE TABLE theirs (a INT)");
    refuses("database backslide_ib exists at ");
    inside("DROP TABLE theirs");
    if dbms.dialect() == Dialect::Postgres {
        for (make, drop) in [
            (
                "CREATE FUNCTION theirs() RETURNS INT LANGUAGE SQL AS 'SELECT 1'",
                "DROP FUNCTION theirs()",
            ),
            ("CREATE TYPE theirs AS ENUM ('a')", "DROP TYPE theirs"),
            ("SELECT lo_create(4242)", "SELECT lo_unlink(4242)"),
        ] {
            inside(make);
            refuses("database backslide_ib exists at ");
            inside(drop);
        }
    }
    inside(
        "CREATE TABLE backslide_marker (owner VARCHAR(300), place VARCHAR(300), since VARCHAR(40))",
    );
    inside("INSERT INTO backslide_marker VALUES ('elsewhere:7', 'boot', '2026-01-02T03:04:05Z')");
    refuses("process 7 on host elsewhere, since 2026-01-02T03:04:05Z");
    for sql in ["DELETE FROM backslide_marker", "DROP TABLE backslide_marker"] {
        inside(sql);
        let ran = bench.run(&["run", "theirs.toml"]);
        assert_eq!(ran.code(), 0, "{ran:?}");
        outside("CREATE DATABASE backslide_ib");
        if sql.starts_with("DELETE") {
            inside("CREATE TABLE backslide_marker (owner VARCHAR(300))");
        }
    }
    outside("DROP DATABASE backslide_ib");
}

/// Clients connect again and go on; the series shows when there was no server.
#[test]
fn a_server_that_is_restarted_in_the_middle_of_a_step_leaves_a_gap() {
    const WORKLOAD: &str = r#"kind = "micro", tables = 1, rows = 1_000, tests = ["point-query"], clients = 4, read_seconds = 12, warmup_seconds = 0, settle = 0, warm_ups = false, errors = { reconnect_seconds = 60 }"#;
    for dbms in found() {
        let mut stranger = Stranger::start(dbms);
        let bench = Bench::new();
        let system = stranger.system(stranger.instance.superuser());
        let system = format!("{system}\nlabel = \"theirs\"");
        bench.write("theirs.toml", &plan(WORKLOAD, 1, &[&system]));
        let child = bench.start(&["run", "theirs.toml"]);
        wait_for("the step", || (seconds_so_far(&bench, "point-query") > 2).then_some(()));
        stranger.instance.stop(LIMIT).unwrap();
        std::thread::sleep(Duration::from_millis(2_500));
        stranger.start_again();
        let ran = end(child);
        assert_eq!(ran.code(), 0, "{ran:?}");
        assert!(ran.stderr.contains("connections lost"), "{}", ran.stderr);
        let seconds = seconds_of(&bench, "point-query");
        let gap = seconds.iter().position(|operations| *operations == 0);
        let gap = gap.unwrap_or_else(|| panic!("{dbms}: no gap in {seconds:?}"));
        assert!(
            seconds[..gap].iter().any(|n| *n > 0) && seconds[gap..].iter().any(|n| *n > 0),
            "{dbms}: {seconds:?}"
        );
        stranger.instance.remove().unwrap();
    }
}

/// How many seconds the lab's first run has measured in a step that is under way.
fn seconds_so_far(bench: &Bench, step: &str) -> usize {
    // The store is there by then: two processes must not both be the first to open it.
    if !bench.lab().join("instances").exists() {
        return 0;
    }
    let store = Store::open(&bench.lab().join("lab.sqlite")).unwrap();
    let under_way = store.under_way(&RunId("r1".to_owned()), u32::MAX).ok().flatten();
    under_way.filter(|now| now.step.0 == step).map_or(0, |now| now.latest.len())
}

/// Operations of each second of a step of `theirs` in the first round of the lab's first run, which has finished.
fn seconds_of(bench: &Bench, step: &str) -> Vec<u64> {
    let store = Store::open(&bench.lab().join("lab.sqlite")).unwrap();
    let want = Want { series: true, histograms: false };
    let series = store.load(&RunId("r1".to_owned()), want).unwrap().series;
    let is_it = |one: &&StepSeries| {
        (one.round, one.system.as_str(), one.step.0.as_str()) == (1, "theirs", step)
    };
    let StepSeries { spans, kinds, .. } = series.iter().find(is_it).unwrap();
    (0..spans.len()).map(|second| kinds.iter().map(|kind| kind.ops[second]).sum()).collect()
}

#[test]
fn a_refused_login_says_who_and_a_password_is_never_kept() {
    for dbms in found() {
        let stranger = Stranger::start(dbms);
        let bench = Bench::new();
        let workload = format!("{LOAD}, steps = [\"l.i0\"]");
        bench.write("nobody.toml", &plan(&workload, 1, &[&stranger.system("nobody_here")]));
        let refused = bench.run(&["run", "nobody.toml"]);
        assert_eq!(refused.code(), 1, "{refused:?}");
        let told = "refused the login of user `nobody_here`";
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
        if dbms == Dbms::Mariadb {
            with_password(&stranger, &bench, &workload);
        }
        stranger.instance.remove().unwrap();
    }
}

fn with_password(stranger: &Stranger, bench: &Bench, workload: &str) {
    let mut session = stranger.session();
    for statement in [
        "CREATE USER bench@localhost IDENTIFIED BY 'open-sesame'",
        "GRANT ALL ON *.* TO bench@localhost",
    ] {
        session.execute(statement).unwrap();
    }
    let write = |name: &str, user: &str| {
        bench.write(name, &plan(workload, 1, &[&stranger.system(user)]));
    };
    write("wrong.toml", "bench:close-sesame");
    let refused = bench.run(&["run", "wrong.toml"]);
    assert_eq!(refused.code(), 1, "{refused:?}");
    assert!(refused.stderr.contains("refused the login of user `bench`"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("sesame"), "{}", refused.stderr);

    write("right.toml", "bench:open-sesame");
    let ran = bench.run(&["run", "right.toml"]);
    assert_eq!(ran.code(), 0, "{ran:?}");
    let report = bench.run(&["report", "-o", "-"]).fine();
    let texts = [ran.stderr, report, bench.run(&["show"]).fine()];
    assert!(!texts.iter().any(|text| text.contains("sesame")));
    for entry in fs::read_dir(bench.lab()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("sesame"));
    }

    write("asked.toml", "bench");
    let mut command = bench.command(&["run", "asked.toml"]);
    let output = command.env("BACKSLIDE_PASSWORD", "open-sesame").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// With their own settings, which sync each commit, and with commits that are reported before they are written.
#[test]
fn servers_are_killed_and_keep_what_they_promise() {
    for dbms in found() {
        let relaxed = match dbms {
            Dbms::Postgres => "synchronous_commit=off",
            _ => "innodb_flush_log_at_trx_commit=0",
        };
        let arguments = [
            "crash-check",
            dbms.name(),
            "--warehouses",
            "1",
            "--clients",
            "4",
            "--seconds",
            "3",
            "--format",
            "json",
        ];
        let bench = Bench::new();
        let strict = bench.run(&[&arguments[..], &["--times", "2"]].concat()).json();
        assert_eq!(strict["verdict"], "nothing lost", "{strict}");
        assert_eq!(strict["kills"].as_array().unwrap().len(), 2);
        let relaxed = bench.run(&[&arguments[..], &["--set", relaxed]].concat()).json();
        assert_eq!(relaxed["durability"], "may be lost in a crash of the server");
        assert!(
            relaxed["verdict"] == "nothing lost" || relaxed["verdict"] == "lost as allowed",
            "{relaxed}"
        );
        assert_eq!(relaxed["kills"][0]["broken"].as_array().unwrap().len(), 0);
        assert!(bench.instances().is_empty());
        assert!(bench.processes().is_empty(), "{:?}", bench.processes());
    }
}
