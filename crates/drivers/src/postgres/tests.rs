//! Sessions against a scripted server on a Unix socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::*;
use crate::{Address, Login, SessionError};

mod copy;
mod pipeline;
mod tls;

const PATIENT: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(100);

/// A connection of either kind.
trait Socket: Read + Write + Send {}
impl<S: Read + Write + Send> Socket for S {}

/// The server's side of one connection.
struct Peer(Box<dyn Socket>);

impl Peer {
    /// The startup message's parameters, zero bytes as commas.
    fn startup(&mut self) -> String {
        let body = self.body();
        assert_eq!(&body[..4], [0, 3, 0, 0]);
        String::from_utf8(body[4..].to_vec()).unwrap().replace('\0', ",")
    }

    /// The next message of the client: its kind and its body; `None` when it has closed.
    fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut kind = [0];
        match self.0.read_exact(&mut kind) {
            Ok(()) => Some((kind[0], self.body())),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            Err(error) => panic!("{error}"),
        }
    }

    fn body(&mut self) -> Vec<u8> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        self.0.read_exact(&mut body).unwrap();
        body
    }

    fn send(&mut self, kind: u8, body: &[u8]) {
        let mut bytes = Vec::new();
        encode::message(&mut bytes, kind, |to| to.extend_from_slice(body));
        self.0.write_all(&bytes).unwrap();
    }

    fn authentication(&mut self, request: u32, data: &[u8]) {
        self.send(b'R', &[&request.to_be_bytes(), data].concat());
    }

    fn welcome(&mut self) {
        self.authentication(0, b"");
        self.send(b'S', b"server_version\x0016.4 (Debian)\0");
        self.send(b'K', b"\0\0\x30\x39secr");
        self.send(b'Z', b"I");
    }
}

/// A server that plays `script` on its first connection.
struct Fake {
    address: Address,
    thread: JoinHandle<()>,
    _dir: Option<tempfile::TempDir>,
}

impl Fake {
    /// On a Unix socket.
    fn new(script: impl FnOnce(&mut Peer) + Send + 'static) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            script(&mut Peer(Box::new(stream)));
        });
        Self { address: Address::Socket(path), thread, _dir: Some(dir) }
    }

    /// On TCP.
    fn tcp(script: impl FnOnce(&mut Peer) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        };
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            script(&mut Peer(Box::new(stream)));
        });
        Self { address, thread, _dir: None }
    }

    fn endpoint(&self, timeout: Duration) -> ServerEndpoint {
        let login = Login {
            user: "md5_user".to_owned(),
            password: "password".to_owned(),
            database: "bench".to_owned(),
        };
        ServerEndpoint::plain(self.address.clone(), login, timeout)
    }

    fn connect(&self, timeout: Duration) -> Result<PostgresSession, SessionError> {
        PostgresSession::open(&self.endpoint(timeout))
    }

    /// Waits for the end of the script, whose assertions count.
    fn end(self) {
        self.thread.join().unwrap();
    }
}

#[test]
fn a_trusting_server_lets_us_in_and_hears_goodbye() {
    let fake = Fake::new(|peer| {
        assert_eq!(
            peer.startup(),
            "user,md5_user,database,bench,application_name,backslide,client_encoding,UTF8,,"
        );
        peer.welcome();
        assert_eq!(peer.read(), Some((b'X', Vec::new())));
        assert_eq!(peer.read(), None);
    });
    let session = fake.connect(PATIENT).unwrap();
    let info = SessionInfo {
        server_version: "16.4 (Debian)".to_owned(),
        backend: Some(12345),
        authentication: "trust".to_owned(),
        tls: None,
    };
    assert_eq!(session.info(), &info);
    drop(session);
    fake.end();
}

#[test]
fn md5_and_cleartext_send_what_the_server_asks_for() {
    // The vector of the `postgres-protocol` crate's own test.
    let md5 = Fake::new(|peer| {
        peer.startup();
        peer.authentication(5, &[0x2a, 0x3d, 0x8f, 0xe0]);
        let hash = b"md562af4dd09bbb41884907a838a3233294\0".to_vec();
        assert_eq!(peer.read(), Some((b'p', hash)));
        peer.welcome();
    });
    assert_eq!(md5.connect(PATIENT).unwrap().info().authentication, "md5");
    md5.end();
    let cleartext = Fake::new(|peer| {
        peer.startup();
        peer.authentication(3, b"");
        assert_eq!(peer.read(), Some((b'p', b"password\0".to_vec())));
        peer.welcome();
    });
    assert_eq!(cleartext.connect(PATIENT).unwrap().info().authentication, "password");
    cleartext.end();
}

