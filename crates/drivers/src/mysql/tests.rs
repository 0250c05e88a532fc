//! Whole sessions against a scripted server, and against bytes that no server would send.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::auth::Method;
use super::column::tests::definition;
use super::handshake::tests::greeting;
use super::packets::Packets;
use super::{MysqlConnector, MysqlSession};
use crate::stream::Stream;
use crate::{
    Address, Done, ErrorClass, Login, Param, ParamType, Row, Session, SessionError, SessionInfo,
    Value,
};

const OK: &[u8] = b"\0\0\0\x02\0\0\0";
const END: &[u8] = b"\xfe\0\0\x02\0";
const NONCE: &[u8; 20] = b"0123456789abcdefghij";
const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

/// The server's end of a connection.
struct Peer {
    socket: UnixStream,
    sequence: u8,
}

impl Peer {
    fn send(&mut self, payload: &[u8]) {
        self.offer(payload).unwrap();
    }

    /// Sends what the client may no longer wait for.
    fn offer(&mut self, payload: &[u8]) -> std::io::Result<()> {
        let mut packet = (payload.len() as u32).to_le_bytes();
        packet[3] = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        self.socket.write_all(&packet)?;
        self.socket.write_all(payload)
    }

    fn receive(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header).unwrap();
        self.sequence = header[3].wrapping_add(1);
        header[3] = 0;
        let mut payload = vec![0; u32::from_le_bytes(header) as usize];
        self.socket.read_exact(&mut payload).unwrap();
        payload
    }

    /// Lets the client in without a password.
    fn let_in(&mut self) {
        self.send(&greeting("8.0.33", NATIVE));
        self.receive();
        self.send(OK);
    }
}

/// A server for one connection that does as `script` says.
fn serve(script: impl FnOnce(Peer) + Send + 'static) -> (Scripted, MysqlConnector) {
    serve_login("", script)
}

struct Scripted {
    thread: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl Scripted {
    fn finish(self) {
        self.thread.join().unwrap();
    }
}

fn serve_login(
    password: &str,
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Scripted, MysqlConnector) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let thread = std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        script(Peer {
            socket,
            sequence: 0,
        });
    });
    let login = Login {
        user: "tester".to_owned(),
        password: password.to_owned(),
        database: "ib".to_owned(),
    };
    let connector = MysqlConnector::new(Address::Socket(path), login, Duration::from_millis(200));
    (Scripted { thread, _dir: dir }, connector)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn native_password_is_proved_and_the_session_says_who_it_is() {
    let (server, connector) = serve_login("secret", |mut peer| {
        peer.send(&greeting("5.5.5-10.11.18-MariaDB-0+deb12u1", NATIVE));
        let response = peer.receive();
        let proof = Method::NativePassword.prove("secret", NONCE);
        assert!(contains(&response, b"tester\0\x14"));
        assert!(contains(&response, &proof));
        assert!(response.ends_with(b"ib\0mysql_native_password\0"));
        // Neither local files, compression, several statements, nor TLS.
        let flags = u32::from_le_bytes(*response.first_chunk().unwrap());
        assert_eq!(flags & (1 << 7 | 1 << 5 | 1 << 16 | 1 << 11), 0);
        peer.send(OK);
        assert_eq!(peer.receive(), b"\x01");
    });
    let session = connector.open().unwrap();
    assert_eq!(
        session.info(),
        &SessionInfo {
            server_version: "10.11.18-MariaDB-0+deb12u1".to_owned(),
            backend: Some(42),
            authentication: NATIVE.to_owned(),
            tls: None,
        }
    );
    drop(session);
    server.finish();
}

#[test]
fn caching_sha2_takes_the_fast_path() {
    let (server, connector) = serve_login("secret", |mut peer| {
        peer.send(&greeting("8.0.33", SHA2));
        let proof = Method::CachingSha2Password.prove("secret", NONCE);
        assert!(contains(&peer.receive(), &proof));
        peer.send(b"\x01\x03");
        peer.send(OK);
        peer.receive();
    });
    let session = connector.open().unwrap();
    assert_eq!(session.info().authentication, SHA2);
    drop(session);
    server.finish();
}

#[test]
fn caching_sha2_sends_the_password_over_the_socket() {
    let (server, connector) = serve_login("secret", |mut peer| {
        peer.send(&greeting("9.7.4", SHA2));
        peer.receive();
        peer.send(b"\x01\x04");
        assert_eq!(peer.receive(), b"secret\0");
        peer.send(OK);
        peer.receive();
    });
    drop(connector.open().unwrap());
    server.finish();
}

