//! Whole sessions against a scripted server, and against bytes that no server would send.

mod compression;
mod load;
mod login;
mod pipeline;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::MysqlSession;
use super::auth::Method;
use super::column::tests::definition;
use super::handshake::Agreed;
use super::handshake::tests::greeting;
use super::packets::Packets;
use crate::stream::Stream;
use crate::{
    Address, Done, Login, Param, ParamType, Row, ServerEndpoint, Session, SessionError,
    SessionInfo, Value,
};

const OK: &[u8] = b"\0\0\0\x02\0\0\0";
const END: &[u8] = b"\xfe\0\0\x02\0";
const NONCE: &[u8; 20] = b"0123456789abcdefghij";
const NATIVE: &str = "mysql_native_password";
const SHA2: &str = "caching_sha2_password";

/// The server's end of a connection.
struct Peer<S = UnixStream> {
    socket: S,
    sequence: u8,
}

impl<S: Read + Write> Peer<S> {
    fn send(&mut self, payload: &[u8]) {
        self.offer(payload).unwrap();
    }

    /// Sends what the client may no longer wait for.
    fn offer(&mut self, payload: &[u8]) -> std::io::Result<()> {
        let mut packet = (payload.len() as u32).to_le_bytes();
        packet[3] = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        self.socket.write_all(&packet)?;
        self.socket.write_all(payload)?;
        self.socket.flush()
    }

    fn receive(&mut self) -> Vec<u8> {
        self.hear().unwrap()
    }

    /// The client's next packet, if it sends one.
    fn hear(&mut self) -> std::io::Result<Vec<u8>> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header)?;
        self.sequence = header[3].wrapping_add(1);
        header[3] = 0;
        let mut payload = vec![0; u32::from_le_bytes(header) as usize];
        self.socket.read_exact(&mut payload)?;
        Ok(payload)
    }

    /// Lets the client in without a password.
    fn let_in(&mut self) {
        self.send(&greeting("8.0.33", NATIVE));
        self.receive();
        self.send(OK);
    }
}

/// A server for one connection that does as `script` says.
fn serve(script: impl FnOnce(Peer) + Send + 'static) -> (Scripted, ServerEndpoint) {
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
) -> (Scripted, ServerEndpoint) {
    serve_endpoint(password, |_| (), script)
}

/// The same, after `change` has changed how it is reached.
fn serve_endpoint(
    password: &str,
    change: impl FnOnce(&mut ServerEndpoint),
    script: impl FnOnce(Peer) + Send + 'static,
) -> (Scripted, ServerEndpoint) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let thread = std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        script(Peer { socket, sequence: 0 });
    });
    let mut server = endpoint(Address::Socket(path), password);
    change(&mut server);
    (Scripted { thread, _dir: dir }, server)
}

