//! A script of sysbench as a workload, against SQLite, without a lab around it.
#![cfg(feature = "lua")]

use load::{Blind, Result, StepError, Stop};
use model::{Arrivals, LuaSpec, Nanos, Note, NoteKind, SqlPace, StepRecord, WorkloadSpec};
use testkit::databases::Database;

const SCRIPT: &str = "
sysbench.cmdline.options = { rows = { 'rows', 10 } }
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query('CREATE TABLE t (id INTEGER PRIMARY KEY, n INT)')
   con:bulk_insert_init('INSERT INTO t (id, n) VALUES')
   for i = 1, sysbench.opt.rows do con:bulk_insert_next('(' .. i .. ', 0)') end
   con:bulk_insert_done()
   print('loaded')
end
function thread_init()
   con = sysbench.sql.driver():connect()
   update = con:prepare('UPDATE t SET n = n + 1 WHERE id = ?')
   id = update:bind_create(sysbench.sql.type.INT)
   update:bind_param(id)
end
function event()
   id:set(sysbench.rand.uniform(1, sysbench.opt.rows))
   con:query('BEGIN')
   update:execute()
   con:query('SELECT n FROM t LIMIT 3')
   con:query('COMMIT')
end
";

fn spec(text: &str) -> LuaSpec {
    LuaSpec { events: 50, warmup_seconds: 0, seconds: 60, ..LuaSpec::usual("dir/test.lua", text) }
}

fn run(spec: &LuaSpec, database: &Database, command: usize) -> Result<StepRecord> {
    let mut workload = workloads::workload(&WorkloadSpec::Lua(spec.clone()), 7);
    workload.run(command, &database.target(), &Stop::default(), &mut Blind)
}

#[test]
fn each_command_is_a_step_and_events_are_counted_with_their_statements() {
    let (database, spec) = (Database::default(), LuaSpec { clients: 2, ..spec(SCRIPT) });
    let steps = WorkloadSpec::Lua(spec.clone()).steps();
    let names: Vec<&str> = steps.iter().map(|step| step.id.0.as_str()).collect();
    assert_eq!(names, ["prepare", "test", "cleanup"]);

    let prepared = run(&spec, &database, 0).unwrap();
    assert_eq!(prepared.kind("command").unwrap().sums.rows, 10);
    assert_eq!(prepared.notes, [Note::new("script", "loaded")]);

    let ran = run(&spec, &database, 1).unwrap();
    let ops = |kind: &str| ran.kind(kind).unwrap().sums.ops;
    assert_eq!([ops("event"), ops("read"), ops("write"), ops("other")], [50, 50, 50, 100]);
    assert!(ran.checks.iter().all(|check| check.holds));
    assert_eq!(database.number("SELECT sum(n) FROM t"), 50);

    // The script has no `cleanup`, and need not.
    assert_eq!(run(&spec, &database, 2).unwrap().kind("command").unwrap().sums.ops, 0);
}

#[test]
fn what_fails_says_script_and_line() {
    let database = Database::default();
    for (text, message) in [
        (
            "function event()\n nothing() end",
            "client 0: dir/test.lua:2: attempt to call global 'nothing' (a nil value)",
        ),
        (
            "function event()\n print('a') print('b') nothing() end",
            "client 0: dir/test.lua:2: attempt to call global 'nothing' (a nil value); clients printed last: a | b",
        ),
        ("", "dir/test.lua defines no function `event`"),
    ] {
        let error = run(&spec(text), &database, 1).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let unknown = LuaSpec { commands: vec!["nonesuch".to_owned()], ..spec("") };
    let error = run(&unknown, &database, 0).unwrap_err();
    assert_eq!(error.to_string(), "dir/test.lua has no command `nonesuch`");
}

#[test]
fn an_endless_event_that_asks_the_database_ends_with_the_user() {
    let database = Database::default();
    let endless = LuaSpec {
        events: 0,
        ..spec(
            "function event() local con = sysbench.sql.driver():connect() while true do con:query('SELECT 1') end end",
        )
    };
    let stop = Stop::default();
    let asked = stop.clone();
    let wish = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        asked.ask();
    });
    let mut workload = workloads::workload(&WorkloadSpec::Lua(endless), 7);
    let error = workload.run(1, &database.target(), &stop, &mut Blind).unwrap_err();
    assert!(matches!(error, StepError::Interrupted), "{error}");
    wish.join().unwrap();
}

