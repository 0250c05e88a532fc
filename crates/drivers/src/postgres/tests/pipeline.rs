//! Batches of prepared statements against the scripted server.

use super::*;

/// Reads one run of the statement `s0`.
fn run(peer: &mut Peer) {
    let (kind, body) = peer.read().unwrap();
    assert_eq!(kind, b'B');
    assert!(body.starts_with(b"\0s0\0"));
    assert_eq!(peer.read().unwrap().0, b'E');
    assert_eq!(peer.read().unwrap().0, b'S');
}

fn deleted(peer: &mut Peer, rows: u32) {
    peer.send(b'2', b"");
    peer.send(b'C', format!("DELETE {rows}\0").as_bytes());
    peer.send(b'Z', b"I");
}

fn refused(peer: &mut Peer, code: &str) {
    peer.send(b'E', format!("VERROR\0C{code}\0Mno\0\0").as_bytes());
    peer.send(b'Z', b"I");
}

fn prepared(fake: &Fake) -> (PostgresSession, StatementId) {
    let mut session = fake.connect(PATIENT).unwrap();
    let id = session.prepare("DELETE FROM t WHERE n < $1", &[ParamType::Int]).unwrap();
    (session, id)
}

/// How each statement of a batch ended, and how the batch did.
fn outcomes(
    session: &mut PostgresSession,
    batch: &[(StatementId, &[Param<'_>])],
) -> (Vec<(usize, u64)>, Result<(), SessionError>) {
    let mut ended = Vec::new();
    let outcome = session.execute_pipelined(batch, &mut |_, _| (), &mut |index, done| {
        ended.push((index, done.affected));
    });
    (ended, outcome)
}

#[test]
fn all_is_sent_before_the_first_answer_and_each_has_its_own_sync() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        (0..3).for_each(|_| run(peer));
        (1..4).for_each(|rows| deleted(peer, rows));
        run(peer);
        deleted(peer, 9);
    });
    let (mut session, id) = prepared(&fake);
    let params = [Param::Int(5)];
    let batch = [(id, &params[..]); 3];
    let (ended, outcome) = outcomes(&mut session, &batch);
    outcome.unwrap();
    assert_eq!(ended, [(0, 1), (1, 2), (2, 3)]);
    let alone = session.execute_prepared(id, &params, &mut |_| ()).unwrap();
    assert_eq!(alone.affected, 9);
    outcomes(&mut session, &[]).1.unwrap();
    fake.end();
}

#[test]
fn after_the_first_error_the_answers_are_dropped_and_the_session_goes_on() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        (0..5).for_each(|_| run(peer));
        deleted(peer, 1);
        refused(peer, "40P01");
        refused(peer, "25P02");
        // An answer with everything that can be in one.
        peer.send(b'2', b"");
        peer.send(b'N', b"VNOTICE\0C00000\0Mjust so you know\0\0");
        peer.send(b'D', b"\0\x01\0\0\0\x01x");
        peer.send(b'C', b"SELECT 1\0");
        peer.send(b'Z', b"E");
        deleted(peer, 7);
        run(peer);
        deleted(peer, 2);
    });
    let (mut session, id) = prepared(&fake);
    let params = [Param::Int(5)];
    let (ended, outcome) = outcomes(&mut session, &[(id, &params[..]); 5]);
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "error 40P01: no (in `DELETE FROM t WHERE n < $1`)"
    );
    assert_eq!(ended, [(0, 1)]);
    let alone = session.execute_prepared(id, &params, &mut |_| ()).unwrap();
    assert_eq!(alone.affected, 2);
    fake.end();
}

#[test]
fn a_statement_that_cannot_be_sent_ends_the_batch_after_those_before_it() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        for _ in 0..2 {
            run(peer);
            deleted(peer, 1);
        }
        assert_eq!(peer.read(), Some((b'X', Vec::new())));
    });
    let (mut session, id) = prepared(&fake);
    let (good, bad) = ([Param::Int(5)], [Param::Text("5")]);
    for (wrong, code) in [((id, &bad[..]), "42804"), ((StatementId(9), &good[..]), "26000")] {
        let (ended, outcome) = outcomes(&mut session, &[(id, &good[..]), wrong, (id, &good[..])]);
        assert_eq!(outcome.unwrap_err().code(), code);
        assert_eq!(ended, [(0, 1)]);
        // Nothing is sent when it is the first.
        let (ended, outcome) = outcomes(&mut session, &[wrong, (id, &good[..])]);
        assert_eq!((ended.len(), outcome.unwrap_err().code()), (0, code));
    }
    drop(session);
    fake.end();
}

#[test]
fn the_end_of_the_session_counts_more_than_the_error_before_it() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        (0..2).for_each(|_| run(peer));
        refused(peer, "40P01");
        peer.send(b'E', b"VFATAL\0C57P01\0Mterminating connection\0\0");
    });
    let (mut session, id) = prepared(&fake);
    let params = [Param::Int(5)];
    let (_, outcome) = outcomes(&mut session, &[(id, &params[..]); 2]);
    assert_eq!(outcome.unwrap_err().code(), "lost");
    fake.end();
}

#[test]
fn a_batch_larger_than_all_buffers_does_not_stand_still() {
    const STATEMENTS: usize = 8_000;
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        let notice = [b"VNOTICE\0C00000\0M".as_slice(), &[b'x'; 500], b"\0\0"].concat();
        for _ in 0..STATEMENTS {
            run(peer);
            // A write that waits for the client to read, before the next request is read.
            peer.send(b'N', &notice);
            deleted(peer, 1);
        }
    });
    let (mut session, id) = prepared(&fake);
    let params = [Param::Int(5)];
    let (ended, outcome) = outcomes(&mut session, &vec![(id, &params[..]); STATEMENTS]);
    outcome.unwrap();
    assert_eq!(ended.len(), STATEMENTS);
    fake.end();
}

#[test]
fn each_answer_has_the_whole_timeout() {
    let fake = Fake::new(|peer| {
        peer.startup();
        peer.welcome();
        prepare(peer, "s0");
        (0..3).for_each(|_| run(peer));
        for _ in 0..3 {
            std::thread::sleep(SHORT * 3);
            deleted(peer, 1);
        }
    });
    let mut session = fake.connect(SHORT * 5).unwrap();
    let id = session.prepare("DELETE FROM t WHERE n < $1", &[ParamType::Int]).unwrap();
    let params = [Param::Int(5)];
    let (ended, outcome) = outcomes(&mut session, &[(id, &params[..]); 3]);
    outcome.unwrap();
    assert_eq!(ended.len(), 3);
    fake.end();
}
