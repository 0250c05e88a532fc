//! PostgreSQL sessions against real servers, which this test starts itself: that of the
//! distribution, and those that backslide has installed for this user.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test fail like the test, and say why it was skipped"
)]

mod copy;
mod pipeline;
mod server;
mod tls;
mod types;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use drivers::{Done, Param, ParamType, PostgresSession, Session, SessionError, Value};

use self::server::Server;

const PATIENT: Duration = Duration::from_secs(30);

/// The first column of all rows, as text.
fn column(session: &mut dyn Session, sql: &str) -> Vec<Option<String>> {
    let mut values = Vec::new();
    session.query(sql, &mut |row| values.push(row.value(0).to_text())).unwrap();
    values
}

fn changed(affected: u64) -> Done {
    Done { affected, ..Done::default() }
}

#[test]
fn the_whole_session() {
    let installations = server::installations();
    if installations.is_empty() {
        testkit::skipped("no server");
    }
    for (index, installation) in installations.iter().enumerate() {
        let Some(server) = Server::start(installation, index) else {
            return;
        };
        eprintln!("PostgreSQL {}", server.version);
        the_session_of(&server);
    }
}

fn the_session_of(server: &Server) {
    logins(server);
    let mut session = server.session();
    let backend = session.info().backend.unwrap().to_string();
    assert_eq!(column(&mut session, "SELECT pg_backend_pid()"), [Some(backend)]);
    assert_eq!(
        column(&mut session, "SHOW server_version"),
        [Some(session.info().server_version.clone())]
    );
    text_statements(&mut session);
    prepared_insert(&mut session);
    prepared_types(&mut session);
    ranges(&mut session);
    prepared_types(&mut server.describing());
    ranges(&mut server.describing());
    errors(&mut session);
    copies(&mut session);
    types::check(&mut session);
    pipeline::check(&mut session);
    pipeline::check(&mut server.describing());
    copy::check(&mut session);
    a_wait_for_a_lock_is_retryable(server);
    timeouts(server);
    goodbyes(server);
    tls::check(server);
}

fn logins(server: &Server) {
    let mut admin = server.session();
    assert_eq!(admin.info().authentication, "trust");
    for sql in [
        "CREATE ROLE clear LOGIN PASSWORD 'plain'",
        "CREATE ROLE md5 LOGIN ENCRYPTED PASSWORD 'hash''d'",
    ] {
        admin.execute(sql).unwrap();
    }
    let mut users = vec![("clear", "plain", "password"), ("md5", "hash'd", "md5")];
    if server.has_scram() {
        admin.execute("SET password_encryption = 'scram-sha-256'").unwrap();
        admin.execute("CREATE ROLE scram LOGIN PASSWORD 'sécret'").unwrap();
        users.push(("scram", "sécret", "scram-sha-256"));
        // Servers since 14 keep proofs for SCRAM if they are not told otherwise.
        admin.execute("SET password_encryption = 'md5'").unwrap();
        admin.execute("ALTER ROLE md5 PASSWORD 'hash''d'").unwrap();
    }
    for (user, password, method) in users {
        let mut session =
            PostgresSession::open(&server.connector(user, password, PATIENT)).unwrap();
        assert_eq!(session.info().authentication, method);
        assert_eq!(column(&mut session, "SELECT current_user"), [Some(user.to_owned())]);
        let wrong = PostgresSession::open(&server.connector(user, "wrong", PATIENT)).unwrap_err();
        assert!(wrong.to_string().contains("28P01"), "{wrong}");
        let none = PostgresSession::open(&server.connector(user, "", PATIENT)).unwrap_err();
        assert!(none.to_string().contains("none is given"), "{none}");
    }
}

fn text_statements(session: &mut dyn Session) {
    let create = "CREATE TABLE t (id int PRIMARY KEY, big bigint, price numeric(10,2),
                  at timestamp, name varchar(40), ratio float8, small smallint, flag bool)";
    assert_eq!(session.execute(create).unwrap(), Done::default());
    let mut insert = "INSERT INTO t VALUES ".to_owned();
    for id in 1..=50 {
        let comma = if id == 1 { "" } else { "," };
        write!(
            insert,
            "{comma}({id},{id}000000000,{id}.50,'2026-11-21 10:00:{id:02}','name {id}',{id}.25,{id},true)"
        )
        .unwrap();
    }
    assert_eq!(session.execute(&insert).unwrap(), changed(50));
    assert_eq!(column(session, "SELECT sum(id) FROM t"), [Some("1275".to_owned())]);
    assert_eq!(session.execute("DELETE FROM t WHERE id > 48").unwrap(), changed(2));
    assert_eq!(session.execute("UPDATE t SET small = 7 WHERE id < 4").unwrap(), changed(3));
    assert_eq!(session.execute("CREATE TABLE copy AS SELECT * FROM t").unwrap(), changed(48));
    assert_eq!(session.execute("").unwrap(), Done::default());
    // NULL, and the text form of every type.
    let mut row_of = None;
    session
        .query("SELECT NULL, big, at, flag FROM t WHERE id = 2", &mut |row| {
            let texts: Vec<_> = (0..row.len()).map(|i| row.value(i).to_text()).collect();
            row_of = Some(texts);
        })
        .unwrap();
    let wanted = [None, Some("2000000000"), Some("2026-11-21 10:00:02"), Some("t")];
    assert_eq!(row_of.unwrap(), wanted.map(|text| text.map(str::to_owned)));
}

