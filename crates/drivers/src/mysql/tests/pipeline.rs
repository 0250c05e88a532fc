//! Several executions ahead.

use super::*;

/// Prepares a statement with one integer, whose executions return a row of one.
fn take_prepare(peer: &mut Peer) {
    peer.receive();
    peer.send(b"\0\x05\0\0\0\x01\0\x01\0\0\0\0");
    for _ in 0..2 {
        peer.send(&definition(8, 0, 0));
        peer.send(END);
    }
}

/// The number that an execution was sent.
fn take_execution(peer: &mut Peer) -> u8 {
    let execution = peer.receive();
    assert_eq!(execution[..5], *b"\x17\x05\0\0\0");
    execution[execution.len() - 8]
}

/// Answers an execution with a row of `number`.
fn answer(peer: &mut Peer, number: u8) {
    peer.sequence = 1;
    peer.send(b"\x01");
    peer.send(&definition(8, 0, 0));
    peer.send(END);
    peer.send(&[0, 0, number, 0, 0, 0, 0, 0, 0, 0]);
    peer.send(END);
}

/// What a batch of these numbers leads to: rows with their index, answers, and how it ended.
type Seen = (Vec<(usize, Value<'static>)>, Vec<usize>, Result<(), SessionError>);

fn run(session: &mut MysqlSession, numbers: &[i64]) -> Seen {
    let id = session.prepare("select ?", &[ParamType::Int]).unwrap();
    let params: Vec<[Param<'_>; 1]> = numbers.iter().map(|n| [Param::Int(*n)]).collect();
    let batch: Vec<_> = params.iter().map(|p| (id, p.as_slice())).collect();
    let (mut rows, mut answers) = (Vec::new(), Vec::new());
    let ended = session.execute_pipelined(
        &batch,
        &mut |index, row| rows.push((index, Value::Int(row.value(0).as_int().unwrap()))),
        &mut |index, done| {
            assert_eq!(done.rows, 1);
            answers.push(index);
        },
    );
    (rows, answers, ended)
}

#[test]
fn all_are_sent_before_the_first_answer_is_read() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        take_prepare(&mut peer);
        let numbers: Vec<u8> = (0..3).map(|_| take_execution(&mut peer)).collect();
        assert_eq!(numbers, [7, 8, 9]);
        for number in numbers {
            answer(&mut peer, number);
        }
        assert_eq!(peer.receive(), b"\x01");
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let (rows, answers, ended) = run(&mut session, &[7, 8, 9]);
    ended.unwrap();
    assert_eq!(rows, [(0, Value::Int(7)), (1, Value::Int(8)), (2, Value::Int(9))]);
    assert_eq!(answers, [0, 1, 2]);
    drop(session);
    server.finish();
}

#[test]
fn after_an_error_the_other_answers_are_dropped_and_the_session_goes_on() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        take_prepare(&mut peer);
        for _ in 0..4 {
            take_execution(&mut peer);
        }
        answer(&mut peer, 7);
        peer.sequence = 1;
        peer.send(b"\xff\xbd\x04#40001Deadlock found");
        answer(&mut peer, 9);
        peer.sequence = 1;
        peer.send(b"\xff\x15\x04#28000Another error");
        assert_eq!(peer.receive(), b"\x03do 1");
        peer.send(OK);
        peer.receive();
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let (rows, answers, ended) = run(&mut session, &[7, 8, 9, 10]);
    assert_eq!(rows, [(0, Value::Int(7))]);
    assert_eq!(answers, [0]);
    let error = ended.unwrap_err();
    assert_eq!(error.code(), "1213");
    assert!(error.to_string().contains("(in `select ?`)"), "{error}");
    session.execute("do 1").unwrap();
    drop(session);
    server.finish();
}

#[test]
fn a_malformed_or_missing_answer_ends_the_session() {
    for (reply, code) in [
        (Some(b"\xfb/etc/passwd".as_slice()), "protocol"),
        (Some(b"\x01\x02\x03"), "protocol"),
        (None, "lost"),
    ] {
        let (server, connector) = serve(move |mut peer| {
            peer.let_in();
            take_prepare(&mut peer);
            take_execution(&mut peer);
            take_execution(&mut peer);
            answer(&mut peer, 7);
            peer.sequence = 1;
            if let Some(reply) = reply {
                peer.send(reply);
                let _ = peer.socket.read_to_end(&mut Vec::new());
            }
        });
        let mut session = MysqlSession::open(&connector).unwrap();
        let (_, answers, ended) = run(&mut session, &[7, 8]);
        assert_eq!(answers, [0]);
        assert_eq!(ended.unwrap_err().code(), code);
        assert_eq!(session.execute("do 1").unwrap_err().code(), "lost");
        server.finish();
    }
}

#[test]
fn each_answer_has_the_whole_timeout() {
    let patience = |server: &mut ServerEndpoint| server.timeout = Duration::from_secs(1);
    let (server, connector) = serve_endpoint("", patience, |mut peer| {
        peer.let_in();
        take_prepare(&mut peer);
        for _ in 0..4 {
            take_execution(&mut peer);
        }
        for number in 0..4 {
            std::thread::sleep(Duration::from_millis(400));
            answer(&mut peer, number);
        }
        peer.receive();
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    run(&mut session, &[0, 1, 2, 3]).2.unwrap();
    drop(session);
    server.finish();
}

#[test]
fn what_comes_before_an_execution_that_cannot_be_made_is_run() {
    let (server, connector) = serve(|mut peer| {
        peer.let_in();
        take_prepare(&mut peer);
        for _ in 0..2 {
            take_execution(&mut peer);
            answer(&mut peer, 0);
        }
        assert_eq!(peer.receive(), b"\x01");
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let id = session.prepare("select ?", &[ParamType::Int]).unwrap();
    let one = [Param::Int(1)];
    let unknown = crate::StatementId(7);
    let batches: [&[(_, &[Param<'_>])]; 3] =
        [&[], &[(id, &one), (unknown, &one)], &[(id, &one), (id, &[])]];
    for batch in batches {
        let mut done = 0;
        let ended = session.execute_pipelined(batch, &mut |_, _| (), &mut |_, _| done += 1);
        assert_eq!((ended.is_ok(), done), (batch.is_empty(), batch.len() / 2));
    }
    drop(session);
    server.finish();
}