#[test]
fn a_password_in_clear_text_is_refused_where_others_could_read_it() {
    let listener = Fake::tcp(|peer| {
        peer.startup();
        peer.authentication(3, b"");
        assert_eq!(peer.read(), None, "nothing follows the request");
    });
    let error = listener.connect(PATIENT).unwrap_err();
    assert_eq!(error.code(), "login");
    let text = error.to_string();
    assert!(text.contains("clear text"), "{text}");
    assert!(text.contains("TLS or over the Unix socket"), "{text}");
    listener.end();
}

/// Reads the client's first SASL message and returns its nonce.
fn scram_first(peer: &mut Peer) -> String {
    peer.startup();
    peer.authentication(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
    let (kind, body) = peer.read().unwrap();
    assert_eq!(kind, b'p');
    let mechanism = b"SCRAM-SHA-256\0";
    assert!(body.starts_with(mechanism));
    let first = String::from_utf8(body[mechanism.len() + 4..].to_vec()).unwrap();
    first.strip_prefix("n,,n=,r=").unwrap().to_owned()
}

/// The server's first SASL message, for the client's nonce or another.
fn scram_continue(peer: &mut Peer, nonce: &str) {
    let first = format!("r={nonce}server,s=QSXCR+Q6sek8bf92,i=4096");
    peer.authentication(11, first.as_bytes());
}

#[test]
fn scram_refuses_a_server_that_does_not_know_the_password() {
    let wrong_proof = Fake::new(|peer| {
        let nonce = scram_first(peer);
        scram_continue(peer, &nonce);
        let (_, last) = peer.read().unwrap();
        let last = String::from_utf8(last).unwrap();
        assert!(last.starts_with(&format!("c=biws,r={nonce}server,p=")), "{last}");
        peer.authentication(12, b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    });
    let error = wrong_proof.connect(PATIENT).unwrap_err();
    assert!(error.to_string().contains("the server did not prove itself"), "{error}");
    wrong_proof.end();

    let no_proof = Fake::new(|peer| {
        let nonce = scram_first(peer);
        scram_continue(peer, &nonce);
        peer.read().unwrap();
        peer.authentication(0, b"");
    });
    assert_eq!(no_proof.connect(PATIENT).unwrap_err().code(), "protocol");
    no_proof.end();

    let another_nonce = Fake::new(|peer| {
        scram_first(peer);
        scram_continue(peer, "another");
    });
    let error = another_nonce.connect(PATIENT).unwrap_err();
    assert!(error.to_string().contains("invalid nonce"), "{error}");
    another_nonce.end();
}

#[test]
fn a_server_that_asks_again_gets_no_second_answer() {
    let greedy = Fake::new(|peer| {
        peer.startup();
        peer.authentication(5, b"salt");
        assert_eq!(peer.read().unwrap().0, b'p');
        peer.authentication(3, b"");
        assert_eq!(peer.read(), None);
    });
    assert_eq!(greedy.connect(PATIENT).unwrap_err().code(), "protocol");
    greedy.end();
}

#[test]
fn refusals_name_the_user_and_the_reason() {
    let refused = Fake::new(|peer| {
        peer.startup();
        peer.send(b'E', b"SFATAL\0VFATAL\0C3D000\0Mdatabase \"bench\" does not exist\0\0");
    });
    let error = refused.connect(PATIENT).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "refused the login of user `md5_user`: 3D000: database \"bench\" does not exist"
        ),
        "{error}"
    );
    refused.end();
    let starting = Fake::new(|peer| {
        peer.startup();
        peer.send(b'E', b"VFATAL\0C57P03\0Mthe database system is starting up\0\0");
    });
    assert_eq!(starting.connect(PATIENT).unwrap_err().code(), "connect");
    starting.end();
    let kerberos = Fake::new(|peer| {
        peer.startup();
        peer.authentication(7, b"");
    });
    let error = kerberos.connect(PATIENT).unwrap_err().to_string();
    assert!(error.contains("authentication method 7"), "{error}");
    kerberos.end();
    let token = Fake::new(|peer| {
        peer.startup();
        peer.authentication(10, b"OAUTHBEARER\0SCRAM-SHA-256-PLUS\0\0");
    });
    let error = token.connect(PATIENT).unwrap_err().to_string();
    assert!(error.contains("OAUTHBEARER, SCRAM-SHA-256-PLUS; allow scram-sha-256"), "{error}");
    token.end();
}

