use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use drivers::{
    Connector, Done, Endpoint, Param, ParamType, Row, Session, SessionError, SessionInfo,
    StatementId,
};
use model::{Dialect, Nanos};

use crate::{Clock, Outcome, Program, Script, Seeds, SentKind, Thread, Watch};

/// A script in a database that is empty and ends with it.
struct Fixture {
    script: Result<Script, String>,
    _directory: tempfile::TempDir,
}

fn load(text: &str, options: &[(&str, &str)]) -> Fixture {
    load_watched(text, options, &Watch::default())
}

fn load_watched(text: &str, options: &[(&str, &str)], watch: &Watch) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::Sqlite {
        library: None,
        path: directory.path().join("test.sqlite"),
        pragmas: Vec::new(),
        timeout: Duration::from_secs(5),
    };
    let script = load_on(Arc::new(endpoint), text, options, watch);
    Fixture { script, _directory: directory }
}

fn load_on(
    connector: Arc<dyn Connector>,
    text: &str,
    options: &[(&str, &str)],
    watch: &Watch,
) -> Result<Script, String> {
    let options = options.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let program = Program {
        path: "test.lua".to_owned(),
        text: text.to_owned(),
        directories: Vec::new(),
        options: options.collect::<BTreeMap<_, _>>(),
        command: "run".to_owned(),
        clients: 3,
    };
    let thread = Thread {
        number: 1,
        dialect: Dialect::Sqlite,
        connector,
        stop: Arc::default(),
        clock: each_look_is_later(),
        watch,
        seeds: &mut Seeds::new(42),
    };
    Script::load(&program, thread).map_err(|error| error.to_string())
}

/// A clock that says how often it was asked before.
fn each_look_is_later() -> Clock {
    let looks = AtomicU64::new(0);
    Arc::new(move || Nanos(looks.fetch_add(1, Ordering::Relaxed)))
}

/// A session that panics at each statement.
#[derive(Default)]
struct Panicking(SessionInfo);

impl Connector for Panicking {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(Self::default()))
    }
}

impl Session for Panicking {
    fn query(&mut self, sql: &str, _: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        panic!("{sql}")
    }

    fn prepare(&mut self, sql: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
        panic!("{sql}")
    }

    fn execute_prepared(
        &mut self,
        _: StatementId,
        _: &[Param<'_>],
        _: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        panic!("a statement")
    }

    fn info(&self) -> &SessionInfo {
        &self.0
    }
}

impl Fixture {
    fn event(&self) -> Result<Outcome, String> {
        self.script.as_ref().unwrap().event().map_err(|error| error.to_string())
    }

    fn printed(&self) -> Vec<String> {
        self.script.as_ref().unwrap().printed()
    }

    fn sent(&self) -> Vec<(SentKind, u64)> {
        let mut sent = Vec::new();
        self.script.as_ref().unwrap().sent(&mut sent);
        assert!(sent.iter().all(|sent| sent.ended.0 == sent.started.0 + 1), "{sent:?}");
        sent.iter().map(|sent| (sent.kind, sent.rows)).collect()
    }
}

const TABLE: &str = "
function thread_init()
   con = sysbench.sql.driver():connect()
   con:query('CREATE TABLE t (id INT PRIMARY KEY, name TEXT)')
   con:bulk_insert_init('INSERT INTO t VALUES')
   for i = 1, 5 do con:bulk_insert_next(('(%d, \"n%d\")'):format(i, i)) end
   con:bulk_insert_done()
end
";

#[test]
fn statements_of_every_form_reach_the_database() {
    let fixture = load(
        &format!(
            "{TABLE}
             function event()
                local select = con:prepare('SELECT name, NULL, id FROM t WHERE id BETWEEN ? AND ?')
                local low = select:bind_create(sysbench.sql.type.INT)
                local high = select:bind_create(sysbench.sql.type.BIGINT)
                select:bind_param(low, high)
                low:set(2) high:set(3)
                local rs = select:execute()
                print(rs.nrows, rs.nfields, rs:fetch_row()[1], rs:fetch_row()[3], rs:fetch_row())
                local update = con:prepare('UPDATE t SET name = ? WHERE id = ?')
                local name = update:bind_create(sysbench.sql.type.VARCHAR, 3)
                update:bind_param(name, low)
                name:set('longer')
                update:execute()
                print(con:query_row('SELECT id, name FROM t WHERE id = 2'))
                print(con:query('DELETE FROM t WHERE id = 9') == nil, con:query('SELECT 1 FROM t WHERE id = 9').nrows)
             end"
        ),
        &[],
    );
    assert_eq!(fixture.script.as_ref().unwrap().call("thread_init"), Ok(true));
    assert_eq!(fixture.sent(), [(SentKind::Other, 0), (SentKind::Write, 5)]);
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["2\t3\tn2\t3\tnil", "2\tlon", "true\t0"]);
    let (read, write) = (SentKind::Read, SentKind::Write);
    let expected = [(read, 2), (write, 1), (read, 1), (SentKind::Other, 0), (read, 0)];
    assert_eq!(fixture.sent(), expected);
}