fn prepared_insert(session: &mut dyn Session) {
    let types = [ParamType::Int, ParamType::Int, ParamType::DateTime, ParamType::Text];
    let insert = session
        .prepare("INSERT INTO t (id, big, at, name) VALUES ($1, $2, $3, $4)", &types)
        .unwrap();
    for id in 101..=300 {
        let params = [
            Param::Int(id),
            Param::Int(i64::MIN + id),
            Param::Text("2026-11-21 10:00:00"),
            Param::Text("naïve 'quoted'"),
        ];
        let done = session.execute_prepared(insert, &params, &mut |_| ()).unwrap();
        assert_eq!(done, changed(1));
    }
    // A server's error in the extended protocol leaves session and statement usable.
    let duplicate =
        [Param::Int(101), Param::Int(0), Param::Text("2026-11-21 10:00:00"), Param::Text("")];
    let error = session.execute_prepared(insert, &duplicate, &mut |_| ()).unwrap_err();
    assert_eq!(error.code(), "23505");
    assert!(error.to_string().contains("(detail: Key (id)=(101) already exists.)"), "{error}");
    let no_time = [Param::Int(999), Param::Int(0), Param::Text("never"), Param::Text("")];
    let error = session.execute_prepared(insert, &no_time, &mut |_| ()).unwrap_err();
    assert_eq!(error.code(), "22007");
    let zero_byte =
        [Param::Int(999), Param::Int(0), Param::Text("2026-11-21 10:00:00"), Param::Text("a\0b")];
    let error = session.execute_prepared(insert, &zero_byte, &mut |_| ()).unwrap_err();
    assert_eq!(error.code(), "22021");
    assert_eq!(column(session, "SELECT count(*) FROM t WHERE id > 100"), [Some("200".to_owned())]);
}

fn prepared_types(session: &mut dyn Session) {
    let sql =
        "SELECT id, big, price, at, name, ratio, small, flag, ratio::float4 FROM t WHERE id = $1";
    let select = session.prepare(sql, &[ParamType::Int]).unwrap();
    let mut seen = 0;
    let done = session
        .execute_prepared(select, &[Param::Int(2)], &mut |row| {
            seen += 1;
            let values: Vec<Value<'_>> = (0..=row.len()).map(|i| row.value(i)).collect();
            let wanted = [
                Value::Int(2),
                Value::Int(2_000_000_000),
                Value::Bytes(b"2.50"),
                Value::Bytes(b"2026-11-21 10:00:02"),
                Value::Bytes(b"name 2"),
                Value::Real(2.25),
                Value::Int(7),
                Value::Int(1),
                Value::Real(2.25),
                Value::Null,
            ];
            assert_eq!(values, wanted);
        })
        .unwrap();
    assert_eq!((seen, done), (1, Done { rows: 1, affected: 0, columns: 9 }));
    // Columns that the prepared insert left out are NULL.
    let done = session
        .execute_prepared(select, &[Param::Int(101)], &mut |row| {
            assert_eq!(row.value(1), Value::Int(i64::MIN + 101));
            assert_eq!(row.value(4), Value::Bytes("naïve 'quoted'".as_bytes()));
            for null in [2, 5, 6, 7, 8] {
                assert_eq!(row.value(null), Value::Null);
            }
        })
        .unwrap();
    assert_eq!(done.rows, 1);
    let none = session.execute_prepared(select, &[Param::Int(-1)], &mut |_| ()).unwrap();
    assert_eq!(none, Done { columns: 9, ..Done::default() });
}

