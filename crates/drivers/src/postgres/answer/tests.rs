use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::ParamType;
use crate::Row;
use crate::Value;
use crate::pipeline::{Counted, Each};
use crate::postgres::statement::Prepared;
use crate::stream::Stream;

const READY: &[u8] = b"Z\0\0\0\x05I";

fn read(
    wire: &mut Wire,
    columns: Columns<'_>,
    each: &mut dyn FnMut(&dyn Row),
) -> Result<Done, SessionError> {
    super::read(wire, columns, Each(each))
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode::message(&mut bytes, kind, |to| to.extend_from_slice(body));
    bytes
}

/// A connection whose server has sent `reply` and then closed its side.
fn wire_with(reply: &[u8]) -> (Wire, UnixStream) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(reply).unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    let stream = Stream::over(ours.into(), true, Duration::from_secs(10));
    (Wire::over(stream), theirs)
}

fn simple(reply: &[u8]) -> (Result<Done, SessionError>, Vec<String>) {
    let (mut wire, _server) = wire_with(reply);
    let mut rows = Vec::new();
    let answer = read(&mut wire, Columns::Described(&mut Vec::new()), &mut |row| {
        rows.push(format!("{:?}", row.value(0).to_text()));
    });
    (answer, rows)
}

fn prepared(reply: &[u8], formats: &[Format]) -> (Result<Done, SessionError>, Vec<i64>) {
    let (mut wire, _server) = wire_with(reply);
    let mut rows = Vec::new();
    let answer = read(&mut wire, Columns::Prepared(formats), &mut |row| {
        if let Value::Int(number) = row.value(0) {
            rows.push(number);
        }
    });
    (answer, rows)
}

fn description() -> Vec<u8> {
    let mut body = vec![0, 1];
    body.extend(b"n\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0");
    message(b'T', &body)
}

fn error(severity: &str, code: &str) -> Vec<u8> {
    message(b'E', format!("V{severity}\0C{code}\0Msaid\0\0").as_bytes())
}

fn announced(reply: &[u8], formats: &[Format]) -> Result<Done, SessionError> {
    let (mut wire, _server) = wire_with(reply);
    read(&mut wire, Columns::Announced(formats), &mut |_| ())
}

#[test]
fn an_answer_that_announces_its_columns_must_have_those_of_the_statement() {
    let of = |announcement: &[u8], tag: &[u8]| {
        let bound = message(b'2', b"");
        let reply = [&bound, announcement, &message(b'C', tag), READY];
        reply.concat()
    };
    let one_column = of(&description(), b"SELECT 0\0");
    assert_eq!(announced(&one_column, &[Format::Int4]).unwrap().rows, 0);
    let none = of(&message(b'n', b""), b"UPDATE 3\0");
    assert_eq!(announced(&none, &[]).unwrap().affected, 3);
    for (reply, formats) in [
        (&one_column, [Format::Int4, Format::Text].as_slice()),
        (&one_column, &[]),
        (&none, &[Format::Int4]),
    ] {
        let error = announced(reply, formats).unwrap_err().to_string();
        assert!(error.contains("not the columns"), "{error}");
    }
    // A server that announces unrequested data speaks another protocol.
    assert!(prepared(&one_column, &[Format::Int4]).0.is_err());
}

#[test]
fn a_text_query_shows_its_rows() {
    let reply = [
        description(),
        message(b'D', b"\0\x01\0\0\0\x0242"),
        message(b'N', b"VNOTICE\0C00000\0Mjust so you know\0\0"),
        message(b'S', b"TimeZone\0UTC\0"),
        message(b'A', b"\0\0\0\x01channel\0payload\0"),
        message(b'D', b"\0\x01\xff\xff\xff\xff"),
        message(b'C', b"SELECT 2\0"),
        READY.to_vec(),
    ]
    .concat();
    let (answer, rows) = simple(&reply);
    assert_eq!(answer.unwrap(), Done { rows: 2, affected: 0, columns: 1 });
    assert_eq!(rows, ["Some(\"42\")", "None"]);
}