#[test]
fn statements_without_preparation_are_the_same_in_text() {
    let fixture = load(
        &format!(
            "{TABLE}
             sysbench.cmdline.options = {{}}
             function event()
                local s = con:prepare('SELECT name FROM t WHERE id = ? AND name = ?')
                local id, name = s:bind_create(sysbench.sql.type.INT), s:bind_create(sysbench.sql.type.CHAR, 9)
                s:bind_param(id, name)
                id:set(4) name:set('n4')
                print(s:execute():fetch_row()[1])
             end"
        ),
        &[("db_ps_mode", "disable")],
    );
    fixture.script.as_ref().unwrap().call("thread_init").unwrap();
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["n4"]);
}

#[test]
fn options_have_the_types_of_their_definitions() {
    let text = "
        sysbench.cmdline.options = {
           rows = {'rows', 1}, ['with-dash'] = {'text'}, on = {'switch', true}, list = {'list', {'a'}},
           size = {'size', '1K', sysbench.cmdline.ARG_SIZE}, none = {'number', nil, sysbench.cmdline.ARG_INT},
           switch = {'switch', nil, sysbench.cmdline.ARG_BOOL}, empty = {'list', nil, sysbench.cmdline.ARG_LIST}
        }
        function event()
           local o = sysbench.opt
           print(o.rows + 1, o.with_dash, o.on, o.list[2], o.size, o.none, o.threads, sysbench.tid, o.rand_type)
           print(o.switch, #o.empty, o.thread_stack_size)
        end";
    let given = [
        ("rows", "20"),
        ("with-dash", "x"),
        ("on", "off"),
        ("list", "a,b"),
        ("size", "2M"),
        ("thread_stack_size", "64K"),
    ];
    let fixture = load(text, &given);
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["21\tx\tfalse\tb\t2097152\t0\t3\t1\tspecial", "true\t0\t65536"]);
    for (option, message) in [
        (("row", "1"), "test.lua has no option `row`; did you mean `rows`?"),
        (("no_such", "1"), "test.lua has no option `no_such`"),
        (("rows", "many"), "option `rows`: `many` is not a number"),
        (("rows", "1K"), "option `rows`: `1K` is not a number"),
        (("on", "perhaps"), "option `on`: `perhaps` is neither on nor off"),
        (
            ("rand_type", "normal"),
            "option `rand_type`: `normal` is none of uniform, gaussian, special, pareto, zipfian",
        ),
    ] {
        assert_eq!(load(text, &[option]).script.err().as_deref(), Some(message));
    }
}

