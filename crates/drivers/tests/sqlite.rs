//! SQLite sessions against real files.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail like the test")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use drivers::{
    Done, Param, ParamType, Row, Session, SessionError, SqliteSession, StatementId, Value,
    sqlite_library, sqlite_version,
};

const PATIENT: Duration = Duration::from_secs(10);

fn open(
    path: &Path,
    pragmas: &[(&str, &str)],
    timeout: Duration,
) -> Result<SqliteSession, SessionError> {
    let pragmas: Vec<_> =
        pragmas.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    SqliteSession::open(None, path, &pragmas, timeout)
}

fn ints(session: &mut dyn Session, sql: &str) -> Vec<Option<i64>> {
    let mut values = Vec::new();
    session.query(sql, &mut |row| values.push(row.value(0).as_int())).unwrap();
    values
}

fn words(session: &mut dyn Session, sql: &str) -> Vec<String> {
    let mut values = Vec::new();
    session
        .query(sql, &mut |row| {
            values.push(row.value(0).to_text().unwrap_or_default());
        })
        .unwrap();
    values
}

fn with_table(path: &Path, pragmas: &[(&str, &str)]) -> SqliteSession {
    let mut session = open(path, pragmas, PATIENT).unwrap();
    session
        .execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, name TEXT, price REAL)")
        .unwrap();
    session
}

#[test]
fn both_journals_take_text_statements() {
    for (journal, synchronous) in [("wal", "NORMAL"), ("delete", "FULL")] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bench.sqlite");
        let pragmas = [("journal_mode", journal), ("synchronous", synchronous)];
        let mut session = with_table(&path, &pragmas);
        let rows: Vec<String> =
            (1..=50).map(|i| format!("({i}, {}, 'name {i}', {i}.5)", i * 2)).collect();
        let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
        assert_eq!(session.execute(&insert).unwrap(), Done { affected: 50, ..Done::default() });
        assert_eq!(ints(&mut session, "SELECT sum(n) FROM t"), [Some(2550)]);
        assert_eq!(words(&mut session, "PRAGMA journal_mode"), [journal]);
        let deleted = session.execute("DELETE FROM t WHERE id > 40").unwrap();
        assert_eq!(deleted, Done { affected: 10, ..Done::default() });
        // Neither a statement of structure nor a query inherits the ten rows of the delete.
        let created = session.execute("CREATE INDEX t_n ON t (n)").unwrap();
        assert_eq!(created, Done::default());
        let read = session.execute("SELECT id FROM t").unwrap();
        assert_eq!(read, Done { rows: 40, affected: 0, columns: 1 });
        assert_eq!(session.info().server_version, sqlite_version());
    }
}

#[test]
fn prepared_statements_take_and_return_every_type() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = with_table(&dir.path().join("bench.sqlite"), &[]);
    let types = [ParamType::Int, ParamType::Int, ParamType::Text];
    let insert = session
        .prepare("INSERT INTO t (id, n, name, price) VALUES (?, ?, ?, NULL)", &types)
        .unwrap();
    for id in 1..=3 {
        let params = [Param::Int(id), Param::Int(i64::MIN + id), Param::Text("naïve 'quoted'")];
        let done = session.execute_prepared(insert, &params, &mut |_| ()).unwrap();
        assert_eq!(done, Done { affected: 1, ..Done::default() });
    }
    session.execute("UPDATE t SET price = 1.5 WHERE id = 2").unwrap();
    let select = session
        .prepare(
            "SELECT n, name, price FROM t WHERE id >= ? ORDER BY id LIMIT 2",
            &[ParamType::Int],
        )
        .unwrap();
    let mut seen = 0;
    let done = session
        .execute_prepared(select, &[Param::Int(1)], &mut |row| {
            seen += 1;
            assert_eq!(row.len(), 3);
            assert_eq!(row.value(0), Value::Int(i64::MIN + seen));
            assert_eq!(row.value(1), Value::Bytes("naïve 'quoted'".as_bytes()));
            let price = if seen == 1 { Value::Null } else { Value::Real(1.5) };
            assert_eq!(row.value(2), price);
            assert_eq!(row.value(3), Value::Null);
        })
        .unwrap();
    assert_eq!((seen, done), (2, Done { rows: 2, affected: 0, columns: 3 }));
}