#[test]
fn a_prepared_query_shows_binary_rows() {
    let reply = [
        message(b'2', b""),
        message(b'D', b"\0\x01\0\0\0\x04\xff\xff\xff\xfe"),
        message(b'C', b"SELECT 1\0"),
        READY.to_vec(),
    ]
    .concat();
    let (answer, rows) = prepared(&reply, &[Format::Int4]);
    assert_eq!(answer.unwrap(), Done { rows: 1, affected: 0, columns: 1 });
    assert_eq!(rows, [-2]);
}

#[test]
fn rows_arrive_in_any_pieces() {
    let mut reply = message(b'2', b"");
    for number in 0..40_i32 {
        let row = [&b"\0\x01\0\0\0\x04"[..], &number.to_be_bytes()].concat();
        reply.extend(message(b'D', &row));
        if number % 7 == 0 {
            reply.extend(message(b'N', b"VNOTICE\0C00000\0Mstill busy\0\0"));
        }
    }
    reply.extend(message(b'C', b"SELECT 40\0"));
    reply.extend(READY);
    for piece in [1, 2, 5, 14, 15, 16, 100, reply.len()] {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let stream = Stream::over(ours.into(), true, Duration::from_secs(10));
        let said = reply.clone();
        let server = std::thread::spawn(move || {
            for part in said.chunks(piece) {
                theirs.write_all(part).unwrap();
                std::thread::yield_now();
            }
        });
        let mut rows = Vec::new();
        let mut wire = Wire::over(stream);
        let answer = read(&mut wire, Columns::Prepared(&[Format::Int4]), &mut |row| {
            rows.push(row.value(0).as_int().unwrap());
        });
        assert_eq!(answer.unwrap().rows, 40, "pieces of {piece}");
        assert!(rows.iter().copied().eq(0..40), "pieces of {piece}");
        server.join().unwrap();
        wire.stream.abandon();
    }
}

#[test]
fn a_broken_row_is_noticed_by_who_looks_at_it() {
    let reply = [
        message(b'2', b""),
        message(b'D', b"\0\x01\0\0\0\x63too short"),
        message(b'C', b"SELECT 1\0"),
        READY.to_vec(),
    ]
    .concat();
    let (mut wire, _server) = wire_with(&reply);
    let counted = read(&mut wire, Columns::Prepared(&[Format::Text]), &mut |_| ());
    assert_eq!(counted.unwrap().rows, 1);
    let (mut wire, _server) = wire_with(&reply);
    let counted = super::read(&mut wire, Columns::Prepared(&[Format::Text]), Counted);
    assert_eq!(counted.unwrap().rows, 1);
    let (answer, _) = prepared(&reply, &[Format::Text]);
    assert_eq!(answer.unwrap_err().code(), "protocol");
}

#[test]
fn tags_tell_the_affected_rows() {
    for (tag, shown, wanted) in [
        ("INSERT 0 50", 0, 50),
        ("INSERT 0 2", 2, 2),
        ("DELETE 3", 0, 3),
        ("UPDATE 0", 0, 0),
        ("MERGE 7", 0, 7),
        ("COPY 9", 0, 9),
        ("SELECT 50", 50, 0),
        ("SELECT 50", 0, 50),
        ("CREATE TABLE", 0, 0),
        ("BEGIN", 0, 0),
        ("FETCH 5", 5, 0),
    ] {
        let body = format!("{tag}\0");
        assert_eq!(affected(body.as_bytes(), shown).unwrap(), wanted, "{tag}");
    }
    for bad in [
        &b"DELETE 3"[..],
        b"DELETE\0",
        b"DELETE many\0",
        b"DELETE \xff\0",
        b"DELETE 3 \0",
        b"INSERT 0 99999999999999999999\0",
        b"",
    ] {
        assert_eq!(affected(bad, 0).unwrap_err().code(), "protocol", "{bad:?}");
    }
}