#[test]
fn caching_sha2_does_not_send_the_password_over_tcp() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        let mut peer = Peer {
            socket: theirs,
            sequence: 0,
        };
        peer.send(&greeting("9.7.4", SHA2));
        peer.receive();
        peer.send(b"\x01\x04");
        let mut rest = Vec::new();
        peer.socket.read_to_end(&mut rest).unwrap();
        rest
    });
    let address = Address::Tcp {
        host: "db".to_owned(),
        port: 3306,
    };
    let login = Login {
        user: "tester".to_owned(),
        password: "secret".to_owned(),
        database: String::new(),
    };
    let stream = Stream::over(ours.into(), false, Duration::from_secs(5));
    let error = MysqlSession::log_in(stream, &address, &login).unwrap_err();
    assert_eq!(error.code(), "login");
    let text = error.to_string();
    assert!(
        text.contains("db:3306") && text.contains("Unix socket"),
        "{text}"
    );
    assert_eq!(server.join().unwrap(), b"");
}

#[test]
fn the_server_may_change_the_method() {
    let (server, connector) = serve_login("secret", |mut peer| {
        peer.send(&greeting("8.0.33", SHA2));
        peer.receive();
        peer.send(b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0");
        let nonce = b"ABCDEFGHIJKLMNOPQRST";
        assert_eq!(
            peer.receive(),
            Method::NativePassword.prove("secret", nonce)
        );
        peer.send(OK);
        peer.receive();
    });
    let session = connector.open().unwrap();
    assert_eq!(session.info().authentication, NATIVE);
    drop(session);
    server.finish();
}

#[test]
fn an_empty_password_stays_empty() {
    let (server, connector) = serve(|mut peer| {
        peer.send(&greeting("8.0.33", SHA2));
        assert!(contains(&peer.receive(), b"tester\0\0ib\0"));
        peer.send(b"\xfecaching_sha2_password\0ABCDEFGHIJKLMNOPQRST\0");
        assert_eq!(peer.receive(), b"");
        peer.send(OK);
        peer.receive();
    });
    drop(connector.open().unwrap());
    server.finish();
}

#[test]
fn refusals_say_why_and_what_to_do() {
    for (reply, expected) in [
        (
            b"\xff\x15\x04#28000Access denied for user".as_slice(),
            "Access denied for user (error 1045)",
        ),
        (b"\xfeclient_ed25519\0xyz", "`client_ed25519`"),
        (b"\xfe", "`mysql_old_password`"),
    ] {
        let (server, connector) = serve(move |mut peer| {
            peer.send(&greeting("8.0.33", NATIVE));
            peer.receive();
            peer.send(reply);
        });
        let error = connector.open().unwrap_err();
        assert_eq!(error.code(), "login");
        assert!(error.to_string().contains(expected), "{error}");
        server.finish();
    }
    let (server, connector) = serve(|mut peer| peer.send(b"\xff\x10\x04Too many connections"));
    let error = connector.open().unwrap_err().to_string();
    assert!(
        error.contains("Too many connections (error 1040)"),
        "{error}"
    );
    server.finish();
}

#[test]
fn a_login_without_end_is_refused() {
    let (server, connector) = serve(|mut peer| {
        peer.send(&greeting("8.0.33", SHA2));
        peer.receive();
        let sent = (0..20).take_while(|_| peer.offer(b"\x01\x03").is_ok());
        assert!(sent.count() > 1, "the client left at once");
    });
    let error = connector.open().unwrap_err().to_string();
    assert!(error.contains("too many packets"), "{error}");
    server.finish();
}

#[test]
fn rows_come_in_text_and_in_binary() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        assert_eq!(peer.receive(), b"\x03select id, c from t");
        peer.send(b"\x02");
        peer.send(&definition(3, 0, 0));
        peer.send(&definition(253, 0, 0));
        peer.send(END);
        peer.send(b"\x017\xfb");
        peer.send(b"\x018\x01x");
        peer.send(END);
        assert_eq!(peer.receive(), b"\x16select id, c from t where id = ?");
        peer.send(b"\0\x05\0\0\0\x02\0\x01\0\0\0\0");
        peer.send(&definition(8, 0, 0));
        peer.send(END);
        peer.send(&definition(3, 0, 0));
        peer.send(&definition(253, 0, 0));
        peer.send(END);
        for types in [b"\x01\x08\0".as_slice(), b"\0"] {
            let head = b"\x17\x05\0\0\0\0\x01\0\0\0\0";
            let value = b"\x07\0\0\0\0\0\0\0";
            assert_eq!(peer.receive(), [head, types, value].concat());
            peer.send(b"\x02");
            peer.send(&definition(3, 0, 0));
            peer.send(&definition(253, 0, 0));
            peer.send(END);
            peer.send(b"\0\x08\x07\0\0\0");
            peer.send(END);
        }
        assert_eq!(peer.receive(), b"\x01");
    });
    let mut session = connector.open().unwrap();
    let mut rows = Vec::new();
    let done = session
        .query("select id, c from t", &mut |row| {
            rows.push((row.value(0).as_int(), row.value(1).to_text()));
        })
        .unwrap();
    assert_eq!(
        done,
        Done {
            rows: 2,
            affected: 0
        }
    );
    assert_eq!(rows, [(Some(7), None), (Some(8), Some("x".to_owned()))]);
    let statement = session
        .prepare("select id, c from t where id = ?", &[ParamType::Int])
        .unwrap();
    for _ in 0..2 {
        let mut seen = 0;
        let done = session
            .execute_prepared(statement, &[Param::Int(7)], &mut |row| {
                assert_eq!(row.value(0), Value::Int(7));
                assert_eq!(row.value(1), Value::Null);
                seen += 1;
            })
            .unwrap();
        assert_eq!((done.rows, seen), (1, 1));
    }
    drop(session);
    server.finish();
}