fn ranges(session: &mut dyn Session) {
    let range = session
        .prepare(
            "SELECT id, name FROM t WHERE id >= $1 AND id < $2 ORDER BY id",
            &[ParamType::Int, ParamType::Int],
        )
        .unwrap();
    let mut sum = 0;
    let done = session
        .execute_prepared(range, &[Param::Int(150), Param::Int(250)], &mut |row| {
            sum += row.value(0).as_int().unwrap();
        })
        .unwrap();
    assert_eq!((done.rows, sum), (100, (150..250).sum::<i64>()));
    let counted = session.count_prepared(range, &[Param::Int(150), Param::Int(250)]);
    assert_eq!(counted.unwrap(), done);
    // More than the first read buffer holds, in one row and in many.
    let wide = column(session, "SELECT repeat('x', 1000000)");
    assert_eq!(wide[0].as_ref().unwrap().len(), 1_000_000);
    assert_eq!(session.execute("SELECT generate_series(1, 20000)").unwrap().rows, 20_000);
}

fn errors(session: &mut dyn Session) {
    let bad = session.execute("SELEKT 1").unwrap_err();
    assert_eq!(bad.code(), "42601");
    assert!(bad.to_string().contains("(in `SELEKT 1`)"), "{bad}");
    let duplicate = session.execute("INSERT INTO t (id) VALUES (1)").unwrap_err();
    assert_eq!(duplicate.code(), "23505");
    let unknown = session.prepare("SELECT nothing FROM t", &[]).unwrap_err();
    assert_eq!(unknown.code(), "42703");
    let count = session.prepare("SELECT $1::int", &[]).unwrap_err();
    assert_eq!(count.code(), "08P01");
    let nul = session.execute("SELECT 1\0").unwrap_err();
    assert_eq!(nul.code(), "08P01");
    let excerpt = session.execute(&format!("SELEKT {}", "x".repeat(500))).unwrap_err();
    assert!(
        matches!(&excerpt, SessionError::Server { statement, .. } if statement.len() == 120),
        "{excerpt}"
    );
    assert_eq!(column(session, "SELECT 1"), [Some("1".to_owned())]);
}

fn copies(session: &mut dyn Session) {
    let copy_in = session.execute("COPY t (id) FROM STDIN").unwrap_err();
    assert_eq!(copy_in.code(), "57014");
    assert!(copy_in.to_string().contains("use INSERT"), "{copy_in}");
    let copy_out = session.execute("COPY t TO STDOUT").unwrap_err();
    assert_eq!(copy_out.code(), "0A000");
    for (sql, code) in [("COPY t (id) FROM STDIN", "57014"), ("COPY t TO STDOUT", "0A000")] {
        let copy = session.prepare(sql, &[]).unwrap();
        let error = session.execute_prepared(copy, &[], &mut |_| ()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
    assert_eq!(column(session, "SELECT 1"), [Some("1".to_owned())]);
}

fn a_wait_for_a_lock_is_retryable(server: &Server) {
    let mut holder = server.session();
    let mut other = server.session();
    holder.execute("BEGIN").unwrap();
    holder.execute("LOCK TABLE t").unwrap();
    other.execute("SET lock_timeout = '50ms'").unwrap();
    let locked = other.execute("SELECT count(*) FROM t").unwrap_err();
    assert_eq!((locked.code(), locked.is_retryable()), ("55P03", true));
    holder.execute("ROLLBACK").unwrap();
}

fn timeouts(server: &Server) {
    let limit = Duration::from_secs(2);
    let mut session = PostgresSession::open(&server.connector("postgres", "", limit)).unwrap();
    let before = Instant::now();
    let error = session.execute("SELECT pg_sleep(60)").unwrap_err();
    assert_eq!(error.code(), "timeout");
    assert!(before.elapsed() < Duration::from_secs(20));
    assert_eq!(session.execute("SELECT 1").unwrap_err().code(), "lost");
}

/// A session that is dropped leaves the server; one that the server ends says so.
fn goodbyes(server: &Server) {
    let mut watcher = server.session();
    let mut victim = server.session();
    let backend = victim.info().backend.unwrap();
    watcher.execute(&format!("SELECT pg_terminate_backend({backend})")).unwrap();
    let lost = victim.execute("SELECT 1").unwrap_err();
    assert_eq!(lost.code(), "lost", "{lost}");

    let leaver = server.session();
    let backend = leaver.info().backend.unwrap();
    drop(leaver);
    let alive = format!("SELECT count(*) FROM pg_stat_activity WHERE pid = {backend}");
    let start = Instant::now();
    while column(&mut watcher, &alive) != [Some("0".to_owned())] {
        assert!(start.elapsed() < PATIENT, "backend {backend} stays");
        std::thread::sleep(Duration::from_millis(10));
    }
}
