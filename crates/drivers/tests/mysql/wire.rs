//! Logins, and the layers between protocol and server: TLS, compression, TCP.

use drivers::{Connector, Endpoint, Param, ParamType, ServerEndpoint, Session};

use crate::basics::{long_messages, row_texts};
use crate::server::{Server, TIMEOUT};
use crate::{load, pipeline};

pub(crate) fn passwords(server: &Server, root: &mut dyn Session) {
    let native = root.info().authentication == "mysql_native_password";
    let _ = root.execute("drop user backslide@localhost");
    root.execute("create user backslide@localhost identified by 'sécret'").unwrap();
    root.execute("grant all on backslide_test.* to backslide@localhost").unwrap();
    // The second login finds the password remembered by servers that do that.
    for _ in 0..2 {
        let session =
            server.connector("backslide", "sécret", "backslide_test", TIMEOUT).connect().unwrap();
        assert_eq!(session.info().authentication == "mysql_native_password", native);
    }
    for (password, database, code) in
        [("wrong", "", "1045"), ("", "", "1045"), ("sécret", "no", "104")]
    {
        let Err(error) = server.connector("backslide", password, database, TIMEOUT).connect()
        else {
            panic!("{password} {database} was let in");
        };
        assert_eq!(error.code(), "login");
        assert!(error.to_string().contains(&format!("(error {code}")), "{error}");
    }
}

fn open(endpoint: ServerEndpoint) -> Box<dyn Session> {
    Endpoint::Mysql(endpoint).connect().unwrap()
}

/// The value of a status variable of the session.
fn status(session: &mut dyn Session, name: &str) -> String {
    let mut value = String::new();
    session
        .query(&format!("show session status like '{name}'"), &mut |row| {
            value = row.value(1).to_text().unwrap();
        })
        .unwrap();
    value
}

/// Data that every kind of connection must carry.
fn carries_all(session: &mut dyn Session) {
    let point = session.prepare("select id, c from t where id = ?", &[ParamType::Int]).unwrap();
    for id in [40, 41, 40] {
        let expected = [id.to_string(), format!("row {id}")].map(Some);
        assert_eq!(row_texts(session, point, id), expected);
    }
    let insert = session
        .prepare(
            "insert into p (d, price, name) values (?, ?, ?)",
            &[ParamType::DateTime, ParamType::Decimal, ParamType::Text],
        )
        .unwrap();
    let long = "n".repeat(300);
    let params = ["2026-11-21 10:00:00", "-12.50", long.as_str()].map(Param::Text);
    let done = session.execute_prepared(insert, &params, &mut |_| ()).unwrap();
    assert_eq!(done.affected, 1);
    let all = session.execute("select * from t where id < 200").unwrap();
    assert_eq!(all.rows, 170);
    assert_eq!(session.execute("selec 1").unwrap_err().code(), "1064");
    session.execute("drop table if exists a").unwrap();
    pipeline::many_ahead(session);
    pipeline::an_error_in_the_middle(session);
    pipeline::long_answers(session);
    load::none_and_many(session);
    long_messages(session);
}

/// MariaDB describes no column that the client knows, since 10.6.
pub(crate) fn known_columns(session: &mut dyn Session) {
    let version = session.info().server_version.clone();
    let mut numbers = version.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
    let version_of = (numbers.next(), numbers.next());
    let knows = version.contains("MariaDB") && version_of >= (Some(10), Some(6));
    let name = "n".repeat(60);
    let sql = format!("select id as {name} from t where id = ?");
    let point = session.prepare(&sql, &[ParamType::Int]).unwrap();
    let sent = |session: &mut dyn Session| status(session, "Bytes_sent").parse::<u64>().unwrap();
    let before = sent(session);
    for _ in 0..100 {
        assert_eq!(row_texts(session, point, 40), [Some("40".to_owned())]);
    }
    let each = (sent(session) - before) / 100;
    assert_eq!(each < 60, knows, "{version}: {each} bytes");
}

pub(crate) fn compression(server: &Server) {
    let mut session =
        open(ServerEndpoint { compression: true, ..server.endpoint("root", "", "backslide_test") });
    assert_eq!(status(&mut *session, "Compression"), "ON");
    carries_all(&mut *session);
    let mut plain = server.session("");
    assert_eq!(status(&mut *plain, "Compression"), "OFF");
}

pub(crate) fn tls(server: &Server) {
    for compression in [false, true] {
        let endpoint = ServerEndpoint {
            tls: true,
            compression,
            ..server.endpoint("root", "", "backslide_test")
        };
        let opened = Endpoint::Mysql(endpoint).connect();
        let mut session = match (opened, server.tls) {
            (Ok(session), None | Some(true)) => session,
            (Err(error), None | Some(false)) => {
                // Nothing but the version is wrong with it.
                let text = error.to_string();
                assert!(text.contains("yaSSL"), "{text}");
                return;
            }
            (Ok(session), Some(false)) => panic!("TLS with yaSSL: {:?}", session.info()),
            (Err(error), Some(true)) => panic!("{error}"),
        };
        let agreed = session.info().tls.clone().unwrap();
        let (version, cipher) = agreed.split_once(' ').unwrap();
        assert_eq!(status(&mut *session, "Ssl_version"), version);
        // The server has names of its own for the ciphers of TLS 1.2.
        if version == "TLSv1.3" {
            // wolfSSL writes `TLS13-AES128-GCM-SHA256`.
            let plain = |name: &str| name.replace(['_', '-'], "").replace("TLS13", "TLS");
            assert_eq!(plain(&status(&mut *session, "Ssl_cipher")), plain(cipher));
        }
        carries_all(&mut *session);
    }
}

/// Over TCP, where the password is neither sent nor hidden by TLS.
pub(crate) fn tcp(server: &Server) {
    if server.tcp("", "").is_none() {
        return;
    }
    let mut root = server.session("");
    // Names are not looked up, or they are: both are the same machine.
    for host in ["127.0.0.1", "localhost"] {
        let user = format!("tcp@'{host}'");
        let _ = root.execute(&format!("drop user {user}"));
        root.execute(&format!("create user {user} identified by 'sécret'")).unwrap();
    }
    // The second login finds the password remembered by servers that do that.
    for _ in 0..2 {
        let mut session = open(server.tcp("tcp", "sécret").unwrap());
        assert_eq!(session.info().tls, None);
        assert_eq!(session.execute("select 1").unwrap().rows, 1);
    }
    let error = Endpoint::Mysql(server.tcp("tcp", "wrong").unwrap()).connect().err().unwrap();
    assert!(error.to_string().contains("(error 1045)"), "{error}");
    for host in ["127.0.0.1", "localhost"] {
        root.execute(&format!("drop user tcp@'{host}'")).unwrap();
    }
}