#[test]
fn errors_say_script_and_line() {
    for (event, message) in [
        (
            "\n sysbench.rand.nonesuch(1, 2)",
            "test.lua:2: attempt to call field 'nonesuch' (a nil value)",
        ),
        ("error('mine')", "test.lua:1: mine"),
        (
            "\n\n sysbench.sql.driver():connect():query('SELEC 1')",
            "test.lua:3: error SQLITE_ERROR: near \"SELEC\": syntax error at offset 0 (in `SELEC 1`)",
        ),
        ("\n sysbench.rand.uniform(nil, 2)", "test.lua:2: a number is expected, not a nil"),
        ("\n sysbench.rand.string()", "test.lua:2: a text is expected, not a nil"),
        (
            "\n sysbench.sql.driver():connect():query({})",
            "test.lua:2: a text is expected, not a table",
        ),
        (
            "\n local s = sysbench.sql.driver():connect():prepare('SELECT ?') \
             s:bind_create(sysbench.sql.type.INT):set(true)",
            "test.lua:2: an integer parameter was set to a boolean",
        ),
        ("os.exit(1)", "test.lua:1: the script calls os.exit(); use error() to end with a message"),
    ] {
        let fixture = load(&format!("function event() {event} end"), &[]);
        assert_eq!(fixture.event(), Err(message.to_owned()));
    }
    let growing = load(
        "function event() local t = {} while true do t[#t + 1] = ('x'):rep(1e8) .. #t end end",
        &[],
    );
    let message = "test.lua: the script of one client needs more than 1024 MiB of memory";
    assert_eq!(growing.event(), Err(message.to_owned()));
    let syntax = load("function event(", &[]).script.err().unwrap();
    assert!(syntax.starts_with("test.lua:1: "), "{syntax}");
}

#[test]
fn a_bug_in_a_session_fails_the_script_and_not_the_program() {
    let text = "function event() sysbench.sql.driver():connect():query('SELECT 1') end";
    let script = load_on(Arc::new(Panicking::default()), text, &[], &Watch::default()).unwrap();
    let message = "test.lua:1: protocol error: a bug of backslide; its text is above";
    assert_eq!(script.event().unwrap_err().to_string(), message);
}

#[test]
fn an_event_begins_anew_as_its_hooks_say() {
    let fixture = load(
        "function sysbench.hooks.sql_error_ignorable(e) return e.sql_state == 'SQLITE_ERROR' end
         function sysbench.hooks.before_restart_event(e) print(e.query) end
         local tries = 0
         function event()
            tries = tries + 1
            if tries == 1 then sysbench.sql.driver():connect():query('SELEC 1') end
            return tries > 2
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Restart("SQLITE_ERROR".to_owned())));
    assert_eq!(fixture.printed(), ["SELEC 1"]);
    assert_eq!((fixture.event(), fixture.event()), (Ok(Outcome::Done), Ok(Outcome::Last)));
}

#[test]
fn names_of_older_scripts_and_functions_of_c_work() {
    let fixture = load(
        "local ffi = require('ffi')
         ffi.cdef('void sb_counter_inc(int, sb_counter_type); int usleep(uint32_t useconds);')
         function event(thread)
            db_connect()
            db_query('CREATE TABLE t (id INT)')
            db_bulk_insert_init('INSERT INTO t VALUES')
            for i = 1, oltp_table_size do db_bulk_insert_next('(' .. i .. ')') end
            db_bulk_insert_done()
            ffi.C.usleep(1)
            ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
            print(thread, thread_id, sb_rand_str('#@x'):match('^%d%lx$') ~= nil, sb_rand(5, 5))
         end",
        &[("oltp_table_size", "3")],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["1\t1\ttrue\t5"]);
    let expected = [(SentKind::Other, 0), (SentKind::Write, 3), (SentKind::Error, 0)];
    assert_eq!(fixture.sent(), expected);
}

#[test]
fn commands_are_those_of_the_script_or_functions() {
    let fixture = load(
        "sysbench.cmdline.commands = {
            load = { function() print('loading') end, sysbench.cmdline.PARALLEL_COMMAND },
            fails = { function() return false end },
         }
         function cleanup() print('cleaning') end",
        &[],
    );
    let script = fixture.script.as_ref().unwrap();
    let found = ["load", "fails", "cleanup", "nonesuch"].map(|name| script.command(name).unwrap());
    assert_eq!(found, [Some(true), Some(false), Some(false), None]);
    assert_eq!(script.has_event(), Ok(false));
    script.run_command("load").unwrap();
    script.run_command("cleanup").unwrap();
    assert_eq!(script.printed(), ["loading", "cleaning"]);
    let failed = script.run_command("fails").unwrap_err();
    assert_eq!(failed.to_string(), "test.lua: the command `fails` failed");
}

