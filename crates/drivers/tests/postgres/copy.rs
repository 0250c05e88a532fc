//! Loading rows.

use drivers::{PostgresSession, Session, SessionError};

use crate::column;

/// Values that need an escape, or look as if they did.
const TEXTS: [&str; 14] = [
    "plain",
    "",
    "a\tb",
    "a\nb",
    "a\rb",
    "a\\b",
    "\\",
    "\\N",
    "\\.",
    "\\t",
    " both sides ",
    "naïve 'quoted' \"twice\", $1 %s",
    "\u{8}\u{c}\u{b}\u{7f}",
    "数据\u{1f418}",
];

pub(crate) fn check(session: &mut PostgresSession) {
    session.execute("DROP TABLE IF EXISTS loaded").unwrap();
    session
        .execute(
            "CREATE TABLE loaded (id int PRIMARY KEY, name text, fixed char(8),
             price numeric(10,2), at timestamp)",
        )
        .unwrap();
    every_escape(session);
    errors(session);
    many_rows(session);
}

/// Writes a value as `load_rows` wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// Loads all parts.
fn load(
    session: &mut PostgresSession,
    columns: &[&str],
    parts: &[&str],
) -> Result<u64, SessionError> {
    let mut parts = parts.iter();
    session.load_rows("loaded", columns, &mut |rows| {
        let part = parts.next();
        rows.extend_from_slice(part.copied().unwrap_or_default().as_bytes());
        part.is_some()
    })
}

fn every_escape(session: &mut PostgresSession) {
    let columns = ["id", "name", "fixed", "price", "at"];
    let mut parts: Vec<String> = TEXTS
        .iter()
        .enumerate()
        .map(|(id, text)| {
            let text = escaped(text);
            format!("{id}\t{text}\tfix\t-{id}.50\t2026-11-21 10:00:00\n")
        })
        .collect();
    parts.push("99\t\\N\t\\N\t\\N\t\\N\n".to_owned());
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    assert_eq!(load(session, &columns, &parts).unwrap(), 15);
    let wanted: Vec<Option<String>> =
        TEXTS.iter().map(|text| Some((*text).to_owned())).chain([None]).collect();
    assert_eq!(column(session, "SELECT name FROM loaded ORDER BY id"), wanted);
    assert_eq!(
        column(session, "SELECT concat_ws(',', fixed, price, at) FROM loaded WHERE id = 3"),
        [Some("fix     ,-3.50,2026-11-21 10:00:00".to_owned())]
    );
    // Some columns in another order; no rows at all.
    let some = load(session, &["name", "id"], &["some\t100\n"]);
    assert_eq!(some.unwrap(), 1);
    assert_eq!(load(session, &["id"], &[]).unwrap(), 0);
    session.execute("TRUNCATE loaded").unwrap();
}

fn errors(session: &mut PostgresSession) {
    for (columns, parts, code) in [
        (&["id"][..], &["1\n2\nthree\n4\n"][..], "22P02"),
        (&["id"], &["1\n", "2\n", "1\n", "3\n"], "23505"),
        (&["id", "name"], &["1\n"], "22P04"),
        (&["id"], &["1\tone\n"], "22P04"),
        (&["id", "price"], &["1\t123456789.00\n"], "22003"),
        (&["nothing"], &["1\n"], "42703"),
    ] {
        let error = load(session, columns, parts).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains("COPY loaded ("), "{error}");
        assert_eq!(column(session, "SELECT count(*) FROM loaded"), [Some("0".to_owned())]);
    }
    let missing = session.load_rows("nowhere", &["id"], &mut |_| panic!("no rows are wanted"));
    assert_eq!(missing.unwrap_err().code(), "42P01");
    // A server that is at the end of its patience early hears no more of the rest.
    let mut parts = 0;
    let early = session.load_rows("loaded", &["id", "name"], &mut |rows| {
        parts += 1;
        rows.extend_from_slice(b"not a number\t");
        rows.resize(32 << 10, b'x');
        rows.push(b'\n');
        parts < 20_000
    });
    assert_eq!(early.unwrap_err().code(), "22P02");
    assert!(parts < 20_000, "all was sent");
    // In a transaction, too, the session stays usable.
    session.execute("BEGIN").unwrap();
    load(session, &["id"], &["x\n"]).unwrap_err();
    session.execute("ROLLBACK").unwrap();
}

fn many_rows(session: &mut PostgresSession) {
    const ROWS: u64 = 100_000;
    let mut id = 0;
    let loaded = session.load_rows("loaded", &["id", "name"], &mut |rows| {
        use std::io::Write as _;
        let before = rows.len();
        while id < ROWS && rows.len() < before + (32 << 10) {
            id += 1;
            writeln!(rows, "{id}\tname of {id}").unwrap();
        }
        rows.len() > before
    });
    assert_eq!(loaded.unwrap(), ROWS);
    assert_eq!(
        column(session, "SELECT count(*) || ' ' || sum(id) FROM loaded"),
        [Some("100000 5000050000".to_owned())]
    );
}