fn endpoint(address: Address, password: &str) -> ServerEndpoint {
    let login = Login {
        user: "tester".to_owned(),
        password: password.to_owned(),
        database: "ib".to_owned(),
    };
    ServerEndpoint::plain(address, login, Duration::from_millis(200))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
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
    let mut session = MysqlSession::open(&connector).unwrap();
    let mut rows = Vec::new();
    let done = session
        .query("select id, c from t", &mut |row| {
            rows.push((row.value(0).as_int(), row.value(1).to_text()));
        })
        .unwrap();
    assert_eq!(done, Done { rows: 2, affected: 0, columns: 2 });
    assert_eq!(rows, [(Some(7), None), (Some(8), Some("x".to_owned()))]);
    let statement = session.prepare("select id, c from t where id = ?", &[ParamType::Int]).unwrap();
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
    let mut session = MysqlSession::open(&connector).unwrap();
    let done = session.execute("call p()").unwrap();
    assert_eq!(done, Done { rows: 1, affected: 3, columns: 1 });
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
    let mut session = MysqlSession::open(&connector).unwrap();
    let sql = format!("insert into t values {}", "(1),".repeat(100));
    let error = session.execute(&sql).unwrap_err();
    assert!(error.is_retryable());
    let SessionError::Server { code, message, statement, .. } = error else {
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
fn an_error_may_end_a_description_too() {
    let killed = [b"\xff\x25\x05#70100Query execution was interrupted".to_vec()];
    let prepared = b"\0\x05\0\0\0\x01\0\x01\0\0\0\0".to_vec();
    let int = definition(8, 0, 0);
    let rows = [vec![1], int.clone(), END.to_vec(), b"\x017".to_vec(), END.to_vec()];
    for length in 0..=3 {
        let cut = |whole: &[Vec<u8>]| framed(&[&whole[..length], &killed].concat());
        // The next answer may be described like the one that was cut.
        let replies = [cut(&rows), framed(&rows)].concat();
        let (mut session, _peer) = session_over(&replies);
        assert_eq!(session.execute("select 1").unwrap_err().code(), "1317");
        assert_eq!(session.execute("select 1").unwrap().rows, 1);

        let replies = cut(&[prepared.clone(), int.clone(), END.to_vec()]);
        let (mut session, _peer) = session_over(&[replies, framed(&[OK.to_vec()])].concat());
        let refused = session.prepare("select ?", &[ParamType::Int]);
        assert_eq!(refused.unwrap_err().code(), "1317");
        session.execute("do 1").unwrap();
    }
}

#[test]
fn a_hang_is_a_timeout_and_a_close_is_a_loss() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        // Until the client hangs up.
        let _ = peer.socket.read(&mut [0; 16]);
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let before = Instant::now();
    let error = session.execute("select sleep(10)").unwrap_err();
    assert!(before.elapsed() >= Duration::from_millis(200));
    assert_eq!(error.to_string(), "no answer within 200ms (to `select sleep(10)`)");
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");
    server.finish();

    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    assert_eq!(session.execute("select 1").unwrap_err().code(), "lost");
    server.finish();
}

#[test]
fn a_silent_login_is_a_timeout() {
    let (server, connector) = serve(|mut peer| {
        let _ = peer.socket.read(&mut [0; 16]);
    });
    let error = MysqlSession::open(&connector).unwrap_err().to_string();
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
    let mut session = MysqlSession::open(&connector).unwrap();
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
    let mut session = MysqlSession::open(&connector).unwrap();
    let error = session.prepare("do ?", &[]).unwrap_err().to_string();
    assert!(error.contains("has 1 parameters, 0 were given"), "{error}");
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
    let agreed = Agreed { local_files: true, ..Agreed::default() };
    (MysqlSession::over(Packets::new(stream), agreed), theirs)
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
    let prepared =
        framed(&[b"\0\x05\0\0\0\0\0\x01\0\0\0\0".to_vec(), definition(8, 0, 0), END.to_vec()]);
    let prepared = [prepared.as_slice(), replies].concat();
    let (mut session, _peer) = session_over(&prepared);
    let id = session.prepare("select ?", &[ParamType::Int]).unwrap();
    let _ = session.execute_prepared(id, &[Param::Int(1)], &mut touch);

    let (mut session, _peer) = session_over(&prepared);
    let id = session.prepare("select ?", &[ParamType::Int]).unwrap();
    let params = [Param::Int(1)];
    let one = (id, params.as_slice());
    let _ = session.execute_pipelined(&[one; 3], &mut |_, row| touch(row), &mut |_, _| ());

    let (mut session, _peer) = session_over(replies);
    let mut once = [b"1\n".as_slice()].into_iter();
    let _ = session.load_rows("t", &[], &mut |out| {
        let row = once.next();
        out.extend_from_slice(row.unwrap_or_default());
        row.is_some()
    });
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
fn columns_that_are_known_are_not_described_again() {
    let stream = |replies: &[u8]| {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(replies).unwrap();
        (Stream::over(ours.into(), true, Duration::from_secs(5)), theirs)
    };
    // Prepared with a column, which three results do not describe again; a fourth does.
    let prepared =
        framed(&[b"\0\x05\0\0\0\x01\0\0\0\0\0\0".to_vec(), definition(8, 0, 0), END.to_vec()]);
    let row = |number: u8| vec![0, 0, number, 0, 0, 0, 0, 0, 0, 0];
    let known = |number| framed(&[vec![1, 0], END.to_vec(), row(number), END.to_vec()]);
    let described =
        framed(&[vec![1, 1], definition(1, 0, 0), END.to_vec(), vec![0, 0, 4], END.to_vec()]);
    let said = [prepared, known(1), known(2), known(3), described].concat();
    let (stream, _peer) = stream(&said);
    let agreed = Agreed { known_columns: true, ..Agreed::default() };
    let mut session = MysqlSession::over(Packets::new(stream), agreed);
    let id = session.prepare("select", &[]).unwrap();
    for expected in 1..=4 {
        let mut shown = None;
        let mut each = |row: &dyn Row| shown = row.value(0).as_int();
        session.execute_prepared(id, &[], &mut each).unwrap();
        assert_eq!(shown, Some(expected));
    }
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
        let address = Address::Tcp {
            host: "db".to_owned(),
            port: 3306,
        };
        let _ = MysqlSession::log_in(stream, &endpoint(address, "p"));
    }
}