#[test]
fn wrong_parameters_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = with_table(&dir.path().join("bench.sqlite"), &[]);
    let sql = "SELECT n FROM t WHERE id = ?";
    assert_eq!(session.prepare(sql, &[]).unwrap_err().code(), "SQLITE_RANGE");
    let select = session.prepare(sql, &[ParamType::Int]).unwrap();
    let missing = session.execute_prepared(select, &[], &mut |_| ()).unwrap_err();
    assert_eq!(missing.code(), "SQLITE_RANGE");
    let unknown = session.execute_prepared(StatementId(77), &[], &mut |_| ()).unwrap_err();
    assert_eq!(unknown.code(), "SQLITE_MISUSE");
    // The session goes on after each of them.
    session.execute_prepared(select, &[Param::Int(1)], &mut |_| ()).unwrap();
}

#[test]
fn statement_errors_carry_the_code_and_the_statement() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = with_table(&dir.path().join("bench.sqlite"), &[]);
    session.execute("INSERT INTO t (id) VALUES (1)").unwrap();
    let duplicate = session.execute("INSERT INTO t (id) VALUES (1)").unwrap_err();
    assert_eq!(duplicate.code(), "SQLITE_CONSTRAINT");
    assert!(duplicate.to_string().contains("(in `INSERT INTO t (id) VALUES (1)`)"), "{duplicate}");
    let bad = session.execute("SELEKT 1").unwrap_err();
    assert_eq!(bad.code(), "SQLITE_ERROR");
    assert!(bad.to_string().contains("syntax error"), "{bad}");
    let two = session.execute("SELECT 1; SELECT 2").unwrap_err();
    assert_eq!(two.code(), "SQLITE_MISUSE");
    let none = session.execute("  -- nothing\n").unwrap_err();
    assert_eq!(none.code(), "SQLITE_MISUSE");
    session.execute("PRAGMA max_page_count = 3").unwrap();
    let full =
        session.execute("INSERT INTO t (name) VALUES (hex(randomblob(100000)))").unwrap_err();
    assert_eq!(full.code(), "SQLITE_FULL");
}

#[test]
fn a_locked_database_is_busy_after_the_wait() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bench.sqlite");
    let mut holder = with_table(&path, &[("journal_mode", "wal")]);
    let wait = Duration::from_millis(100);
    let mut other = open(&path, &[("journal_mode", "wal")], wait).unwrap();
    holder.execute("BEGIN IMMEDIATE").unwrap();
    holder.execute("INSERT INTO t (id) VALUES (1)").unwrap();

    let before = Instant::now();
    let busy = other.execute("INSERT INTO t (id) VALUES (2)").unwrap_err();
    assert!(before.elapsed() >= wait, "gave up after {:?}", before.elapsed());
    assert_eq!(busy.code(), "SQLITE_BUSY");
    assert!(busy.is_retryable());
    // With a write-ahead log the reader sees the state before, and the writer goes on afterwards.
    assert_eq!(ints(&mut other, "SELECT count(*) FROM t"), [Some(0)]);
    holder.execute("COMMIT").unwrap();
    other.execute("INSERT INTO t (id) VALUES (2)").unwrap();
    assert_eq!(ints(&mut holder, "SELECT count(*) FROM t"), [Some(2)]);
}

#[test]
fn a_journal_mode_that_cannot_be_had_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bench.sqlite");
    let mut holder = with_table(&path, &[("journal_mode", "wal")]);
    holder.execute("INSERT INTO t (id) VALUES (1)").unwrap();
    let wait = Duration::from_millis(50);
    let error = open(&path, &[("journal_mode", "delete")], wait).unwrap_err();
    assert!(
        matches!(&error, SessionError::Server { statement, .. } if statement == "PRAGMA journal_mode = delete"),
        "{error}"
    );
}

#[test]
fn files_that_cannot_be_opened_are_connect_errors() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("no-such-directory").join("bench.sqlite");
    let error = open(&missing, &[], PATIENT).unwrap_err();
    assert_eq!(error.code(), "connect");
    assert!(error.to_string().contains("no-such-directory"), "{error}");

    let garbage = dir.path().join("garbage");
    std::fs::write(&garbage, "this is a shopping list, not a database; ".repeat(100)).unwrap();
    for pragmas in [vec![], vec![("journal_mode", "wal")]] {
        let error = open(&garbage, &pragmas, PATIENT).unwrap_err();
        assert_eq!(error.code(), "connect");
        assert!(error.to_string().contains("SQLITE_NOTADB"), "{error}");
    }
}