#[test]
fn a_procedure_may_return_several_results() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        peer.send(b"\x01");
        peer.send(&definition(3, 0, 0));
        peer.send(END);
        peer.send(b"\x017");
        peer.send(b"\xfe\0\0\x0a\0");
        peer.send(b"\0\x03\0\x02\0\0\0");
    });
    let mut session = connector.open().unwrap();
    let done = session.execute("call p()").unwrap();
    assert_eq!(
        done,
        Done {
            rows: 1,
            affected: 3
        }
    );
    server.finish();
}

#[test]
fn a_server_error_names_the_statement_and_the_session_goes_on() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        peer.send(b"\xff\xbd\x04#40001Deadlock found");
        peer.receive();
        peer.send(b"\0\x32\0\x02\0\0\0");
        peer.receive();
    });
    let mut session = connector.open().unwrap();
    let sql = format!("insert into t values {}", "(1),".repeat(100));
    let error = session.execute(&sql).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Retryable);
    let SessionError::Server {
        code,
        message,
        statement,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (code.as_str(), message.as_str(), statement.as_str()),
        ("1213", "Deadlock found", &sql[..120])
    );
    assert_eq!(session.execute("insert").unwrap().affected, 50);
    drop(session);
    server.finish();
}

#[test]
fn a_hang_is_a_timeout_and_a_close_is_a_loss() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        // Until the client hangs up.
        let _ = peer.socket.read(&mut [0; 16]);
    });
    let mut session = connector.open().unwrap();
    let before = Instant::now();
    let error = session.execute("select sleep(10)").unwrap_err();
    assert!(before.elapsed() >= Duration::from_millis(200));
    assert_eq!(
        error.to_string(),
        "no answer within 200ms (to `select sleep(10)`)"
    );
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");
    server.finish();

    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
    });
    let mut session = connector.open().unwrap();
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");
    server.finish();
}

#[test]
fn a_silent_login_is_a_timeout() {
    let (server, connector) = serve(|mut peer| {
        let _ = peer.socket.read(&mut [0; 16]);
    });
    let error = connector.open().unwrap_err().to_string();
    assert_eq!(error, "no answer within 200ms (to `login`)");
    server.finish();
}

#[test]
fn a_request_for_a_local_file_ends_the_session() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        peer.send(b"\xfb/etc/passwd");
        let mut rest = Vec::new();
        peer.socket.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"");
    });
    let mut session = connector.open().unwrap();
    let error = session.execute("load data").unwrap_err();
    assert!(error.to_string().contains("local file"), "{error}");
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");
    server.finish();
}

#[test]
fn as_many_types_as_placeholders() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        peer.send(b"\0\x05\0\0\0\0\0\x01\0\0\0\0");
        peer.send(&definition(8, 0, 0));
        peer.send(END);
        assert_eq!(peer.receive(), b"\x19\x05\0\0\0");
        assert_eq!(peer.receive(), b"\x03do 1");
        peer.send(OK);
        peer.receive();
    });
    let mut session = connector.open().unwrap();
    let error = session.prepare("do ?", &[]).unwrap_err().to_string();
    assert!(
        error.contains("0 parameter types were given for 1"),
        "{error}"
    );
    // Nothing was lost.
    session.execute("do 1").unwrap();
    drop(session);
    server.finish();
}

/// A session whose server has already said all that it will ever say.
fn session_over(replies: &[u8]) -> (MysqlSession, UnixStream) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(replies).unwrap();
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    let stream = Stream::over(ours.into(), true, Duration::from_secs(5));
    let session = MysqlSession::over(Packets::new(stream), SessionInfo::default());
    (session, theirs)
}

/// Packets in the order of a reply to a command.
fn framed(payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (sequence, payload) in (1_u8..).zip(payloads) {
        let mut header = (payload.len() as u32).to_le_bytes();
        header[3] = sequence;
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(payload);
    }
    bytes
}