#[test]
fn a_parameter_may_be_null_and_of_any_type() {
    let fixture = load(
        &format!(
            "{TABLE}
             function event()
                local types = sysbench.sql.type
                for _, case in ipairs({{ {{ 'SMALLINT', 3 }}, {{ 'BIGINT', 4 }}, {{ 'DOUBLE', 1.5 }}, {{ 'FLOAT', 2.5 }},
                      {{ 'DATE', '2026-01-02' }}, {{ 'TIMESTAMP', '2026-01-02 03:04:05' }}, {{ 'CHAR', 'a' }},
                      {{ 'TINYINT', nil }}, {{ 'VARCHAR', nil }} }}) do
                   local s = con:prepare('SELECT ? FROM t LIMIT 1')
                   local p = s:bind_create(types[case[1]], 20)
                   s:bind_param(p)
                   p:set(case[2])
                   print(case[1], s:execute():fetch_row()[1])
                end
             end"
        ),
        &[],
    );
    fixture.script.as_ref().unwrap().call("thread_init").unwrap();
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    let expected = [
        "SMALLINT\t3",
        "BIGINT\t4",
        "DOUBLE\t1.5",
        "FLOAT\t2.5",
        "DATE\t2026-01-02",
        "TIMESTAMP\t2026-01-02 03:04:05",
        "CHAR\ta",
        "TINYINT\tnil",
        "VARCHAR\tnil",
    ];
    assert_eq!(fixture.printed(), expected);
}

/// Where LuaJIT's traces of an event end.
fn ends_of_traces() -> Vec<String> {
    let fixture = load(
        &format!(
            "{TABLE}
             local connect = thread_init
             function thread_init()
                connect()
                local types = sysbench.sql.type
                select = con:prepare('SELECT name FROM t WHERE id = ?')
                update = con:prepare('UPDATE t SET name = ? WHERE id = ?')
                id, name = select:bind_create(types.INT), update:bind_create(types.CHAR, 120)
                select:bind_param(id)
                update:bind_param(name, id)
             end
             function event()
                id:set(sysbench.rand.default(1, 5))
                select:execute()
                name:set_rand_str('###-@@@')
                id:set(sysbench.rand.uniform(1, 5))
                update:execute()
                con:query('SELECT 1')
             end
             function told()
                local kinds = {{}}
                for trace = 1, 100 do
                   local info = require('jit.util').traceinfo(trace)
                   if info then kinds[info.linktype] = true end
                end
                print(kinds['return'], kinds.stitch)
             end"
        ),
        &[],
    );
    let script = fixture.script.as_ref().unwrap();
    script.call("thread_init").unwrap();
    for _ in 0..500 {
        assert_eq!(fixture.event(), Ok(Outcome::Done));
    }
    script.call("told").unwrap();
    fixture.printed()
}

#[test]
fn an_event_is_compiled_as_a_whole() {
    // A function of mlua would be where two pieces are stitched together. Where code lies in memory decides which of it
    // LuaJIT counts together; by bad luck a trace begins elsewhere.
    assert!((0..4).any(|_| ends_of_traces() == ["true\tnil"]));
}

#[test]
fn a_loop_of_the_script_gives_control_back_after_each_event() {
    let fixture = load(
        "function thread_run(thread)
            local n = 0
            while ffi.C.sb_more_events(thread) and n < 2 do
               ffi.C.sb_event_start(thread)
               n = n + 1
               print(thread, n)
               ffi.C.sb_event_stop(thread)
            end
         end",
        &[],
    );
    let outcomes = [fixture.event(), fixture.event(), fixture.event()];
    assert_eq!(outcomes, [Ok(Outcome::Done), Ok(Outcome::Done), Ok(Outcome::Last)]);
    assert_eq!(fixture.printed(), ["1\t1", "1\t2"]);
    let failing = load("function thread_run()\n nothing() end", &[]);
    let message = "test.lua:2: attempt to call global 'nothing' (a nil value)";
    assert_eq!(failing.event(), Err(message.to_owned()));
}