#[test]
fn a_prepared_statement_survives_a_change_of_the_structure() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = with_table(&dir.path().join("bench.sqlite"), &[]);
    session.execute("INSERT INTO t (id, n) VALUES (1, 5)").unwrap();
    let select = session.prepare("SELECT * FROM t WHERE id = ?", &[ParamType::Int]).unwrap();
    let width = |session: &mut SqliteSession| {
        let mut columns = 0;
        session.execute_prepared(select, &[Param::Int(1)], &mut |row| columns = row.len()).unwrap();
        columns
    };
    assert_eq!(width(&mut session), 4);
    session.execute("ALTER TABLE t ADD COLUMN extra INTEGER").unwrap();
    assert_eq!(width(&mut session), 5);
}

#[test]
fn clients_that_write_at_the_same_time_wait_for_each_other() {
    const CLIENTS: i64 = 4;
    const TRANSACTIONS: i64 = 100;
    for journal in ["wal", "delete"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bench.sqlite");
        let pragmas = [("journal_mode", journal), ("synchronous", "OFF")];
        let mut admin = with_table(&path, &pragmas);
        admin.execute("INSERT INTO t (id, n) VALUES (1, 0)").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut client = open(&path, &pragmas, PATIENT).unwrap();
                    let add = client
                        .prepare("UPDATE t SET n = n + ? WHERE id = 1", &[ParamType::Int])
                        .unwrap();
                    for _ in 0..TRANSACTIONS {
                        client.execute("BEGIN IMMEDIATE").unwrap();
                        client.execute_prepared(add, &[Param::Int(1)], &mut |_| ()).unwrap();
                        client.execute("COMMIT").unwrap();
                    }
                });
            }
        });
        let total = ints(&mut admin, "SELECT n FROM t WHERE id = 1");
        assert_eq!(total, [Some(CLIENTS * TRANSACTIONS)], "{journal}");
    }
}

/// A transaction that has read what another has changed since can never write: no wait helps, so it
/// fails at once and starts anew.
#[test]
fn a_transaction_on_an_old_snapshot_is_busy_without_a_wait() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bench.sqlite");
    let wal = [("journal_mode", "wal")];
    let mut reader = with_table(&path, &wal);
    let mut writer = open(&path, &wal, PATIENT).unwrap();
    reader.execute("BEGIN").unwrap();
    assert_eq!(ints(&mut reader, "SELECT count(*) FROM t"), [Some(0)]);
    writer.execute("INSERT INTO t (id) VALUES (1)").unwrap();
    let before = Instant::now();
    let busy = reader.execute("INSERT INTO t (id) VALUES (2)").unwrap_err();
    assert!(before.elapsed() < PATIENT);
    assert_eq!((busy.code(), busy.is_retryable()), ("SQLITE_BUSY", true));
    reader.execute("ROLLBACK").unwrap();
    reader.execute("INSERT INTO t (id) VALUES (2)").unwrap();
    assert_eq!(ints(&mut writer, "SELECT count(*) FROM t"), [Some(2)]);
}

#[test]
fn texts_are_taken_as_what_their_column_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = open(&dir.path().join("bench.sqlite"), &[], PATIENT).unwrap();
    session
        .execute(
            "CREATE TABLE typed (id INTEGER PRIMARY KEY, price DECIMAL(10,2), at TIMESTAMP,
             fixed CHAR(12), small INT)",
        )
        .unwrap();
    let types =
        [ParamType::Int, ParamType::Decimal, ParamType::DateTime, ParamType::Text, ParamType::Text];
    let insert = session.prepare("INSERT INTO typed VALUES (?, ?, ?, ?, ?)", &types).unwrap();
    let row = [
        Param::Int(7),
        Param::Text("-12.50"),
        Param::Text("2026-11-21 10:00:00"),
        Param::Text("name"),
        Param::Text("42"),
    ];
    session.execute_prepared(insert, &row, &mut |_| ()).unwrap();
    assert_eq!(
        words(&mut session, "SELECT typeof(price) || typeof(at) || typeof(small) FROM typed"),
        ["realtextinteger"]
    );
    for (condition, declared, param) in [
        ("price = ?", ParamType::Decimal, Param::Text("-12.5")),
        ("price < ?", ParamType::Decimal, Param::Text("-2")),
        ("at = ?", ParamType::DateTime, Param::Text("2026-11-21 10:00:00")),
        ("fixed = ?", ParamType::Text, Param::Text("name")),
        ("small = ?", ParamType::Text, Param::Text("42")),
        ("id = ?", ParamType::Text, Param::Text("7")),
        ("small = ?", ParamType::Int, Param::Int(42)),
    ] {
        let sql = format!("SELECT id FROM typed WHERE {condition}");
        let select = session.prepare(&sql, &[declared]).unwrap();
        let found = session.execute_prepared(select, &[param], &mut |_| ()).unwrap();
        assert_eq!(found.rows, 1, "{condition}");
    }
}