#[test]
fn systems_draw_the_same_numbers_in_a_trial_of_one_seed() {
    let drawn = |seed: Option<&str>| {
        let database = Database::default();
        let options = seed.map(|seed| ("rand_seed".to_owned(), seed.to_owned()));
        let spec = LuaSpec { options: options.into_iter().collect(), ..spec(SCRIPT) };
        run(&spec, &database, 0).unwrap();
        run(&spec, &database, 1).unwrap();
        (1..=10).map(|id| database.number(&format!("SELECT n FROM t WHERE id = {id}"))).collect()
    };
    let usual: Vec<i64> = drawn(None);
    assert_eq!(drawn(None), usual);
    assert_ne!(drawn(Some("42")), usual);
}

#[test]
fn a_sweep_runs_events_with_each_number_of_clients() {
    let text = format!("{SCRIPT} function init() print(sysbench.opt.threads) end");
    let mut spec = spec(&text);
    spec.set_clients(vec![1, 3]);
    let steps = WorkloadSpec::Lua(spec.clone()).steps();
    let found: Vec<_> = steps.iter().map(|step| (step.id.0.as_str(), step.clients)).collect();
    assert_eq!(found, [("prepare", 3), ("test@1", 1), ("test@3", 3), ("cleanup", 3)]);
    let database = Database::default();
    run(&spec, &database, 0).unwrap();
    for (step, threads) in [(1, "1"), (2, "3")] {
        let ran = run(&spec, &database, step).unwrap();
        assert_eq!(ran.kind("event").unwrap().sums.ops, 50);
        assert_eq!(ran.notes, [Note::new("script", threads)]);
    }
}

#[test]
fn a_ramp_looks_for_the_highest_rate_of_events() {
    let pace = SqlPace::Ramp {
        from: 2,
        arrivals: Arrivals::Even,
        queue: 100,
        permille: 500,
        // No event is that quick.
        limit_micros: 1,
        attempt_seconds: 1,
    };
    let (database, spec) = (Database::default(), spec(SCRIPT));
    run(&spec, &database, 0).unwrap();
    let ran = run(&LuaSpec { events: 0, seconds: 1, pace, ..spec }, &database, 1).unwrap();
    assert_eq!(ran.open_loop.unwrap().highest_rate, Some(0));
    let tried: Vec<_> = ran.notes.iter().filter(|note| note.what == NoteKind::Ramp).collect();
    let [two, one] = tried.as_slice() else { panic!("{:?}", ran.notes) };
    assert!(two.text.starts_with("2/s: p50 ") && two.text.ends_with("over 1.00µs"), "{two:?}");
    assert!(one.text.starts_with("1/s: "), "{one:?}");
}

#[test]
fn hooks_for_reports_are_called_with_what_was_measured() {
    let text = format!(
        "{SCRIPT}
         function sysbench.hooks.report_intermediate(stat) print('so far', stat.threads_running, stat.reads > 0) end
         function sysbench.hooks.report_cumulative(stat)
            print('all', stat.events, stat.reads, stat.writes, stat.other, stat.errors, stat.latency_min > 0,
               stat.latency_max >= stat.latency_pct, stat.time_interval > 0)
         end"
    );
    let (database, spec) = (Database::default(), spec(&text));
    run(&spec, &database, 0).unwrap();
    let all = Note::new("script", "all\t50\t50\t50\t100\t0\ttrue\ttrue\ttrue");
    assert_eq!(run(&spec, &database, 1).unwrap().notes, [all]);
    let options = [("report_interval", "1")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    let timed = LuaSpec { events: 0, seconds: 2, options: options.into(), ..spec };
    let notes = run(&timed, &database, 1).unwrap().notes;
    assert!(notes.contains(&Note::new("script", "so far\t1\ttrue")), "{notes:?}");
}

#[test]
fn lua_that_never_asks_the_database_ends_with_the_user() {
    let database = Database::default();
    for (text, command) in [
        ("function event() while true do end end", 1),
        ("function prepare() while true do pcall(error) end end", 0),
        ("function thread_init() while true do end end function event() end", 1),
        ("while true do end", 1),
    ] {
        let stop = Stop::default();
        let asked = stop.clone();
        let wish = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            asked.ask();
        });
        let endless = WorkloadSpec::Lua(LuaSpec { events: 0, ..spec(text) });
        let mut workload = workloads::workload(&endless, 7);
        let error = workload.run(command, &database.target(), &stop, &mut Blind).unwrap_err();
        assert!(matches!(error, StepError::Interrupted), "{text}: {error}");
        wish.join().unwrap();
    }
}