#[test]
fn histograms_have_places_that_grow_by_a_factor() {
    let fixture = load(
        "function event()
            local h = sysbench.histogram.new(3, 1, 100)
            for _, value in ipairs({ 0.1, 1, 9, 10, 11, 5000 }) do h:update(value) end
            h:print()
            sysbench.histogram.new(1, 1, 2)
         end",
        &[],
    );
    let message = "test.lua:5: sysbench.histogram.new(size, low, high) wants two places or more and 0 < low < high";
    assert_eq!(fixture.event(), Err(message.to_owned()));
    let printed = fixture.printed();
    let counts: Vec<&str> = printed.iter().filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(counts, ["count", "2", "3", "1"], "{printed:?}");
    assert!(
        printed[2].starts_with("      10.000 |****************************************"),
        "{printed:?}"
    );
}

#[test]
fn the_options_of_a_script_are_told_without_a_database() {
    let program = |option: &str| {
        Program {
        path: "test.lua".to_owned(),
        text: "sysbench.cmdline.options = {
                  skip_trx = { 'no transactions', false }, rows = { 'rows of a table', 10 }, name = { 'a name' },
               }"
        .to_owned(),
        directories: Vec::new(),
        options: BTreeMap::from([(option.to_owned(), "3".to_owned())]),
        command: "run".to_owned(),
        clients: 1,
    }
    };
    let options = crate::declared(&program("rows"), Dialect::Sqlite, &[]).unwrap();
    let expected = [
        ["--name", "", "a name"],
        ["--rows", "10", "rows of a table"],
        ["--skip-trx", "off", "no transactions"],
    ];
    assert_eq!(options, expected.map(|option| option.map(str::to_owned)));
    let error = crate::declared(&program("row"), Dialect::Sqlite, &[]).unwrap_err();
    assert_eq!(error.to_string(), "test.lua has no option `row`; did you mean `rows`?");
    assert_eq!(error.option.as_deref(), Some("row"));
    let error = crate::declared(&program("rows"), Dialect::Sqlite, &["check"]).unwrap_err();
    assert_eq!((error.message.as_str(), error.option), ("test.lua has no command `check`", None));
    let without = crate::declared(&program("rows"), Dialect::Sqlite, &["run"]).unwrap_err();
    assert_eq!(without.message, "test.lua defines no function `event`");
    let connects = "local con = sysbench.sql.driver():connect() sysbench.cmdline.options = { row = { '', 1 } }";
    let connecting = Program { text: connects.to_owned(), ..program("row") };
    assert_eq!(crate::declared(&connecting, Dialect::Sqlite, &[]).unwrap().len(), 1);
    let sending = Program { text: format!("{connects} con:query('SELECT 1')"), ..connecting };
    let error = crate::declared(&sending, Dialect::Sqlite, &[]).unwrap_err();
    let message = "test.lua:1: cannot connect to a database: backslide only reads the script's options here; send \
                   statements in a function, such as `thread_init`";
    assert_eq!(error.to_string(), message);
}

#[test]
fn lua_without_statements_ends_when_it_is_told_to_also_where_it_catches_errors() {
    for event in [
        "local n = 0 while true do n = n + 1 end",
        "while true do pcall(function() local t = {} for i = 1, 1e9 do t[i % 7] = i end end) end",
        "while true do pcall(error, 'mine') end",
    ] {
        let watch = Watch::default();
        let fixture = load_watched(&format!("function event() {event} end"), &[], &watch);
        let ended = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            watch.end_all();
        });
        let error = fixture.event().unwrap_err();
        assert!(error.ends_with("interrupted"), "{error}");
        ended.join().unwrap();
    }
}

