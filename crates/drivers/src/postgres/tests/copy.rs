//! Loading rows into the scripted server.

use super::*;

/// A server that wants rows for `t (id, name)`.
fn loading(script: impl FnOnce(&mut Peer) + Send + 'static) -> Fake {
    Fake::new(move |peer| {
        peer.startup();
        peer.welcome();
        let sql = b"COPY t (id, name) FROM STDIN\0".to_vec();
        assert_eq!(peer.read(), Some((b'Q', sql)));
        script(peer);
    })
}

fn wants_rows(peer: &mut Peer) {
    peer.send(b'G', b"\0\0\x02\0\0\0\0");
}

fn load(
    session: &mut PostgresSession,
    next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
) -> Result<u64, SessionError> {
    session.load_rows("t", &["id", "name"], next)
}

/// The session is still in step with the server.
fn is_usable(session: &mut PostgresSession) {
    assert_eq!(session.execute("BEGIN").unwrap(), Done::default());
}

fn expect_begin(peer: &mut Peer) {
    assert_eq!(peer.read(), Some((b'Q', b"BEGIN\0".to_vec())));
    peer.send(b'C', b"BEGIN\0");
    peer.send(b'Z', b"T");
}

#[test]
fn rows_are_sent_as_they_are_made() {
    let fake = loading(|peer| {
        wants_rows(peer);
        assert_eq!(peer.read(), Some((b'd', b"1\tone\n2\ttwo\n".to_vec())));
        peer.send(b'N', b"VNOTICE\0C00000\0Mjust so you know\0\0");
        assert_eq!(peer.read(), Some((b'd', b"3\t\\N\n".to_vec())));
        assert_eq!(peer.read(), Some((b'c', Vec::new())));
        peer.send(b'C', b"COPY 3\0");
        peer.send(b'Z', b"I");
        expect_begin(peer);
    });
    let mut session = fake.connect(PATIENT).unwrap();
    assert!(session.can_load_rows());
    let mut parts = ["1\tone\n2\ttwo\n", "3\t\\N\n"].into_iter();
    let loaded = load(&mut session, &mut |rows| {
        let part = parts.next();
        rows.extend_from_slice(part.unwrap_or_default().as_bytes());
        part.is_some()
    });
    assert_eq!(loaded.unwrap(), 3);
    is_usable(&mut session);
    fake.end();
}

#[test]
fn no_rows_are_a_load_too() {
    let fake = loading(|peer| {
        wants_rows(peer);
        assert_eq!(peer.read(), Some((b'c', Vec::new())));
        peer.send(b'C', b"COPY 0\0");
        peer.send(b'Z', b"I");
        expect_begin(peer);
    });
    let mut session = fake.connect(PATIENT).unwrap();
    assert_eq!(load(&mut session, &mut |_| false).unwrap(), 0);
    is_usable(&mut session);
    fake.end();
}

#[test]
fn a_table_that_is_missing_is_an_error_before_rows_are_made() {
    let fake = loading(|peer| {
        peer.send(b'E', b"VERROR\0C42P01\0Mrelation \"t\" does not exist\0\0");
        peer.send(b'Z', b"I");
        expect_begin(peer);
    });
    let mut session = fake.connect(PATIENT).unwrap();
    let error = load(&mut session, &mut |_| panic!("no rows are wanted")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error 42P01: relation \"t\" does not exist (in `COPY t (id, name) FROM STDIN`)"
    );
    is_usable(&mut session);
    fake.end();
}

#[test]
fn an_error_on_the_way_ends_the_sending() {
    const PARTS: u32 = 10_000;
    let fake = loading(|peer| {
        wants_rows(peer);
        assert_eq!(peer.read().unwrap().0, b'd');
        peer.send(b'E', b"VERROR\0C22P02\0Minvalid input syntax\0\0");
        peer.send(b'Z', b"I");
        // Data under way is read and dropped.
        loop {
            match peer.read() {
                Some((b'd', _)) => {}
                Some((b'Q', sql)) => {
                    assert_eq!(sql, b"BEGIN\0");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        peer.send(b'C', b"BEGIN\0");
        peer.send(b'Z', b"T");
    });
    let mut session = fake.connect(PATIENT).unwrap();
    let mut parts = 0;
    let error = load(&mut session, &mut |rows| {
        parts += 1;
        std::thread::sleep(Duration::from_millis(1));
        rows.extend_from_slice(b"1\tone\n");
        parts < PARTS
    });
    assert_eq!(error.unwrap_err().code(), "22P02");
    assert!(parts < PARTS, "all was sent");
    is_usable(&mut session);
    fake.end();
}

#[test]
fn an_error_at_the_end_leaves_the_session_usable() {
    let fake = loading(|peer| {
        wants_rows(peer);
        assert_eq!(peer.read().unwrap().0, b'd');
        assert_eq!(peer.read().unwrap().0, b'c');
        peer.send(b'E', b"VERROR\0C23505\0Mduplicate key\0\0");
        peer.send(b'Z', b"I");
        expect_begin(peer);
    });
    let mut session = fake.connect(PATIENT).unwrap();
    let error = load(&mut session, &mut |rows| {
        rows.extend_from_slice(b"1\tone\n");
        false
    });
    assert_eq!(error.unwrap_err().code(), "23505");
    is_usable(&mut session);
    fake.end();
}

#[test]
fn rows_too_long_to_send_end_the_load() {
    let fake = loading(|peer| {
        wants_rows(peer);
        assert_eq!(peer.read().unwrap().0, b'f');
        peer.send(b'E', b"VERROR\0C57014\0MCOPY from stdin failed\0\0");
        peer.send(b'Z', b"I");
        expect_begin(peer);
    });
    let mut session = fake.connect(PATIENT).unwrap();
    let error = load(&mut session, &mut |rows| {
        rows.resize(65 << 20, b'x');
        true
    });
    assert_eq!(error.unwrap_err().code(), "54000");
    is_usable(&mut session);
    fake.end();
}

#[test]
fn a_server_that_answers_something_else_breaks_the_protocol() {
    let no_rows = loading(|peer| {
        peer.send(b'C', b"COPY 3\0");
        assert_eq!(peer.read(), None);
    });
    let mut session = no_rows.connect(PATIENT).unwrap();
    assert_eq!(load(&mut session, &mut |_| false).unwrap_err().code(), "protocol");
    assert_eq!(session.execute("").unwrap_err().code(), "lost");
    no_rows.end();
    let early = loading(|peer| {
        wants_rows(peer);
        peer.read();
        peer.send(b'C', b"COPY 3\0");
        while peer.read().is_some() {}
    });
    let mut session = early.connect(PATIENT).unwrap();
    let error = load(&mut session, &mut |rows| {
        std::thread::sleep(Duration::from_millis(1));
        rows.extend_from_slice(b"1\tone\n");
        true
    });
    assert_eq!(error.unwrap_err().code(), "protocol");
    early.end();
    let gone = loading(wants_rows);
    let mut session = gone.connect(PATIENT).unwrap();
    let error = load(&mut session, &mut |rows| {
        rows.extend_from_slice(b"1\tone\n");
        true
    });
    assert_eq!(error.unwrap_err().code(), "lost");
    gone.end();
}
