//! What good servers say up to the first prepared statement.

/// The OIDs of `boolean`, the integers, the reals, `text`, `numeric` and `timestamp` (`pg_type.dat`).
const POSTGRES_TYPES: [u32; 9] = [16, 20, 21, 23, 700, 701, 25, 1700, 1114];

/// `MYSQL_TYPE_*`: the integers from 1 to 8 bytes, year, bit, the reals, decimal, the times, text
/// and blob.
const MYSQL_TYPES: [u8; 15] = [1, 2, 9, 3, 8, 13, 16, 4, 5, 246, 10, 12, 11, 253, 252];

/// A server that trusts everybody and has prepared a statement with two parameters.
pub(super) fn postgres() -> Vec<u8> {
    let mut columns = (POSTGRES_TYPES.len() as u16).to_be_bytes().to_vec();
    for oid in POSTGRES_TYPES {
        columns.extend(b"name\0\0\0\0\0\0\0");
        columns.extend(oid.to_be_bytes());
        columns.extend([0; 8]);
    }
    let messages: [(u8, &[u8]); 8] = [
        (b'R', &[0; 4]),
        (b'S', b"server_version\x0018.6\0"),
        (b'K', &[0; 8]),
        (b'Z', b"I"),
        (b'1', b""),
        (b't', &[0, 2, 0, 0, 0, 20, 0, 0, 0, 25]),
        (b'T', &columns),
        (b'Z', b"I"),
    ];
    let mut said = Vec::new();
    for (kind, body) in messages {
        said.push(kind);
        said.extend((body.len() as u32 + 4).to_be_bytes());
        said.extend(body);
    }
    said
}

/// A server that asks for a password, takes any, and has prepared a statement with two parameters. With
/// `known_columns` it is a MariaDB that need not describe columns again.
pub(super) fn mysql(is_compressed: bool, known_columns: bool) -> Vec<u8> {
    let mut greeting = b"\x0a8.0.33\0\x2a\0\0\x00noncenon\0".to_vec();
    // All capabilities but TLS, utf8mb4, autocommit, and 21 bytes of nonce.
    let (low, more) = if known_columns { (0xfe, 0x10) } else { (0xff, 0) };
    greeting.extend([low, 0xf7, 0x2d, 2, 0, 0xff, 0xff, 21, 0, 0, 0, 0, 0, 0]);
    greeting.extend([more, 0, 0, 0]);
    greeting.extend(b"cenoncenonce\0");
    greeting.extend(b"mysql_native_password\0");
    let mut said = packet(0, &greeting);
    said.extend(packet(2, b"\0\0\0\x02\0\0\0"));

    let mut prepared = b"\0\x01\0\0\0".to_vec();
    prepared.extend((MYSQL_TYPES.len() as u16).to_le_bytes());
    prepared.extend(b"\x02\0\0\0\0");
    let mut payloads = vec![prepared];
    for types in [&[253; 2][..], &MYSQL_TYPES] {
        payloads.extend(types.iter().map(|kind| definition(*kind)));
        payloads.push(b"\xfe\0\0\x02\0".to_vec());
    }
    let answer: Vec<u8> =
        (1_u8..).zip(payloads).flat_map(|(sequence, payload)| packet(sequence, &payload)).collect();
    if is_compressed {
        // Seven bytes of header; the last three say that it is sent as it is.
        said.extend(header(1, answer.len()));
        said.extend([0; 3]);
    }
    said.extend(answer);
    said
}

/// A column's definition: six texts, then twelve bytes.
fn definition(kind: u8) -> Vec<u8> {
    let mut bytes = b"\x03def\0\0\0\x01n\0\x0c\x2d\0\xff\0\0\0".to_vec();
    bytes.push(kind);
    bytes.extend([0; 5]);
    bytes
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header(sequence, payload.len()).to_vec();
    bytes.extend(payload);
    bytes
}

fn header(sequence: u8, length: usize) -> [u8; 4] {
    let [a, b, c, _] = (length as u32).to_le_bytes();
    [a, b, c, sequence]
}

#[cfg(test)]
mod tests {
    use crate::tests::fuzzing::{TYPES, connection};
    use crate::{
        Address, Login, MysqlSession, PostgresSession, ServerEndpoint, Session, StatementId,
    };

    /// A fuzzer that is never let in would find nothing.
    #[test]
    fn clients_are_let_in() {
        let login = Login {
            user: "somebody".to_owned(),
            password: "secret".to_owned(),
            database: String::new(),
        };
        let address = Address::Socket("test.sock".into());
        let server = ServerEndpoint::plain(address, login, super::super::TIMEOUT);

        let (stream, _theirs) = connection(&super::postgres()).unwrap();
        let mut session = PostgresSession::log_in(stream, &server).unwrap();
        assert_eq!(session.prepare("", &TYPES).unwrap(), StatementId(0));

        for (compression, known_columns) in [(false, false), (false, true), (true, false)] {
            let said = super::mysql(compression, known_columns);
            let (stream, _theirs) = connection(&said).unwrap();
            let server = ServerEndpoint { compression, ..server.clone() };
            let mut session = MysqlSession::log_in(stream, &server).unwrap();
            assert_eq!(session.prepare("", &TYPES).unwrap(), StatementId(0));
        }
    }
}