#[test]
fn what_older_scripts_expect_is_there() {
    let fixture = load(
        "function event()
            print(mysql_table_engine, myisam_max_rows, DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED)
            print(sb_rnd() .. '', sysbench.rand.uniform_uint64())
            local n = sb_rand_uniq(1, 2000000000)
            print(n >= 1 and n <= 2000000000, sysbench.db.query == db_query)
            db_query('CREATE TABLE t (a INT, b TEXT)')
            local statement = db_prepare('INSERT INTO t VALUES (?, ?)')
            local values = { 100, 'x' }
            db_bind_param(statement, values)
            values[1] = 7
            db_execute(statement)
            db_disconnect()
            print(db_query('SELECT a, b FROM t'):fetch_row()[1])
         end",
        &[("mysql_table_engine", "aria")],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    // The numbers that sysbench 1.0.20 prints with `--rand-seed=42`.
    let expected =
        ["aria\t1000000\t0\t1\t2", "1615875981\t12985727069636131040ULL", "true\ttrue", "7"];
    assert_eq!(fixture.printed(), expected);
}

#[test]
fn a_statement_without_rows_is_true_and_an_empty_result_is_a_result() {
    let fixture = load(
        "function event()
            local con = sysbench.sql.driver():connect()
            assert(con:query('CREATE TABLE t (a INT)'))
            assert(con:bulk_insert_init('INSERT INTO t VALUES'))
            assert(con:bulk_insert_next('(1)'))
            assert(con:bulk_insert_done())
            local rs = con:query('-- none\\nSELECT a, a FROM t WHERE a = 2')
            print(rs.nrows, rs.nfields, con:query('DELETE FROM t WHERE a = 2 RETURNING a').nrows)
            print(con:query_row('DELETE FROM t'), con:query('PRAGMA user_version = 1') == nil)
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["0\t2\t0", "nil\ttrue"]);
}

#[test]
fn a_prepared_statement_has_a_result_and_parameters_that_were_not_set_are_zero_or_empty() {
    let fixture = load(
        "function event()
            local con, types = sysbench.sql.driver():connect(), sysbench.sql.type
            con:query('CREATE TABLE t (a INT, b REAL, c TEXT)')
            local s = con:prepare('INSERT INTO t VALUES (?, ?, ?)')
            s:bind_param(s:bind_create(types.INT), s:bind_create(types.DOUBLE), s:bind_create(types.VARCHAR, 9))
            local rs = s:execute()
            print(rs.nrows, rs.nfields, rs:fetch_row(), con:query_row('SELECT a, b, length(c) FROM t'))
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["0\t0\tnil\t0\t0\t0"]);
}

#[test]
fn parameters_keep_their_digits_and_bytes() {
    let fixture = load(
        "function event()
            local types = sysbench.sql.type
            local con = sysbench.sql.driver():connect()
            local function sent(kind, value, sql)
               local s = con:prepare(sql)
               s:bind_param()
               local p = s:bind_create(kind, 30)
               s:bind_param(p)
               p:set(value)
               return s:execute():fetch_row()[1]
            end
            print(sent(types.DOUBLE, 3, 'SELECT ?'), sent(types.DOUBLE, 0.1 + 0.2, 'SELECT ?'))
            print(sent(types.BIGINT, 9007199254740993LL, 'SELECT ?'))
            print(sent(types.VARCHAR, string.char(200, 255), 'SELECT hex(?)'))
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["3\t0.30000000000000004", "9007199254740993", "C8FF"]);
}

#[test]
fn a_statement_that_is_not_text_fails_with_script_and_line() {
    let fixture =
        load("function event() sysbench.sql.driver():connect():query('SELECT \\200') end", &[]);
    let error = fixture.event().unwrap_err();
    assert!(error.starts_with("test.lua:1: protocol error: incomplete utf-8"), "{error}");
}

#[test]
fn the_database_is_the_one_that_is_used() {
    let text = "function event() print(sysbench.opt.mysql_db, pgsql_db) end";
    for given in [&[][..], &[("mysql_db", "sbtest")]] {
        let fixture = load(text, given);
        assert_eq!(fixture.event(), Ok(Outcome::Done));
        assert_eq!(fixture.printed(), ["main\tmain"]);
    }
    let declared =
        format!("sysbench.cmdline.options = {{ pgsql_db = {{ 'mine', 'sbtest' }} }} {text}");
    let fixture = load(&declared.replace("pgsql_db)", "sysbench.opt.pgsql_db)"), &[]);
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["main\tmain"]);
}

