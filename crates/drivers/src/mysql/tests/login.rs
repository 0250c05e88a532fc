//! Logins: methods, refusals, TLS.

use rustls::version::{TLS12, TLS13};

use super::super::auth::tests::{PEM, open};
use super::*;
use crate::tests::tls_peer::{TlsPeer, tls_peer};

#[test]
fn native_password_is_proved_and_the_session_says_who_it_is() {
    let (server, connector) = serve_login("secret", |mut peer| {
        peer.send(&greeting("5.5.5-10.11.18-MariaDB-0+deb12u1", NATIVE));
        let response = peer.receive();
        let proof = Method::NativePassword.prove("secret", NONCE);
        assert!(contains(&response, b"tester\0\x14"));
        assert!(contains(&response, &proof));
        assert!(response.ends_with(b"ib\0mysql_native_password\0"));
        // Local files, but neither compression, several statements, nor TLS.
        let flags = u32::from_le_bytes(*response.first_chunk().unwrap());
        assert_eq!(flags & (1 << 7 | 1 << 5 | 1 << 16 | 1 << 11), 1 << 7);
        peer.send(OK);
        assert_eq!(peer.receive(), b"\x01");
    });
    let session = MysqlSession::open(&connector).unwrap();
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
    let session = MysqlSession::open(&connector).unwrap();
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
    drop(MysqlSession::open(&connector).unwrap());
    server.finish();
}

/// What a client over TCP without TLS sends to a server that asks it for the password and answers its
/// wish for a key with `reply`.
fn asked_over_tcp(reply: Vec<u8>) -> Result<Vec<u8>, SessionError> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        let mut peer = Peer { socket: theirs, sequence: 0 };
        peer.send(&greeting("9.7.4", SHA2));
        peer.receive();
        peer.send(b"\x01\x04");
        assert_eq!(peer.receive(), b"\x02");
        peer.send(&reply);
        let sealed = peer.hear().unwrap_or_default();
        let _ = peer.offer(OK);
        sealed
    });
    let address = Address::Tcp { host: "db".to_owned(), port: 3306 };
    let stream = Stream::over(ours.into(), false, Duration::from_secs(5));
    let session = MysqlSession::log_in(stream, &endpoint(address, "secret")).map(drop);
    let sealed = server.join().unwrap();
    session.map(|()| sealed)
}

#[test]
fn caching_sha2_seals_the_password_over_tcp() {
    let sealed = asked_over_tcp([b"\x01".as_slice(), PEM.as_bytes()].concat()).unwrap();
    let opened = open(&sealed);
    let password: Vec<u8> = opened.iter().zip(NONCE).map(|(a, b)| a ^ b).collect();
    assert_eq!(password, b"secret\0");
}

