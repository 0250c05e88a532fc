//! TCP with and without TLS.

use drivers::{PostgresSession, Session};

use crate::server::Server;
use crate::{PATIENT, column, copy, pipeline};

pub(crate) fn check(server: &Server) {
    let mut plain = PostgresSession::open(&server.tcp("postgres", "", false)).unwrap();
    assert_eq!(plain.info().tls, None);
    assert_eq!(column(&mut plain, "SELECT 1"), [Some("1".to_owned())]);
    let mut admin = server.session();
    if !server.has_tls {
        let error = PostgresSession::open(&server.tcp("postgres", "", true)).unwrap_err();
        assert!(error.to_string().contains("set ssl = on"), "{error}");
        return;
    }
    an_encrypted_session(&mut PostgresSession::open(&server.tcp("postgres", "", true)).unwrap());
    bound_logins(server);
    if server.major() >= 10 {
        a_server_without_tls(server, &mut admin);
    }
    let over_socket = server.connector("postgres", "", PATIENT);
    assert_eq!(PostgresSession::open(&over_socket).unwrap().info().tls, None);
}

fn an_encrypted_session(session: &mut PostgresSession) {
    let tls = session.info().tls.clone().unwrap();
    let mut seen = None;
    session
        .query("SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &mut |row| {
            seen = row.value(0).to_text().zip(row.value(1).to_text());
        })
        .unwrap();
    let (version, cipher) = seen.unwrap();
    let (our_version, our_cipher) = tls.split_once(' ').unwrap();
    assert_eq!(our_version, version);
    // Before 1.3 the server's library has its own names for ciphers.
    if version == "TLSv1.3" {
        assert_eq!(our_cipher, cipher);
    }
    let wide = column(session, "SELECT repeat('x', 1000000)");
    assert_eq!(wide[0].as_ref().unwrap().len(), 1_000_000);
    pipeline::check(session);
    copy::check(session);
}

/// Logins that are tied to the certificate, which servers can since version 11.
fn bound_logins(server: &Server) {
    if !server.has_scram() {
        return;
    }
    let method = match server.major() {
        10 => "scram-sha-256",
        _ => "scram-sha-256-plus",
    };
    let session = PostgresSession::open(&server.tcp("scram", "sécret", true)).unwrap();
    assert_eq!(session.info().authentication, method);
    let session = PostgresSession::open(&server.tcp("scram", "sécret", false)).unwrap();
    assert_eq!(session.info().authentication, "scram-sha-256");
    for tls in [false, true] {
        let wrong = PostgresSession::open(&server.tcp("scram", "wrong", tls)).unwrap_err();
        assert!(wrong.to_string().contains("28P01"), "{wrong}");
    }
}

fn a_server_without_tls(server: &Server, admin: &mut PostgresSession) {
    let turn = |admin: &mut PostgresSession, word: &str| {
        admin.execute(&format!("ALTER SYSTEM SET ssl = {word}")).unwrap();
        admin.execute("SELECT pg_reload_conf()").unwrap();
        let start = std::time::Instant::now();
        while column(admin, "SHOW ssl") != [Some(word.to_owned())] {
            assert!(start.elapsed() < PATIENT, "the setting is not taken");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // The server that takes connections may hear of it later than ours.
        std::thread::sleep(std::time::Duration::from_millis(300));
    };
    turn(admin, "off");
    let error = PostgresSession::open(&server.tcp("postgres", "", true)).unwrap_err();
    assert_eq!(error.code(), "login");
    assert!(error.to_string().contains("set ssl = on"), "{error}");
    PostgresSession::open(&server.tcp("postgres", "", false)).unwrap();
    turn(admin, "on");
}
