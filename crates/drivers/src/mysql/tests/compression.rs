//! The compressed protocol.

use super::*;
use crate::stream::compressed::tests::{deflated, frame};

fn with_compression(server: &mut ServerEndpoint) {
    server.compression = true;
}

/// The body of the next frame, which is sent as it is, and its sequence number.
fn take_frame(peer: &mut Peer) -> (u8, Vec<u8>) {
    let mut header = [0; 7];
    peer.socket.read_exact(&mut header).unwrap();
    assert_eq!(header[4..], [0; 3], "a short body is sent as it is");
    let mut body = vec![0; usize::from(header[0])];
    peer.socket.read_exact(&mut body).unwrap();
    (header[3], body)
}

/// Packets in the order of a reply, the first with this sequence number.
fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (sequence, payload) in (first..).zip(payloads) {
        let mut header = (payload.len() as u32).to_le_bytes();
        header[3] = sequence;
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(payload);
    }
    bytes
}

#[test]
fn everything_after_the_login_goes_in_frames() {
    let (server, connector) = serve_endpoint("", with_compression, |mut peer| {
        peer.send(&greeting("8.0.33", NATIVE));
        let flags = u32::from_le_bytes(*peer.receive().first_chunk().unwrap());
        assert_ne!(flags & 1 << 5, 0);
        peer.send(OK);
        assert_eq!(take_frame(&mut peer), (0, b"\x09\0\0\0\x03select 1".to_vec()));
        let value = [b"\xfc\x00\x10".as_slice(), &[b'x'; 4096]].concat();
        let reply = packets(1, &[b"\x01", &definition(253, 0, 0), END, &value, END]);
        // A packet may be cut anywhere.
        let (one, two) = reply.split_at(100);
        peer.socket.write_all(&frame(1, 0, one)).unwrap();
        peer.socket.write_all(&frame(2, two.len(), &deflated(two))).unwrap();
        assert_eq!(take_frame(&mut peer), (0, b"\x01\0\0\0\x01".to_vec()));
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let mut seen = 0;
    session
        .query("select 1", &mut |row| {
            assert_eq!(row.value(0), Value::Bytes(&[b'x'; 4096]));
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, 1);
    drop(session);
    server.finish();
}

#[test]
fn packets_are_numbered_after_the_frames() {
    let (server, connector) = serve_endpoint("", with_compression, |mut peer| {
        peer.let_in();
        take_frame(&mut peer);
        // As after a request of three frames.
        let reply = packets(4, &[b"\x01", &definition(253, 0, 0), END, b"\x01x", END]);
        peer.socket.write_all(&frame(1, 0, &reply)).unwrap();
        take_frame(&mut peer);
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    assert_eq!(session.execute("select 1").unwrap().rows, 1);
    drop(session);
    server.finish();
}

#[test]
fn broken_frames_end_the_session() {
    let ok = packets(1, &[OK]);
    for (reply, expected) in [
        (frame(3, 0, &ok), "out of order"),
        (frame(1, 4000, &deflated(&ok)), "shorter"),
        (frame(1, 2, &deflated(&ok)), "longer"),
        (frame(1, 10, b"nonsense"), "compressed frame"),
    ] {
        let (server, connector) = serve_endpoint("", with_compression, move |mut peer| {
            peer.let_in();
            take_frame(&mut peer);
            peer.socket.write_all(&reply).unwrap();
            let _ = peer.socket.read_to_end(&mut Vec::new());
        });
        let mut session = MysqlSession::open(&connector).unwrap();
        let error = session.execute("do 1").unwrap_err();
        assert_eq!(error.code(), "protocol");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(session.execute("do 1").unwrap_err().code(), "lost");
        server.finish();
    }
    // A frame that never ends, of which little has come.
    let (server, connector) = serve_endpoint("", with_compression, |mut peer| {
        peer.let_in();
        take_frame(&mut peer);
        peer.socket.write_all(b"\xff\xff\xff\x01\xff\xff\xff\x78\x9c").unwrap();
        let _ = peer.socket.read_to_end(&mut Vec::new());
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    assert_eq!(session.execute("do 1").unwrap_err().code(), "timeout");
    server.finish();
}

#[test]
fn each_of_several_executions_has_a_frame_of_its_own() {
    let (server, connector) = serve_endpoint("", with_compression, |mut peer| {
        peer.let_in();
        take_frame(&mut peer);
        let reply = packets(1, &[b"\0\x05\0\0\0\0\0\0\0\0\0\0"]);
        peer.socket.write_all(&frame(1, 0, &reply)).unwrap();
        for _ in 0..3 {
            let (sequence, body) = take_frame(&mut peer);
            assert_eq!((sequence, body[4]), (0, 0x17));
        }
        let reply = packets(1, &[OK]);
        for _ in 0..3 {
            peer.socket.write_all(&frame(1, 0, &reply)).unwrap();
        }
        take_frame(&mut peer);
    });
    let mut session = MysqlSession::open(&connector).unwrap();
    let id = session.prepare("do 1", &[]).unwrap();
    let none: &[Param<'_>] = &[];
    let mut answers = Vec::new();
    session
        .execute_pipelined(&[(id, none); 3], &mut |_, _| (), &mut |index, _| {
            answers.push(index);
        })
        .unwrap();
    assert_eq!(answers, [0, 1, 2]);
    drop(session);
    server.finish();
}