#[test]
fn absurd_numbers_of_rows_do_not_overflow() {
    let most = message(b'C', format!("DELETE {}\0", u64::MAX).as_bytes());
    let (answer, _) = simple(&[most.as_slice(), &most, READY].concat());
    assert_eq!(answer.unwrap().affected, u64::MAX);
}

#[test]
fn a_loss_tells_what_the_server_had_said() {
    let status = message(b'S', b"TimeZone\0UTC\0");
    for (said, wanted) in [
        (error("FATAL", "57P01"), Some("57P01: said")),
        (
            [status.clone(), message(b'N', b"VWARNING\0C57P02\0Mcrash\0\0")].concat(),
            Some("57P02: crash"),
        ),
        (status, None),
        (b"E\0\0\0\x20".to_vec(), None),
    ] {
        let (mut wire, server) = wire_with(&said);
        drop(server);
        let error = wire.send(b"Q\0\0\0\x05\0").unwrap_err();
        assert_eq!(error.code(), "lost");
        let text = error.to_string();
        match wanted {
            Some(words) => {
                assert!(text.ends_with(&format!("the server had said: {words}")), "{text}");
            }
            None => assert!(!text.contains("had said"), "{text}"),
        }
    }
}

#[test]
fn an_error_is_read_to_the_end_of_the_answer() {
    let reply = [error("ERROR", "42601"), READY.to_vec(), b"next!".to_vec()].concat();
    let (mut wire, _server) = wire_with(&reply);
    let failed = read(&mut wire, Columns::Prepared(&[]), &mut |_| ());
    assert_eq!(failed.unwrap_err().code(), "42601");
    // The rest belongs to the next answer.
    assert_eq!(
        wire.next().unwrap_err().to_string(),
        "protocol error: malformed header: kind 'n', length 1702392865"
    );
}

#[test]
fn a_fatal_error_ends_the_session() {
    let (answer, _) = simple(&error("FATAL", "57P01"));
    assert_eq!(
        answer.unwrap_err().to_string(),
        "connection lost: the server ended the session: 57P01: said"
    );
}

#[test]
fn broken_answers_are_protocol_errors() {
    let row = message(b'D', b"\0\x01\0\0\0\x0242");
    let done = message(b'C', b"SELECT 1\0");
    for (what, reply) in [
        ("a row before its description", [row.clone(), done].concat()),
        ("ready without an end", READY.to_vec()),
        ("an unknown message", message(b'x', b"")),
        ("another protocol", b"\x04\0\0\0not a greeting".to_vec()),
        ("a length below its own four bytes", b"C\0\0\0\x03".to_vec()),
        ("a length beyond the limit", b"C\x7f\xff\xff\xff".to_vec()),
        ("a row that is cut", [description(), message(b'D', b"\0\x01\0\0\0\x05abc")].concat()),
        ("an error without end", message(b'E', b"Mendless")),
    ] {
        let (answer, _) = simple(&reply);
        assert_eq!(answer.unwrap_err().code(), "protocol", "{what}");
    }
    let (answer, _) = prepared(&[description(), row].concat(), &[Format::Text]);
    assert_eq!(answer.unwrap_err().code(), "protocol", "a description nobody asked for");
}

#[test]
fn an_answer_that_is_cut_is_a_lost_connection() {
    let whole = [description(), message(b'C', b"SELECT 0\0"), READY.to_vec()].concat();
    for cut in 0..whole.len() {
        let (answer, _) = simple(&whole[..cut]);
        assert_eq!(answer.unwrap_err().code(), "lost", "cut at {cut}");
    }
    simple(&whole).0.unwrap();
}