#[test]
fn without_a_key_the_password_does_not_go_over_tcp() {
    for (reply, code, expected) in [
        (b"\x01not a key".as_slice(), "login", "Unix socket"),
        (b"\xff\x15\x04#28000No key", "login", "No key"),
        (b"\x01", "login", "PEM"),
        (b"\x09", "protocol", "public key"),
    ] {
        let error = asked_over_tcp(reply.to_vec()).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_server_may_change_the_method() {
    let (server, connector) = serve_login("secret", |mut peer| {
        peer.send(&greeting("8.0.33", SHA2));
        peer.receive();
        peer.send(b"\xfemysql_native_password\0ABCDEFGHIJKLMNOPQRST\0");
        let nonce = b"ABCDEFGHIJKLMNOPQRST";
        assert_eq!(peer.receive(), Method::NativePassword.prove("secret", nonce));
        peer.send(OK);
        peer.receive();
    });
    let session = MysqlSession::open(&connector).unwrap();
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
    drop(MysqlSession::open(&connector).unwrap());
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
        let error = MysqlSession::open(&connector).unwrap_err();
        assert_eq!(error.code(), "login");
        assert!(error.to_string().contains(expected), "{error}");
        server.finish();
    }
    let (server, connector) = serve(|mut peer| peer.send(b"\xff\x10\x04Too many connections"));
    let error = MysqlSession::open(&connector).unwrap_err().to_string();
    assert!(error.contains("Too many connections (error 1040)"), "{error}");
    server.finish();
}

#[test]
fn a_server_that_starts_or_ends_may_let_in_later() {
    let starting = b"\xff\x60\x0cServer isn't available".as_slice();
    let ending = b"\xff\x1d\x04#08S01Server shutdown in progress";
    for (greets, reply) in [(false, starting), (true, ending)] {
        let (server, connector) = serve(move |mut peer| {
            if greets {
                peer.send(&greeting("8.0.33", NATIVE));
                peer.receive();
            }
            peer.send(reply);
        });
        let error = MysqlSession::open(&connector).unwrap_err();
        assert_eq!(error.code(), "connect");
        assert!(error.to_string().contains("s.sock: Server"), "{error}");
        server.finish();
    }
}

#[test]
fn a_login_without_end_is_refused() {
    let (server, connector) = serve(|mut peer| {
        peer.send(&greeting("8.0.33", SHA2));
        peer.receive();
        let sent = (0..20).take_while(|_| peer.offer(b"\x01\x03").is_ok());
        assert!(sent.count() > 1, "the client left at once");
    });
    let error = MysqlSession::open(&connector).unwrap_err().to_string();
    assert!(error.contains("too many packets"), "{error}");
    server.finish();
}

/// Takes an `SSLRequest` and goes on encrypted.
fn encrypt(
    mut peer: Peer,
    version: &'static rustls::SupportedProtocolVersion,
) -> (Vec<u8>, Peer<TlsPeer>) {
    peer.send(&greeting("9.7.4", SHA2));
    let request = peer.receive();
    let encrypted = Peer { socket: tls_peer(peer.socket, version), sequence: peer.sequence };
    (request, encrypted)
}

fn with_tls(server: &mut ServerEndpoint) {
    server.tls = true;
    server.timeout = Duration::from_secs(5);
}

#[test]
fn tls_hides_the_login_and_all_that_follows() {
    for (version, expected) in [(&TLS12, "TLSv1.2 TLS_"), (&TLS13, "TLSv1.3 TLS_")] {
        let (server, connector) = serve_endpoint("secret", with_tls, move |peer| {
            let (request, mut peer) = encrypt(peer, version);
            assert_eq!(request.len(), 32);
            let response = peer.receive();
            assert_eq!(response[..32], request);
            assert_ne!(request[1] & 1 << 3, 0, "CLIENT_SSL is bit 11");
            assert!(contains(&response, b"tester\0"));
            // Where nobody can listen, the password itself is sent.
            peer.send(b"\x01\x04");
            assert_eq!(peer.receive(), b"secret\0");
            peer.send(OK);
            assert_eq!(peer.receive(), b"\x03do 1");
            peer.send(OK);
            assert_eq!(peer.receive(), b"\x01");
        });
        let mut session = MysqlSession::open(&connector).unwrap();
        let agreed = session.info().tls.clone().unwrap();
        assert!(agreed.starts_with(expected), "{agreed}");
        session.execute("do 1").unwrap();
        drop(session);
        server.finish();
    }
}

#[test]
fn a_server_without_tls_is_named_and_told_what_to_do() {
    let (server, connector) = serve_endpoint("", with_tls, |mut peer| {
        let mut first = greeting("5.7.22", NATIVE);
        let low = first.len() - 1 - NATIVE.len() - 13 - 11 - 5 - 1;
        assert_eq!(first[low], 0xff);
        // All but CLIENT_SSL.
        first[low] = !(1 << 3);
        peer.send(&first);
        assert_eq!(peer.socket.read(&mut [0; 1]).unwrap(), 0, "it said something");
    });
    let error = MysqlSession::open(&connector).unwrap_err();
    assert_eq!(error.code(), "login");
    let text = error.to_string();
    assert!(text.contains("s.sock") && text.contains("ssl_cert"), "{text}");
    server.finish();
}

#[test]
fn a_server_of_old_tls_is_told_from_one_that_is_gone() {
    // The alert of yaSSL; the end of a server in the middle.
    for (said, code) in [(b"\x15\x03\x02\x00\x02\x02\x46".as_slice(), "login"), (b"", "lost")] {
        let (server, connector) = serve_endpoint("", with_tls, move |mut peer| {
            peer.send(&greeting("5.7.22", NATIVE));
            peer.receive();
            let _hello = peer.socket.read(&mut [0; 4096]).unwrap();
            peer.socket.write_all(said).unwrap();
        });
        let error = MysqlSession::open(&connector).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains("yaSSL"), "{error}");
        server.finish();
    }
}