#[test]
fn an_error_is_described_as_sysbench_does() {
    let fixture = load(
        "function sysbench.hooks.sql_error_ignorable(e)
            print(e.sql_errno, e.sql_state, e.sql_errmsg, e.query)
         end
         function event()
            local con = sysbench.sql.driver():connect()
            print(pcall(con.query, con, 'SELEC 1'))
            print(con.error == sysbench.sql.error.FATAL, con:check_error(1), pcall(con.check_error, con, nil, 'again'))
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    let message = "near \"SELEC\": syntax error at offset 0";
    let expected = [
        format!("0\tSQLITE_ERROR\t{message}\tSELEC 1"),
        format!("false\ttest.lua:6: error SQLITE_ERROR: {message} (in `SELEC 1`)"),
        format!("0\tSQLITE_ERROR\t{message}\tagain"),
        format!("true\t1\tfalse\ttest.lua:7: error SQLITE_ERROR: {message} (in `SELEC 1`)"),
    ];
    assert_eq!(fixture.printed(), expected);
}

#[test]
fn printed_lines_keep_their_order_and_end() {
    let fixture = load(
        "function event()
            print(2) io.write('a', 'b') io.write('c\\n') print(2)
            io.stdout:write('d\\n'):flush()
            for i = 1, 200 do print(i) end
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    let printed = fixture.printed();
    assert_eq!(printed[..5], ["2", "abc", "2", "d", "1"]);
    assert_eq!(printed.len(), 101);
    assert_eq!(printed.last().unwrap(), "(only the first 100 lines are kept)");
}

#[test]
fn a_command_returns_its_status_as_lua_does() {
    let fixture = load(
        "function event() print(os.execute(), os.execute('exit 3'), os.execute('true')) end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    assert_eq!(fixture.printed(), ["1\t768\t0"]);
}

#[test]
fn other_names_of_sysbench_are_there() {
    let fixture = load(
        "ffi.cdef('void sb_rand_str(const char *, char *);')
         sysbench.cmdline.options = { rows = { 'rows of a table', 10 } }
         sysbench.cmdline.commands = { load = { function() return false end, sysbench.cmdline.PARALLEL_COMMAND } }
         local usual = thread_run
         function thread_run(thread) usual(thread) end
         local events = 0
         function event()
            events = events + 1
            if events == 2 then return true end
            local cmdline, buffer = sysbench.cmdline, ffi.new('char[?]', 7)
            ffi.C.sb_rand_str('ab##-@@', buffer)
            print(ffi.string(buffer, 7):match('^ab%d%d%-%l%l$') ~= nil, pcall(sysbench.sql.driver, 'oracle'))
            print(cmdline.command_defined('load'), cmdline.command_parallel('load'), cmdline.call_command('load'))
            print(cmdline.command_defined('nonesuch'), cmdline.call_command('nonesuch'))
            cmdline.print_test_options()
            sysbench.sql.driver():connect():reconnect()
         end",
        &[],
    );
    assert_eq!(fixture.script.as_ref().unwrap().has_event(), Ok(true));
    assert_eq!([fixture.event(), fixture.event()], [Ok(Outcome::Done), Ok(Outcome::Last)]);
    let expected = [
        "true\tfalse\ttest.lua:12: there is no driver `oracle`: the system's is `sqlite`",
        "true\ttrue\tfalse",
        "false\tfalse",
        "  --rows=10  rows of a table",
    ];
    assert_eq!(fixture.printed(), expected);
    assert_eq!(fixture.sent(), [(SentKind::Reconnect, 0)]);
    let wrong = load("sysbench.cmdline.options = { {} }", &[]).script.err().unwrap();
    let message = "test.lua: sysbench.cmdline.options has an entry that is not of the form name = { meaning, usual value }";
    assert_eq!(wrong, message);
}

#[test]
fn a_histogram_draws_a_number_for_each_value() {
    let fixture = load(
        "function event()
            local h = sysbench.histogram.new(10, 1, 10)
            for _, value in ipairs({ 1, 2, 0, 10, 100, 5 }) do h:update(value) end
            print(sysbench.rand.uniform(1, 1000000))
         end",
        &[],
    );
    assert_eq!(fixture.event(), Ok(Outcome::Done));
    // The number that sysbench 1.0.20 prints with `--rand-seed=42`.
    assert_eq!(fixture.printed(), ["843045"]);
}