#[test]
fn an_error_leaves_the_session_usable() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        assert_eq!(peer.read(), Some((b'Q', b"SELEKT 1\0".to_vec())));
        peer.send(b'E', b"VERROR\0C42601\0Msyntax error\0\0");
        peer.send(b'Z', b"I");
        assert_eq!(peer.read(), Some((b'Q', b"BEGIN\0".to_vec())));
        peer.send(b'C', b"BEGIN\0");
        peer.send(b'Z', b"T");
    });
    let mut session = fake.connect(PATIENT).unwrap();
    assert_eq!(
        session.execute("SELEKT 1").unwrap_err().to_string(),
        "error 42601: syntax error (in `SELEKT 1`)"
    );
    assert_eq!(session.execute("BEGIN").unwrap(), Done::default());
    fake.end();
}

#[test]
fn a_silent_server_is_a_timeout_that_names_the_statement() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        assert_eq!(peer.read(), Some((b'Q', b"SELECT pg_sleep(99)\0".to_vec())));
        // The client hangs up by itself, without a goodbye.
        assert_eq!(peer.read(), None);
    });
    let mut session = fake.connect(SHORT).unwrap();
    let before = Instant::now();
    let error = session.execute("SELECT pg_sleep(99)").unwrap_err();
    assert!(before.elapsed() >= SHORT);
    assert_eq!(error.to_string(), "no answer within 100ms (to `SELECT pg_sleep(99)`)");
    assert_eq!(session.execute("SELECT 1").unwrap_err().code(), "lost");
    fake.end();
}

#[test]
fn a_server_that_hangs_at_the_login_is_a_timeout() {
    let fake = Fake::new(|peer| {
        peer.startup();
        assert_eq!(peer.read(), None);
    });
    let error = fake.connect(SHORT).unwrap_err();
    assert_eq!(error.to_string(), "no answer within 100ms (to `login`)");
    fake.end();
}

#[test]
fn a_server_that_closes_is_a_lost_connection() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        peer.read();
    });
    let mut session = fake.connect(PATIENT).unwrap();
    assert_eq!(session.execute("SELECT 1").unwrap_err().code(), "lost");
    assert_eq!(session.execute("SELECT 1").unwrap_err().code(), "lost");
    fake.end();
}

#[test]
fn a_broken_protocol_ends_the_session() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        peer.read();
        peer.send(b'?', b"");
        assert_eq!(peer.read(), None);
    });
    let mut session = fake.connect(PATIENT).unwrap();
    assert_eq!(session.execute("SELECT 1").unwrap_err().code(), "protocol");
    assert_eq!(session.execute("SELECT 1").unwrap_err().code(), "lost");
    fake.end();
}

#[test]
fn a_statement_too_long_to_send_leaves_the_session_usable() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        assert_eq!(peer.read(), Some((b'Q', b"\0".to_vec())));
        peer.send(b'I', b"");
        peer.send(b'Z', b"I");
    });
    let mut session = fake.connect(PATIENT).unwrap();
    let long = "x".repeat(64 << 20);
    assert_eq!(session.execute(&long).unwrap_err().code(), "54000");
    session.execute("").unwrap();
    fake.end();
}

/// Plays the preparation of one statement that has one parameter and no rows.
fn prepare(peer: &mut Peer, name: &str) {
    let (kind, body) = peer.read().unwrap();
    assert_eq!(kind, b'P');
    assert!(body.starts_with(format!("{name}\0").as_bytes()));
    assert_eq!(peer.read().unwrap().0, b'D');
    assert_eq!(peer.read(), Some((b'S', Vec::new())));
    peer.send(b'1', b"");
    peer.send(b't', b"\0\x01\0\0\0\x14");
    peer.send(b'n', b"");
    peer.send(b'Z', b"I");
}

#[test]
fn a_refused_preparation_does_not_take_the_name_of_the_next() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        prepare(peer, "s1");
        let (kind, body) = peer.read().unwrap();
        assert_eq!(kind, b'B');
        assert!(body.starts_with(b"\0s1\0"));
        assert_eq!(peer.read().unwrap().0, b'E');
        assert_eq!(peer.read().unwrap().0, b'S');
        peer.send(b'2', b"");
        peer.send(b'C', b"DELETE 4\0");
        peer.send(b'Z', b"I");
    });
    let mut session = fake.connect(PATIENT).unwrap();
    let sql = "DELETE FROM t WHERE n < $1";
    let refused = session.prepare(sql, &[]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "error 08P01: the statement has 1 parameters, 0 were given (in `DELETE FROM t WHERE n < $1`)"
    );
    let id = session.prepare(sql, &[ParamType::Int]).unwrap();
    assert_eq!(id, StatementId(0));
    let done = session.execute_prepared(id, &[Param::Int(9)], &mut |_| ()).unwrap();
    assert_eq!(done, Done { rows: 0, affected: 4, columns: 0 });
    let unknown = session.execute_prepared(StatementId(1), &[], &mut |_| ());
    assert_eq!(unknown.unwrap_err().code(), "26000");
    drop(session);
    fake.end();
}
