//! PostgreSQL sessions against a real server, which this test starts itself.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "the helpers of a test fail like the test, and say why it was skipped"
)]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use drivers::{
    Address, Connector, Done, ErrorClass, Login, Param, ParamType, PostgresConnector,
    PostgresSession, Session, SessionError, Value,
};

const PATIENT: Duration = Duration::from_secs(30);

/// Who may log in how; the last line is for the superuser of the set-up.
const HBA: &str = "local all scram scram-sha-256
local all md5 md5
local all clear password
local all all trust
";

/// A server in a directory of its own, on a Unix socket only; stopped when dropped.
struct Server {
    dir: tempfile::TempDir,
    process: Child,
}

impl Server {
    /// Starts a server; `None` when there is none on this machine.
    fn start() -> Option<Self> {
        let Some(bin) = newest_server() else {
            eprintln!("skipped: no server");
            return None;
        };
        if !unprivileged("true")
            .output()
            .is_ok_and(|run| run.status.success())
        {
            eprintln!("skipped: no server (it refuses root, and no user namespace can be had)");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let log = || File::create(dir.path().join("log")).unwrap();
        let initialised = unprivileged(bin.join("initdb"))
            .args([
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "-N",
                "-D",
            ])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(log())
            .status()
            .unwrap();
        assert!(initialised.success(), "{}", read_log(dir.path()));
        std::fs::write(data.join("pg_hba.conf"), HBA).unwrap();
        let process = unprivileged(bin.join("postgres"))
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-D"])
            .arg(&data)
            .arg("-k")
            .arg(dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log())
            .spawn()
            .unwrap();
        let server = Self { dir, process };
        server.wait_until_ready();
        Some(server)
    }

    fn wait_until_ready(&self) {
        let start = Instant::now();
        while let Err(error) = self.connector("postgres", "", PATIENT).connect() {
            assert_eq!(error.code(), "connect", "{error}");
            assert!(start.elapsed() < PATIENT, "{}", read_log(self.dir.path()));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn connector(&self, user: &str, password: &str, timeout: Duration) -> PostgresConnector {
        let login = Login {
            user: user.to_owned(),
            password: password.to_owned(),
            database: "postgres".to_owned(),
        };
        let socket = self.dir.path().join(".s.PGSQL.5432");
        PostgresConnector::new(Address::Socket(socket), login, timeout)
    }

    fn session(&self) -> PostgresSession {
        self.connector("postgres", "", PATIENT).session().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An immediate shutdown: the children end with the first process, and the data is not kept.
        let pid_file = self.dir.path().join("data/postmaster.pid");
        let pid = std::fs::read_to_string(pid_file)
            .ok()
            .and_then(|text| text.lines().next()?.parse().ok())
            .and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
        } else {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// The programs of the newest server of the distribution's packages.
fn newest_server() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let number = |path: &PathBuf| -> Option<u32> { path.file_name()?.to_str()?.parse().ok() };
    versions
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("bin/postgres").exists() && path.join("bin/initdb").exists())
        .max_by_key(number)
        .map(|path| path.join("bin"))
}

/// A command that is not run as root, which the server refuses. In a user namespace the files stay
/// those of root.
fn unprivileged(program: impl AsRef<OsStr>) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-user=1000", "--map-group=1000"])
        .arg(program);
    command
}

fn read_log(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("log")).unwrap_or_default()
}

/// The first column of all rows, as text.
fn column(session: &mut dyn Session, sql: &str) -> Vec<Option<String>> {
    let mut values = Vec::new();
    session
        .query(sql, &mut |row| values.push(row.value(0).to_text()))
        .unwrap();
    values
}

fn changed(affected: u64) -> Done {
    Done { rows: 0, affected }
}

#[test]
fn the_whole_session() {
    let Some(server) = Server::start() else {
        return;
    };
    logins(&server);
    let mut session = server.session();
    let backend = session.info().backend.unwrap().to_string();
    assert_eq!(
        column(&mut session, "SELECT pg_backend_pid()"),
        [Some(backend)]
    );
    assert_eq!(
        column(&mut session, "SHOW server_version"),
        [Some(session.info().server_version.clone())]
    );
    text_statements(&mut session);
    prepared_insert(&mut session);
    prepared_types(&mut session);
    ranges(&mut session);
    errors(&mut session);
    copies(&mut session);
    a_wait_for_a_lock_is_retryable(&server);
    timeouts(&server);
    goodbyes(&server);
}

fn logins(server: &Server) {
    let mut admin = server.session();
    assert_eq!(admin.info().authentication, "trust");
    for sql in [
        "SET password_encryption = 'scram-sha-256'",
        "CREATE ROLE scram LOGIN PASSWORD 'sécret'",
        "CREATE ROLE clear LOGIN PASSWORD 'plain'",
        "SET password_encryption = 'md5'",
        "CREATE ROLE md5 LOGIN PASSWORD 'hash''d'",
    ] {
        admin.execute(sql).unwrap();
    }
    for (user, password, method) in [
        ("scram", "sécret", "scram-sha-256"),
        ("clear", "plain", "password"),
        ("md5", "hash'd", "md5"),
    ] {
        let mut session = server.connector(user, password, PATIENT).session().unwrap();
        assert_eq!(session.info().authentication, method);
        assert_eq!(
            column(&mut session, "SELECT current_user"),
            [Some(user.to_owned())]
        );
        let wrong = server
            .connector(user, "wrong", PATIENT)
            .session()
            .unwrap_err();
        assert!(wrong.to_string().contains("28P01"), "{wrong}");
        let none = server.connector(user, "", PATIENT).session().unwrap_err();
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
    assert_eq!(
        column(session, "SELECT sum(id) FROM t"),
        [Some("1275".to_owned())]
    );
    assert_eq!(
        session.execute("DELETE FROM t WHERE id > 48").unwrap(),
        changed(2)
    );
    assert_eq!(
        session
            .execute("UPDATE t SET small = 7 WHERE id < 4")
            .unwrap(),
        changed(3)
    );
    assert_eq!(
        session
            .execute("CREATE TABLE copy AS SELECT * FROM t")
            .unwrap(),
        changed(48)
    );
    assert_eq!(session.execute("").unwrap(), Done::default());
    // NULL, and the text form of every type.
    let mut row_of = None;
    session
        .query(
            "SELECT NULL, big, at, flag FROM t WHERE id = 2",
            &mut |row| {
                let texts: Vec<_> = (0..row.len()).map(|i| row.value(i).to_text()).collect();
                row_of = Some(texts);
            },
        )
        .unwrap();
    let wanted = [
        None,
        Some("2000000000"),
        Some("2026-11-21 10:00:02"),
        Some("t"),
    ];
    assert_eq!(row_of.unwrap(), wanted.map(|text| text.map(str::to_owned)));
}

fn prepared_insert(session: &mut dyn Session) {
    let types = [
        ParamType::Int,
        ParamType::Int,
        ParamType::DateTime,
        ParamType::Text,
    ];
    let insert = session
        .prepare(
            "INSERT INTO t (id, big, at, name) VALUES ($1, $2, $3, $4)",
            &types,
        )
        .unwrap();
    for id in 101..=300 {
        let params = [
            Param::Int(id),
            Param::Int(i64::MIN + id),
            Param::Text("2026-11-21 10:00:00"),
            Param::Text("naïve 'quoted'"),
        ];
        let done = session
            .execute_prepared(insert, &params, &mut |_| ())
            .unwrap();
        assert_eq!(done, changed(1));
    }
    // A server's error in the extended protocol leaves session and statement usable.
    let duplicate = [
        Param::Int(101),
        Param::Int(0),
        Param::Text("2026-11-21 10:00:00"),
        Param::Text(""),
    ];
    let error = session
        .execute_prepared(insert, &duplicate, &mut |_| ())
        .unwrap_err();
    assert_eq!(error.code(), "23505");
    assert!(
        error
            .to_string()
            .contains("(detail: Key (id)=(101) already exists.)"),
        "{error}"
    );
    let no_time = [
        Param::Int(999),
        Param::Int(0),
        Param::Text("never"),
        Param::Text(""),
    ];
    let error = session
        .execute_prepared(insert, &no_time, &mut |_| ())
        .unwrap_err();
    assert_eq!(error.code(), "22007");
    let zero_byte = [
        Param::Int(999),
        Param::Int(0),
        Param::Text("2026-11-21 10:00:00"),
        Param::Text("a\0b"),
    ];
    let error = session
        .execute_prepared(insert, &zero_byte, &mut |_| ())
        .unwrap_err();
    assert_eq!(error.code(), "22021");
    assert_eq!(
        column(session, "SELECT count(*) FROM t WHERE id > 100"),
        [Some("200".to_owned())]
    );
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
    assert_eq!(
        (seen, done),
        (
            1,
            Done {
                rows: 1,
                affected: 0
            }
        )
    );
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
    let none = session
        .execute_prepared(select, &[Param::Int(-1)], &mut |_| ())
        .unwrap();
    assert_eq!(none, Done::default());
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
    // More than the first read buffer holds, in one row and in many.
    let wide = column(session, "SELECT repeat('x', 1000000)");
    assert_eq!(wide[0].as_ref().unwrap().len(), 1_000_000);
    assert_eq!(
        session
            .execute("SELECT generate_series(1, 20000)")
            .unwrap()
            .rows,
        20_000
    );
}

fn errors(session: &mut dyn Session) {
    let bad = session.execute("SELEKT 1").unwrap_err();
    assert_eq!(bad.code(), "42601");
    assert!(bad.to_string().contains("(in `SELEKT 1`)"), "{bad}");
    let duplicate = session
        .execute("INSERT INTO t (id) VALUES (1)")
        .unwrap_err();
    assert_eq!(duplicate.code(), "23505");
    let unknown = session.prepare("SELECT nothing FROM t", &[]).unwrap_err();
    assert_eq!(unknown.code(), "42703");
    let count = session.prepare("SELECT $1::int", &[]).unwrap_err();
    assert_eq!(count.code(), "08P01");
    let nul = session.execute("SELECT 1\0").unwrap_err();
    assert_eq!(nul.code(), "08P01");
    let excerpt = session
        .execute(&format!("SELEKT {}", "x".repeat(500)))
        .unwrap_err();
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
    for (sql, code) in [
        ("COPY t (id) FROM STDIN", "57014"),
        ("COPY t TO STDOUT", "0A000"),
    ] {
        let copy = session.prepare(sql, &[]).unwrap();
        let error = session
            .execute_prepared(copy, &[], &mut |_| ())
            .unwrap_err();
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
    assert_eq!(
        (locked.code(), locked.class()),
        ("55P03", ErrorClass::Retryable)
    );
    holder.execute("ROLLBACK").unwrap();
}

fn timeouts(server: &Server) {
    let limit = Duration::from_millis(150);
    let mut session = server.connector("postgres", "", limit).session().unwrap();
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
    watcher
        .execute(&format!("SELECT pg_terminate_backend({backend})"))
        .unwrap();
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