#[test]
fn the_last_event_of_a_client_is_not_counted_and_ends_no_other() {
    let text = "
        function event()
           con = con or sysbench.sql.driver():connect()
           con:query('INSERT INTO t VALUES (1)')
           n = (n or 0) + 1
           return n >= 5 + 10 * sysbench.tid
        end";
    let database = Database::default();
    database.execute("CREATE TABLE t (n INT)");
    let ending = LuaSpec { events: 0, seconds: 3, clients: 2, ..spec(text) };
    let ran = run(&ending, &database, 1).unwrap();
    assert_eq!(database.number("SELECT count(*) FROM t"), 5 + 15);
    let ops = |kind: &str| ran.kind(kind).unwrap().sums.ops;
    assert_eq!([ops("event"), ops("write")], [18, 20]);
    // The rate is that of the time that it took.
    assert!(ran.window < Nanos::SECOND, "{ran:?}");
    assert!(
        ran.notes[0].text.ends_with(", because `event` returned true in every client"),
        "{ran:?}"
    );

    let pace = SqlPace::Rate { per_second: 50, arrivals: Arrivals::Poisson, queue: 100 };
    let error = run(&LuaSpec { pace, seconds: 1, ..ending }, &database, 1).unwrap_err();
    assert!(error.to_string().contains("before the window of the rate"), "{error}");

    let at_once = "function event() return true end";
    assert!(run(&spec(at_once), &database, 1).unwrap().checks.is_empty());
    let error = run(&LuaSpec { warmup_seconds: 1, ..spec(at_once) }, &database, 1).unwrap_err();
    let message = "dir/test.lua: every client ended before the measured window: `event` returned true; set \
                   `warmup_seconds = 0`, and let it return true later";
    assert_eq!(error.to_string(), message);
}

#[test]
fn reports_know_of_reconnects_and_of_the_queue() {
    let text = "
        function event()
           local con = sysbench.sql.driver():connect()
           con:reconnect()
        end
        function sysbench.hooks.report_cumulative(stat)
           print(stat.reconnects, stat.queue_length, stat.concurrency)
        end";
    let record = run(&LuaSpec { events: 3, ..spec(text) }, &Database::default(), 1).unwrap();
    assert_eq!(record.notes, [Note::new("script", "3\t0\t0")]);
}

#[test]
fn a_copy_of_what_prepare_left_is_read_and_compared_in_its_place() {
    let (database, spec) = (Database::default(), spec(SCRIPT));
    run(&spec, &database, 0).unwrap();
    database.execute("CREATE TABLE \"a \"\"b\" (n INT)");
    let plan = WorkloadSpec::Lua(spec.clone());
    let steps: Vec<_> = plan.steps_on_clone().iter().map(|step| step.id.to_string()).collect();
    assert_eq!(steps, ["warm", "test", "cleanup"]);
    let state = workloads::workload(&plan, 7).state(&database.target()).unwrap();
    let warm = || {
        let mut workload = workloads::workload(&plan, 8);
        workload.restore(&state).unwrap();
        workload.run(0, &database.target(), &Stop::default(), &mut Blind).unwrap()
    };
    let read = warm();
    let held = |record: &StepRecord| -> Vec<_> {
        record.checks.iter().map(|check| (check.what.clone(), check.holds)).collect()
    };
    let [strange, rows] =
        ["\"a \"\"b\"", "\"t\""].map(|it| format!("rows in {it} of the template"));
    assert_eq!(held(&read), [(strange.clone(), true), (rows.clone(), true)]);
    assert_eq!(read.kind("scan").unwrap().sums.rows, 10);
    database.execute("DELETE FROM t WHERE id = 3");
    assert_eq!(held(&warm()), [(strange, true), (rows, false)]);
}

#[test]
fn what_prepare_leaves_depends_on_script_options_and_modules() {
    let directory = tempfile::tempdir().unwrap();
    let module = directory.path().join("common.lua");
    std::fs::write(&module, "return 1").unwrap();
    let spec = LuaSpec { path: vec![directory.path().display().to_string()], ..spec(SCRIPT) };
    let loading = |spec: &LuaSpec| workloads::loading(&WorkloadSpec::Lua(spec.clone())).unwrap();
    let usual = loading(&spec);
    let swept = LuaSpec { sweep: vec![1, 1], commands: vec!["run".to_owned()], ..spec.clone() };
    assert_eq!(loading(&swept), usual);
    let options = [("rows".to_owned(), "20".to_owned())];
    assert_ne!(loading(&LuaSpec { options: options.into(), ..spec.clone() }), usual);
    assert_ne!(loading(&LuaSpec { text: String::new(), ..spec.clone() }), usual);
    std::fs::write(&module, "return 2").unwrap();
    assert_ne!(loading(&spec), usual);
}

#[test]
fn printed_lines_are_kept_in_their_order() {
    let text =
        "function prepare() for _, line in ipairs({ 'b', '2', 'a', '2' }) do print(line) end end";
    let notes = run(&spec(text), &Database::default(), 0).unwrap().notes;
    assert_eq!(notes, ["b", "2", "a", "2"].map(|line| Note::new("script", line)));
}
