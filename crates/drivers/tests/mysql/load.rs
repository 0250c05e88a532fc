//! `LOAD DATA LOCAL`.

use drivers::{Session, SessionError};

/// Switches it on, or off.
fn allow(session: &mut dyn Session, on: bool) {
    let sql = format!("set global local_infile = {}", u8::from(on));
    session.execute(&sql).unwrap();
}

/// Loads `text` in parts of the given size.
fn load(session: &mut dyn Session, text: &str, part: usize) -> Result<u64, SessionError> {
    let mut parts = text.as_bytes().chunks(part);
    session.load_rows("l", &["id", "c", "n"], &mut |out| {
        let part = parts.next();
        out.extend_from_slice(part.unwrap_or_default());
        part.is_some()
    })
}

fn make_table(session: &mut dyn Session) {
    session.execute("drop table if exists l").unwrap();
    session
        .execute(
            "create table l (id int primary key, c varchar(20) character set utf8, \
             n decimal(6,2)) engine=innodb",
        )
        .unwrap();
}

fn texts(session: &mut dyn Session) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    session
        .query("select c from l order by id", &mut |row| {
            texts.push(row.value(0).to_text());
        })
        .unwrap();
    texts
}

pub(crate) fn every_escape(session: &mut dyn Session) {
    assert!(session.can_load_rows());
    allow(session, true);
    let text = "1\ta\\\\b\t1.50\n2\ta\\tb\t-1.50\n3\ta\\nb\t0\n4\ta\\rb\t0\n5\t\t0\n6\t\\N\t0\n\
                7\t'quoted\" , text\t0\n8\tdéjà\t0\n9\t  a \t0\n";
    let expected = [
        Some("a\\b"),
        Some("a\tb"),
        Some("a\nb"),
        Some("a\rb"),
        Some(""),
        None,
        Some("'quoted\" , text"),
        Some("déjà"),
        Some("  a "),
    ]
    .map(|text| text.map(str::to_owned));
    for mode in ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"] {
        session.execute(&format!("set sql_mode = '{mode}'")).unwrap();
        for part in [7, 1 << 16] {
            make_table(session);
            assert_eq!(load(session, text, part).unwrap(), 9);
            assert_eq!(texts(session), expected, "{mode}");
        }
    }
    session.execute("set sql_mode = default").unwrap();
}

pub(crate) fn none_and_many(session: &mut dyn Session) {
    use std::fmt::Write;
    make_table(session);
    assert_eq!(load(session, "", 1).unwrap(), 0);
    let mut text = String::new();
    for id in 0..100_000 {
        writeln!(text, "{id}\trow {id}\t{}.25", id % 1000).unwrap();
    }
    // Also in one piece, which is longer than any packet.
    for part in [60_000, usize::MAX] {
        make_table(session);
        assert_eq!(load(session, &text, part).unwrap(), 100_000);
        let mut sums = Vec::new();
        session
            .query("select count(*), sum(id), sum(n) from l", &mut |row| {
                sums = (0..3).map(|i| row.value(i).to_text().unwrap()).collect();
            })
            .unwrap();
        assert_eq!(sums, ["100000", "4999950000", "49975000.00"]);
    }
}

pub(crate) fn what_is_not_taken_as_it_is(session: &mut dyn Session) {
    for (text, code) in [
        ("1\ta\t1\n1\tb\t2\n", "1062"),
        ("1\tmuch longer than twenty characters\t1\n", "1265"),
        ("1\ta\tno number\n", "1366"),
        ("1\ta\n", "1261"),
        ("1\ta\t1\tb\n", "1262"),
        ("1\ta\t1.234\n", "1265"),
    ] {
        make_table(session);
        let Err(error) = load(session, text, 100) else {
            panic!("{text} was taken");
        };
        assert_eq!(error.code(), code, "{text}: {error}");
        assert!(error.to_string().contains("rows were added"), "{error}");
        session.execute("do 1").unwrap();
    }
}

pub(crate) fn refused(session: &mut dyn Session) {
    make_table(session);
    session.execute("drop table l").unwrap();
    assert_eq!(load(session, "1\ta\t1\n", 100).unwrap_err().code(), "1146");
    make_table(session);
    allow(session, false);
    let error = load(session, "1\ta\t1\n", 100).unwrap_err();
    assert!(["1148", "3948", "4166"].contains(&error.code()), "{error}");
    assert_eq!(texts(session), []);
    allow(session, true);
    assert_eq!(load(session, "1\ta\t1\n", 100).unwrap(), 1);
}