#[test]
fn a_batch_is_run_one_by_one_and_rows_are_not_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = with_table(&dir.path().join("bench.sqlite"), &[]);
    let insert = session.prepare("INSERT INTO t (id) VALUES (?)", &[ParamType::Int]).unwrap();
    let params = [[Param::Int(1)], [Param::Int(2)], [Param::Int(1)], [Param::Int(3)]];
    let batch: Vec<(StatementId, &[Param<'_>])> =
        params.iter().map(|params| (insert, params.as_slice())).collect();
    let mut ended = 0;
    let error =
        session.execute_pipelined(&batch, &mut |_, _| (), &mut |_, _| ended += 1).unwrap_err();
    assert_eq!((ended, error.code()), (2, "SQLITE_CONSTRAINT"));
    assert!(!session.can_load_rows());
    let refused = session.load_rows("t", &["id"], &mut |_| false);
    assert_eq!(refused.unwrap_err().code(), "protocol");
}

/// A library of the SQLite that is built in: its objects, linked anew.
fn library(directory: &Path) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let builds = test.ancestors().nth(2).unwrap().join("build");
    let objects = std::fs::read_dir(builds).unwrap().flatten();
    let objects = objects.map(|entry| entry.path().join("out/libsqlite3.a"));
    let library = directory.join("libsqlite3.so");
    let linked = std::process::Command::new("cc")
        .args(["-shared", "-Wl,-Bsymbolic", "-o"])
        .arg(&library)
        .arg("-Wl,--whole-archive")
        .arg(objects.into_iter().find(|path| path.is_file()).unwrap())
        .args(["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"])
        .status();
    assert!(linked.unwrap().success());
    library
}

#[test]
fn a_library_does_what_is_built_in() {
    let dir = tempfile::tempdir().unwrap();
    let library = library(dir.path());
    let (version, line) = sqlite_library(&library).unwrap();
    assert_eq!(version, sqlite_version());
    assert!(line.starts_with(&format!("SQLite {version} 20")), "{line}");
    let pragmas = [("journal_mode".to_owned(), "wal".to_owned())];
    let open = |name: &str| {
        SqliteSession::open(Some(&library), &dir.path().join(name), &pragmas, PATIENT).unwrap()
    };
    let mut session = open("one");
    session.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, price REAL)").unwrap();
    let types = [ParamType::Int, ParamType::Text];
    let insert = session.prepare("INSERT INTO t VALUES (?, ?, 1.5)", &types).unwrap();
    let row = [Param::Int(7), Param::Text("seven")];
    let done = session.execute_prepared(insert, &row, &mut |_| ()).unwrap();
    assert_eq!(done, Done { affected: 1, ..Done::default() });
    let twice = session.execute_prepared(insert, &row, &mut |_| ()).unwrap_err();
    assert_eq!(twice.code(), "SQLITE_CONSTRAINT");
    let mut seen = Vec::new();
    let select = "SELECT id, name, price, NULL, x'' FROM t";
    let mut see = |row: &dyn Row| {
        assert_eq!(row.value(1), Value::Bytes(b"seven"));
        seen.extend((0..row.len()).map(|column| row.value(column).to_text()));
    };
    session.query(select, &mut see).unwrap();
    assert_eq!(seen.iter().flatten().collect::<Vec<_>>(), ["7", "seven", "1.5", ""]);
    // Both may be open in one process, each with files of its own.
    let mut built_in = with_table(&dir.path().join("two"), &[]);
    assert_eq!(ints(&mut built_in, "SELECT count(*) FROM t"), [Some(0)]);
    assert_eq!(ints(&mut open("one"), "SELECT count(*) FROM t"), [Some(1)]);
}
