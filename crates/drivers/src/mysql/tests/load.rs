//! `LOAD DATA LOCAL`.

use super::*;

/// Asks for `file` and returns its content.
fn take_file(peer: &mut Peer, file: &str) -> Vec<u8> {
    let statement = peer.receive();
    assert!(statement.starts_with(b"\x03LOAD DATA LOCAL INFILE 'rows' INTO TABLE t "));
    peer.send(&[b"\xfb", file.as_bytes()].concat());
    let mut content = Vec::new();
    loop {
        let part = peer.receive();
        if part.is_empty() {
            return content;
        }
        content.extend_from_slice(&part);
    }
}

/// Loads these parts.
fn load(session: &mut MysqlSession, parts: &[&str]) -> Result<u64, SessionError> {
    let mut parts = parts.iter();
    session.load_rows("t", &["a", "b"], &mut |out| {
        let part = parts.next();
        out.extend_from_slice(part.copied().unwrap_or_default().as_bytes());
        part.is_some()
    })
}

#[test]
fn the_server_gets_the_rows_whatever_file_it_asks_for() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        for file in ["rows", "/etc/passwd", ""] {
            assert_eq!(take_file(&mut peer, file), b"1\ta\n2\tb\n3\t\\N\n");
            peer.send(b"\0\x03\0\x02\0\0\0");
        }
        assert_eq!(take_file(&mut peer, "rows"), b"");
        peer.send(OK);
        assert_eq!(peer.receive(), b"\x01");
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    assert!(session.can_load_rows());
    for _ in 0..3 {
        let loaded = load(&mut session, &["1\ta\n2\tb\n", "", "3\t\\N\n"]);
        assert_eq!(loaded.unwrap(), 3);
    }
    assert_eq!(load(&mut session, &[]).unwrap(), 0);
    drop(session);
    server.finish();
}

#[test]
fn a_refusal_before_or_after_the_rows_leaves_the_session_usable() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        peer.receive();
        peer.send(b"\xff\x6c\x0f#42000Loading local data is disabled");
        take_file(&mut peer, "rows");
        peer.send(b"\xff\x26\x04#23000Duplicate entry");
        assert_eq!(peer.receive(), b"\x03do 1");
        peer.send(OK);
        peer.receive();
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    for code in ["3948", "1062"] {
        let error = load(&mut session, &["1\ta\n"]).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains("LOAD DATA LOCAL"), "{error}");
    }
    session.execute("do 1").unwrap();
    drop(session);
    server.finish();
}

#[test]
fn a_warning_is_an_error() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        take_file(&mut peer, "rows");
        peer.send(b"\0\x02\0\x02\0\x01\0Records: 2  Deleted: 0  Skipped: 0  Warnings: 1");
        assert_eq!(peer.receive(), b"\x03SHOW WARNINGS LIMIT 1");
        peer.send(b"\x03");
        for _ in 0..3 {
            peer.send(&definition(253, 0, 0));
        }
        peer.send(END);
        peer.send(b"\x07Warning\x041265\x0eData truncated");
        peer.send(END);
        peer.receive();
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let error = load(&mut session, &["1\tabc\n2\td\n"]).unwrap_err();
    assert_eq!(error.code(), "1265");
    let text = error.to_string();
    assert!(text.contains("2 rows were added") && text.contains("Data truncated"), "{text}");
    drop(session);
    server.finish();
}

#[test]
fn rows_that_are_left_out_in_silence_are_missed() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        take_file(&mut peer, "rows");
        peer.send(b"\0\x01\0\x02\0\0\0");
        peer.receive();
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let error = load(&mut session, &["1\ta\n1\td\n"]).unwrap_err();
    assert_eq!(error.code(), "1062");
    assert!(error.to_string().contains("1 of 2 rows"), "{error}");
    drop(session);
    server.finish();
}

#[test]
fn a_server_that_does_not_follow_the_protocol_ends_the_session() {
    for reply in [OK, b"\x01", b"\xfe\0\0\x02\0", b""] {
        let (server, connector) = serve(move |mut peer| {
            peer.let_in();
            peer.receive();
            peer.send(reply);
            let _ = peer.socket.read_to_end(&mut Vec::new());
        });
        let mut session = MysqlSession::open(&connector).unwrap();
        let error = load(&mut session, &["1\ta\n"]).unwrap_err();
        assert_eq!(error.code(), "protocol", "{error}");
        assert_eq!(session.execute("do 1").unwrap_err().code(), "lost");
        server.finish();
    }
    let (server, connector) = serve(move |mut peer| {
        peer.let_in();
        take_file(&mut peer, "rows");
        peer.send(b"\xfbanother file");
        let _ = peer.socket.read_to_end(&mut Vec::new());
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let error = load(&mut session, &["1\ta\n"]).unwrap_err();
    assert_eq!(error.code(), "protocol", "{error}");
    server.finish();
}

#[test]
fn what_was_not_offered_is_not_tried() {
    let (server, connector) = serve(|mut peer| {
        let mut first = greeting("8.0.33", NATIVE);
        let low = first.len() - 1 - NATIVE.len() - 13 - 11 - 5 - 2;
        // CLIENT_LOCAL_FILES
        first[low] &= !(1 << 7);
        peer.send(&first);
        peer.receive();
        peer.send(OK);
        assert_eq!(peer.receive(), b"\x01");
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    assert!(!session.can_load_rows());
    let error = load(&mut session, &["1\ta\n"]).unwrap_err();
    assert!(error.to_string().contains("local_infile"), "{error}");
    drop(session);
    server.finish();
}