#[test]
fn copies_are_refused_and_the_session_goes_on() {
    for (columns, wanted_tail) in [
        (Columns::Described(&mut Vec::new()), &b"use INSERT\0"[..]),
        (Columns::Prepared(&[]), b"use INSERT\0S\0\0\0\x04"),
    ] {
        let reply = [message(b'G', b"\0\0\0"), error("ERROR", "57014"), READY.to_vec()].concat();
        let (mut wire, mut server) = wire_with(&reply);
        let failed = read(&mut wire, columns, &mut |_| ());
        assert_eq!(failed.unwrap_err().code(), "57014");
        wire.stream.abandon();
        let mut sent = Vec::new();
        server.read_to_end(&mut sent).unwrap();
        assert_eq!(sent.first(), Some(&b'f'));
        assert!(sent.ends_with(wanted_tail), "{:?}", sent.escape_ascii().to_string());
    }
    // A server that wants rows again and again would have us answer for ever.
    let again = message(b'G', b"\0\0\0").repeat(2);
    assert_eq!(simple(&again).0.unwrap_err().code(), "protocol");
    let (mut wire, _server) = wire_with(&again);
    assert_eq!(skip(&mut wire, true).unwrap_err().code(), "protocol");
    let out = [
        message(b'H', b"\0\0\0"),
        message(b'd', b"1\n"),
        message(b'c', b""),
        message(b'C', b"COPY 1\0"),
        READY.to_vec(),
    ]
    .concat();
    assert_eq!(simple(&out).0.unwrap_err().code(), "0A000");
}

/// Messages that a server may send, some of them with a body that does not fit.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![
        Just(description()),
        Just(message(b'2', b"")),
        Just(message(b'D', b"\0\x01\0\0\0\x0242")),
        Just(message(b'D', b"\0\x01\xff\xff\xff\xff")),
        Just(message(b'C', b"INSERT 0 5\0")),
        Just(message(b'I', b"")),
        Just(message(b'G', b"\0\0\0")),
        Just(error("ERROR", "40001")),
        Just(READY.to_vec()),
        (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(kind, body)| message(kind, &body)),
        proptest::sample::select(b"RKSTtDCENAGHZ123".to_vec()).prop_flat_map(|kind| {
            proptest::collection::vec(any::<u8>(), 0..40).prop_map(move |body| message(kind, &body))
        }),
    ];
    proptest::collection::vec(one, 0..12).prop_map(|all| all.concat())
}

/// Every reader of replies, fed with the same bytes: whatever they are, each ends by itself.
fn feed_all_readers(reply: &[u8]) {
    let (answer, rows) = simple(reply);
    if let Ok(done) = answer {
        assert_eq!(done.rows, rows.len() as u64);
    }
    let (answer, rows) = prepared(reply, &[Format::Int4]);
    if let Ok(done) = answer {
        assert!(done.rows >= rows.len() as u64);
    }
    let (mut wire, _server) = wire_with(reply);
    let _ = Prepared::new(&mut wire, "s0", "SELECT 1", &[ParamType::Int], false);
    let (mut wire, _server) = wire_with(reply);
    let login =
        crate::Login { user: "u".to_owned(), password: "p".to_owned(), database: String::new() };
    let address = crate::Address::Socket("test.sock".into());
    let server = crate::ServerEndpoint::plain(address, login, Duration::from_secs(10));
    let _ = crate::postgres::login::log_in(&mut wire, &server);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(reply in proptest::collection::vec(any::<u8>(), 0..300)) {
        feed_all_readers(&reply);
    }

    #[test]
    fn random_messages_never_panic(reply in messages(), cut in 0..400_usize) {
        feed_all_readers(&reply);
        feed_all_readers(&reply[..cut.min(reply.len())]);
    }

    #[test]
    fn random_authentication_never_panics(
        request in prop_oneof![0..13_u32, any::<u32>()],
        data in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut body = request.to_be_bytes().to_vec();
        body.extend(data);
        feed_all_readers(&[message(b'R', &body), message(b'R', &[0; 4]), READY.to_vec()].concat());
    }
}
