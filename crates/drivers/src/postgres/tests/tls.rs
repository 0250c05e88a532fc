//! Unavailable requests: TLS and compression.

use super::*;

fn asking_for_tls(fake: &Fake) -> Result<PostgresSession, SessionError> {
    let mut server = fake.endpoint(PATIENT);
    server.tls = true;
    PostgresSession::open(&server)
}

/// Reads the request for TLS, which has no kind.
fn ssl_request(peer: &mut Peer) {
    assert_eq!(peer.body(), [0x04, 0xd2, 0x16, 0x2f]);
}

#[test]
fn a_server_without_tls_says_what_to_do() {
    let fake = Fake::tcp(|peer| {
        ssl_request(peer);
        peer.0.write_all(b"N").unwrap();
        // The login does not go on without encryption.
        assert_eq!(peer.read(), None);
    });
    let error = asking_for_tls(&fake).unwrap_err();
    assert_eq!(error.code(), "login");
    let error = error.to_string();
    assert!(error.contains("the server has no TLS; set ssl = on"), "{error}");
    fake.end();
}

#[test]
fn a_server_that_refuses_before_tls_is_heard() {
    let starting = Fake::tcp(|peer| {
        ssl_request(peer);
        peer.send(b'E', b"VFATAL\0C57P03\0Mthe database system is starting up\0\0");
    });
    assert_eq!(asking_for_tls(&starting).unwrap_err().code(), "connect");
    starting.end();
    let full = Fake::tcp(|peer| {
        ssl_request(peer);
        peer.send(b'E', b"VFATAL\0C53300\0Mtoo many clients already\0\0");
    });
    let error = asking_for_tls(&full).unwrap_err().to_string();
    assert!(error.contains("53300: too many clients"), "{error}");
    full.end();
}

#[test]
fn strange_answers_to_the_request_for_tls_are_protocol_errors() {
    // Bytes behind the agreement were not encrypted: somebody may have put them there.
    for answer in [&b"?"[..], b"SR\0\0\0\x08\0\0\0\0"] {
        let fake = Fake::tcp(move |peer| {
            ssl_request(peer);
            peer.0.write_all(answer).unwrap();
            assert_eq!(peer.read(), None);
        });
        assert_eq!(asking_for_tls(&fake).unwrap_err().code(), "protocol");
        fake.end();
    }
}

#[test]
fn a_server_that_speaks_no_tls_after_all_is_an_error() {
    let fake = Fake::tcp(|peer| {
        ssl_request(peer);
        peer.0.write_all(b"S").unwrap();
        let mut hello = [0; 5];
        peer.0.read_exact(&mut hello).unwrap();
        // A TLS record with a handshake message.
        assert_eq!(hello[0], 22);
        peer.0.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
    });
    assert!(asking_for_tls(&fake).is_err());
    fake.end();
}

#[test]
fn what_the_protocol_cannot_do_is_refused_before_a_server_is_asked() {
    let login =
        Login { user: "somebody".to_owned(), password: String::new(), database: String::new() };
    let nowhere = Address::Socket("/nowhere/s.sock".into());
    let plain = ServerEndpoint::plain(nowhere, login, PATIENT);
    for (tls, compression, wanted) in [
        (false, true, "the PostgreSQL protocol has no compression"),
        (true, false, "PostgreSQL has no TLS on Unix sockets; connect by TCP"),
    ] {
        let server = ServerEndpoint { tls, compression, ..plain.clone() };
        let error = PostgresSession::open(&server).unwrap_err();
        assert_eq!(error.code(), "login");
        assert!(error.to_string().contains(wanted), "{error}");
    }
}
