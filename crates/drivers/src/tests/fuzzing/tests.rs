//! The same as the fuzzers, in the time of a test: bytes and messages at random.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

/// A few thousand for each protocol, in some seconds.
const CASES: u32 = 1500;

/// More than all buffers of a session and of the tests beside it together.
const MEMORY_LIMIT_KB: u64 = 1 << 20;

/// Highest use of memory of this process so far; `None` where the system does not tell.
fn highest_memory_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn assert_memory_is_bounded() {
    if let Some(used) = highest_memory_kb() {
        assert!(used < MEMORY_LIMIT_KB, "{used} KB");
    }
}

/// A message of PostgreSQL: mostly of a kind that a server sends, now and then with a false length.
fn postgres_message() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![
        9 => proptest::sample::select(b"RSKZ12tTDCEINAGHdcns".to_vec()),
        1 => any::<u8>(),
    ];
    let good = prop_oneof![
        Just(b"C\0\0\0\x0dSELECT 1\0".to_vec()),
        Just(b"C\0\0\0\x0bCOPY 3\0".to_vec()),
        Just(b"Z\0\0\0\x05I".to_vec()),
        Just(b"2\0\0\0\x04".to_vec()),
        Just(b"G\0\0\0\x07\0\0\0".to_vec()),
        Just(b"E\0\0\0\x13VERROR\0C40001\0\0".to_vec()),
    ];
    let random = (kind, vec(any::<u8>(), 0..60), any::<u8>()).prop_map(|(kind, body, off)| {
        let mut length = body.len() as u32 + 4;
        if off < 8 {
            length = length.wrapping_add(u32::from(off)).wrapping_sub(4);
        }
        let mut bytes = vec![kind];
        bytes.extend(length.to_be_bytes());
        bytes.extend(body);
        bytes
    });
    prop_oneof![good, random, postgres_row()]
}

/// A row of the columns of the prepared statement, whose values may be of any width.
fn postgres_row() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        Just(None),
        vec(any::<u8>(), 0..9).prop_map(Some),
        proptest::sample::select(vec![1_usize, 2, 4, 8]).prop_flat_map(|width| vec(
            any::<u8>(),
            width
        )
        .prop_map(Some)),
    ];
    vec(value, 8..11).prop_map(|values| {
        let mut body = (values.len() as u16).to_be_bytes().to_vec();
        for value in &values {
            let length = value.as_ref().map_or(u32::MAX, |value| value.len() as u32);
            body.extend(length.to_be_bytes());
            body.extend(value.iter().flatten());
        }
        let mut bytes = vec![b'D'];
        bytes.extend((body.len() as u32 + 4).to_be_bytes());
        bytes.extend(body);
        bytes
    })
}

/// Packets of MySQL in one answer after the other: numbered from 1 on, now and then wrongly.
fn mysql_answers() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        Just(b"\0\x01\0\x02\0\0\0".to_vec()),
        Just(b"\xfe\0\0\x02\0".to_vec()),
        Just(b"\xff\x15\x04#28000no".to_vec()),
        Just(b"\x03def\0\0\0\x01n\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0".to_vec()),
        Just(vec![1]),
        Just(vec![2]),
        (0..4_u8, vec(any::<u8>(), 0..60)).prop_map(|(first, mut rest)| {
            rest.insert(0, first);
            rest
        }),
        vec(any::<u8>(), 0..60),
    ];
    let packet = (payload, any::<u8>(), any::<u8>());
    vec(packet, 0..24).prop_map(|packets| {
        let mut sequence = 0_u8;
        let mut bytes = Vec::new();
        for (payload, luck, off) in packets {
            sequence = match luck {
                0..64 => 1,
                64..72 => off,
                _ => sequence.wrapping_add(1),
            };
            let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
            bytes.extend([a, b, c, sequence]);
            bytes.extend(payload);
        }
        bytes
    })
}

/// Options of all kinds, mostly such that the client is let in.
fn options() -> impl Strategy<Value = u8> {
    prop_oneof![
        2 => (0..CALLS).prop_map(|call| LET_IN | call),
        1 => (0..CALLS).prop_map(|call| LET_IN | KNOWN_COLUMNS | call),
        1 => any::<u8>(),
    ]
}

proptest! {
    #![proptest_config(Config::with_cases(CASES))]

    #[test]
    fn no_bytes_harm_a_postgres_session(options in options(), said in vec(any::<u8>(), 0..400)) {
        postgres(options, &said);
        assert_memory_is_bounded();
    }

    #[test]
    fn no_messages_harm_a_postgres_session(
        options in options(),
        said in vec(postgres_message(), 0..24),
    ) {
        postgres(options, &said.concat());
        assert_memory_is_bounded();
    }

    #[test]
    fn no_bytes_harm_a_mysql_session(options in options(), said in vec(any::<u8>(), 0..400)) {
        mysql(options, &said);
        assert_memory_is_bounded();
    }

    #[test]
    fn no_packets_harm_a_mysql_session(options in options(), said in mysql_answers()) {
        mysql(options, &said);
        assert_memory_is_bounded();
    }
}
