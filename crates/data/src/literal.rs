//! Values as literals of SQL text.

use std::fmt::Write;

use model::Dialect;

pub fn push_int(sql: &mut String, value: i64) {
    // After a minus, the sign of a negative number would begin a comment.
    if value < 0 {
        sql.push(' ');
    }
    sql.push_str(itoa::Buffer::new().format(value));
}

/// Appends a number that is text: digits, with a sign where it is negative.
pub fn push_number(sql: &mut String, number: &str) {
    if number.starts_with('-') {
        sql.push(' ');
    }
    sql.push_str(number);
}

/// Appends a text in quotes. Whatever is in it stays in it, whether or not the server takes a backslash
/// for an escape: that is up to MySQL's `NO_BACKSLASH_ESCAPES` and PostgreSQL's
/// `standard_conforming_strings`.
pub fn push_text(sql: &mut String, dialect: Dialect, text: &str) {
    let has = |byte: u8| text.as_bytes().contains(&byte);
    match dialect {
        Dialect::Mysql if has(b'\\') || has(0) => {
            sql.push_str("_utf8mb4 ");
            push_hexadecimal(sql, text);
        }
        Dialect::Postgres if has(b'\\') => {
            sql.push_str("E'");
            push_doubled(sql, text.split_inclusive(['\'', '\\']), &['\'', '\\']);
            sql.push('\'');
        }
        // A statement's text ends at a NUL.
        Dialect::Sqlite if has(0) => {
            sql.push_str("CAST(");
            push_hexadecimal(sql, text);
            sql.push_str(" AS TEXT)");
        }
        Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite => {
            sql.push('\'');
            push_doubled(sql, text.split_inclusive('\''), &['\'']);
            sql.push('\'');
        }
    }
}

/// Appends the parts of a text; where one ends with a character of `doubled`, that character twice.
fn push_doubled<'a>(sql: &mut String, parts: impl Iterator<Item = &'a str>, doubled: &[char]) {
    for part in parts {
        sql.push_str(part);
        if let Some(last) = part.chars().next_back().filter(|c| doubled.contains(c)) {
            sql.push(last);
        }
    }
}

/// Appends the bytes of a text as `X'6162'`.
fn push_hexadecimal(sql: &mut String, text: &str) {
    sql.push_str("X'");
    for byte in text.bytes() {
        let _infallible = write!(sql, "{byte:02X}");
    }
    sql.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(dialect: Dialect, text: &str) -> String {
        let mut sql = String::new();
        push_text(&mut sql, dialect, text);
        sql
    }

    #[test]
    fn plain_texts_are_the_same_everywhere() {
        for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
            assert_eq!(quoted(dialect, ""), "''");
            assert_eq!(quoted(dialect, "10-ab ü"), "'10-ab ü'");
            assert_eq!(quoted(dialect, "'it''s'"), "'''it''''s'''");
        }
    }

    #[test]
    fn backslashes_do_not_escape_the_closing_quote() {
        assert_eq!(quoted(Dialect::Mysql, r"a\"), "_utf8mb4 X'615C'");
        assert_eq!(quoted(Dialect::Postgres, r"a\"), r"E'a\\'");
        assert_eq!(
            quoted(Dialect::Postgres, r"\'; DROP TABLE t; --"),
            r"E'\\''; DROP TABLE t; --'"
        );
        assert_eq!(quoted(Dialect::Sqlite, r"a\"), r"'a\'");
    }

    #[test]
    fn a_nul_does_not_end_the_statement() {
        assert_eq!(quoted(Dialect::Mysql, "a\0'"), "_utf8mb4 X'610027'");
        assert_eq!(quoted(Dialect::Sqlite, "a\0'"), "CAST(X'610027' AS TEXT)");
    }

    /// What a server would read back, by the rules of its dialect with and without escapes.
    fn read_back(dialect: Dialect, escapes: bool, literal: &str) -> Option<String> {
        if let Some((_, hexadecimal)) = literal.split_once("X'") {
            let digits = hexadecimal.split('\'').next()?;
            let bytes = (0..digits.len()).step_by(2);
            let bytes = bytes.map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok());
            return String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok();
        }
        let escapes = match dialect {
            Dialect::Mysql => escapes,
            Dialect::Postgres => escapes || literal.starts_with('E'),
            Dialect::Sqlite => false,
        };
        let inside = literal.strip_prefix('E').unwrap_or(literal);
        let mut rest = inside.strip_prefix('\'')?.chars();
        let mut text = String::new();
        loop {
            match rest.next()? {
                '\'' if rest.as_str().starts_with('\'') => text.extend(rest.next()),
                '\'' => return rest.as_str().is_empty().then_some(text),
                '\\' if escapes => text.extend(rest.next()),
                other => text.push(other),
            }
        }
    }

    #[test]
    fn every_hostile_text_comes_back_as_it_was() {
        const ALPHABET: [&str; 6] = ["'", "\\", "\0", "a", "ü", "\n"];
        let mut rng = model::Rng::new(1);
        for _ in 0..5_000 {
            let length = rng.below(7);
            let text: String =
                (0..length).map(|_| ALPHABET[rng.below(ALPHABET.len() as u64) as usize]).collect();
            for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
                // PostgreSQL's texts have no NUL.
                if dialect == Dialect::Postgres && text.contains('\0') {
                    continue;
                }
                let literal = quoted(dialect, &text);
                assert!(!literal.contains('\0'));
                for escapes in [false, true] {
                    let read = read_back(dialect, escapes, &literal);
                    assert_eq!(read.as_deref(), Some(text.as_str()), "{dialect:?} {literal}");
                }
            }
        }
    }

    #[test]
    fn a_negative_number_begins_no_comment() {
        let mut sql = "k -".to_owned();
        push_int(&mut sql, -5);
        push_number(&mut sql, "-12.50");
        push_int(&mut sql, 7);
        assert_eq!(sql, "k - -5 -12.507");
    }
}