fn touch(row: &dyn Row) {
    for column in 0..=row.len() {
        let value = row.value(column);
        let _ = (value.as_int(), value.to_text());
    }
}

/// Runs every kind of call over the same bytes. Whatever they are, it ends, with an answer or an error.
fn survive(replies: &[u8]) {
    let (mut session, _peer) = session_over(replies);
    let _ = session.query("select", &mut touch);

    let (mut session, _peer) = session_over(replies);
    if let Ok(id) = session.prepare("select ?", &[ParamType::Int]) {
        let _ = session.execute_prepared(id, &[Param::Int(1)], &mut touch);
    }

    // A prepare that works, then the bytes in question (as the next command's reply).
    let prepared = framed(&[
        b"\0\x05\0\0\0\0\0\x01\0\0\0\0".to_vec(),
        definition(8, 0, 0),
        END.to_vec(),
    ]);
    let (mut session, _peer) = session_over(&[prepared.as_slice(), replies].concat());
    let id = session.prepare("select ?", &[ParamType::Int]).unwrap();
    let _ = session.execute_prepared(id, &[Param::Int(1)], &mut touch);
}

/// A valid reply with rows of every kind of column, to be broken in places.
fn valid_result() -> Vec<u8> {
    let kinds = [1, 2, 3, 8, 4, 5, 10, 12, 11, 253, 246, 6];
    let mut payloads = vec![vec![kinds.len() as u8]];
    payloads.extend(kinds.map(|kind| definition(kind, 0x20, 6)));
    payloads.push(END.to_vec());
    let mut row = vec![0, 0, 0x20, 1, 2, 2, 3, 3, 3, 3, 8, 8, 8, 8, 8, 8, 8, 0xff];
    row.extend_from_slice(&[0; 4 + 8]);
    row.extend_from_slice(b"\x04\xea\x07\x0b\x15\x07\xea\x07\x0b\x15\x0a\0\0");
    row.extend_from_slice(b"\x08\0\x01\0\0\0\x01\x02\x03\x03abc\x0212");
    payloads.extend([row.clone(), row, END.to_vec()]);
    framed(&payloads)
}

#[test]
fn the_valid_result_is_valid() {
    let prepared = framed(&[b"\0\x05\0\0\0\0\0\0\0\0\0\0".to_vec()]);
    let (mut session, _peer) = session_over(&[prepared, valid_result()].concat());
    let id = session.prepare("select", &[]).unwrap();
    let mut shown = Vec::new();
    let done = session
        .execute_prepared(id, &[], &mut |row| {
            shown.push(row.value(7).to_text());
            assert_eq!(row.value(3).to_text().unwrap(), "18376947110072813576");
        })
        .unwrap();
    assert_eq!(done.rows, 2);
    assert_eq!(shown[0].as_deref(), Some("2026-11-21 10:00:00.000000"));
}

#[test]
fn truncated_results_are_errors() {
    let whole = valid_result();
    for length in 0..whole.len() {
        let (mut session, _peer) = session_over(&whole[..length]);
        assert!(session.execute("select").is_err(), "{length}");
        survive(&whole[..length]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_never_panic(replies in proptest::collection::vec(any::<u8>(), 0..400)) {
        survive(&replies);
    }

    #[test]
    fn random_packets_never_panic(
        payloads in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..40), 0..12,
        ),
    ) {
        survive(&framed(&payloads));
    }

    #[test]
    fn damaged_results_never_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut replies = valid_result();
        for (place, byte) in damage {
            let place = place.index(replies.len());
            replies[place] = byte;
        }
        survive(&replies);
    }

    #[test]
    fn random_logins_never_panic(
        greet in any::<bool>(),
        payloads in proptest::collection::vec(
            proptest::collection::vec(any::<u8>(), 0..40), 0..6,
        ),
    ) {
        let mut bytes = Vec::new();
        let mut sequence = 0_u8;
        let first = greet.then(|| greeting("8.0.33", SHA2));
        for payload in first.iter().chain(&payloads) {
            let mut header = (payload.len() as u32).to_le_bytes();
            header[3] = sequence;
            // The client's own packet stands between any two of the server's.
            sequence = sequence.wrapping_add(2);
            bytes.extend_from_slice(&header);
            bytes.extend_from_slice(payload);
        }
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(&bytes).unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        let stream = Stream::over(ours.into(), true, Duration::from_secs(5));
        let login = Login {
            user: "u".to_owned(),
            password: "p".to_owned(),
            database: String::new(),
        };
        let address = Address::Socket("s.sock".into());
        let _ = MysqlSession::log_in(stream, &address, &login);
    }
}
