//! Setting pragmas and finding out whether SQLite obeyed.
//!
//! SQLite ignores unknown pragmas and values without a word. A lab that compares settings must not,
//! so each name is looked up first and each value is read back where the pragma can be read.

use std::path::Path;

use rusqlite::ffi;

use super::{Connection, Failure, fault};
use crate::{Result, SessionError};

/// Sets one pragma and compares its value with the requested one.
pub(super) fn set(connection: &Connection, path: &Path, name: &str, value: &str) -> Result {
    let statement = format!("PRAGMA {name} = {value}");
    let failed = |failure: Failure| fault::at_connect(path, &statement, &failure);
    let refused = |message| Err(SessionError::server("SQLITE_ERROR", message).about(&statement));
    let listed = is_listed(connection, name).map_err(failed)?;
    if listed != Some(false) {
        let quoted = value.replace('\'', "''");
        connection.value(&format!("PRAGMA {name} = '{quoted}'")).map_err(failed)?;
        match connection.value(&format!("PRAGMA {name}")).map_err(failed)? {
            Some(got) if !same_value(name, value, &got) => {
                return refused(format!("asked for {name} = {value}, got {got}"));
            }
            // One that returns nothing, such as `case_sensitive_like`.
            None if listed.is_none() => {}
            Some(_) | None => return Ok(()),
        }
    }
    refused(format!("SQLite {} has no pragma `{name}`", connection.functions.version()))
}

/// Does the library list this pragma? `None` for versions before 3.30, which list none: there, one that
/// returns no value cannot be told from one that does not exist.
fn is_listed(connection: &Connection, name: &str) -> Result<Option<bool>, Failure> {
    if name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        return Ok(Some(false));
    }
    let sql = format!("SELECT count(*) FROM pragma_pragma_list WHERE name = lower('{name}')");
    match connection.value(&sql) {
        Ok(count) => Ok(count.map(|count| count != "0")),
        Err(Failure { code: ffi::SQLITE_ERROR, .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Does `got`, as SQLite reports it, mean what was `asked`? Words are set in any case and most come
/// back as numbers; a boolean `on` comes back as 1, or as a size where the pragma has one.
fn same_value(name: &str, asked: &str, got: &str) -> bool {
    if asked.eq_ignore_ascii_case(got) {
        return true;
    }
    let Ok(got) = got.parse::<i64>() else {
        return false;
    };
    if let Some(number) = number_of_word(name, asked) {
        return number == got;
    }
    match asked.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" => got > 0,
        "off" | "no" | "false" => got == 0,
        other => other.parse() == Ok(got),
    }
}

/// The numbers that stand for words in pragmas with more than two states: <https://sqlite.org/pragma.html>.
fn number_of_word(name: &str, word: &str) -> Option<i64> {
    let words: &[&str] = match name.to_ascii_lowercase().as_str() {
        "synchronous" => &["off", "normal", "full", "extra"],
        "temp_store" => &["default", "file", "memory"],
        "auto_vacuum" => &["none", "full", "incremental"],
        "secure_delete" => &["off", "on", "fast"],
        _ => return None,
    };
    let position = words.iter().position(|known| known.eq_ignore_ascii_case(word))?;
    Some(position as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_memory() -> Connection {
        let timeout = std::time::Duration::ZERO;
        Connection::open(&super::super::library::BUILT_IN, Path::new(":memory:"), timeout).unwrap()
    }

    fn message(connection: &Connection, name: &str, value: &str) -> String {
        set(connection, Path::new("lab.sqlite"), name, value).unwrap_err().to_string()
    }

    #[test]
    fn words_and_numbers_compare_as_sqlite_means_them() {
        for (name, asked, got) in [
            ("journal_mode", "WAL", "wal"),
            ("synchronous", "NORMAL", "1"),
            ("synchronous", "2", "2"),
            ("auto_vacuum", "FULL", "1"),
            ("foreign_keys", "on", "1"),
            ("cache_spill", "on", "20000"),
            ("cache_size", "-2000", "-2000"),
            ("mmap_size", "0", "0"),
        ] {
            assert!(same_value(name, asked, got), "{name} = {asked}, {got}");
        }
        for (name, asked, got) in [
            ("journal_mode", "WAL", "delete"),
            ("synchronous", "FULL", "1"),
            ("foreign_keys", "on", "0"),
            ("foreign_keys", "off", "1"),
            ("page_size", "5000", "4096"),
            ("synchronous", "fulll", "0"),
        ] {
            assert!(!same_value(name, asked, got), "{name} = {asked}, {got}");
        }
    }

    #[test]
    fn pragmas_of_every_kind_are_set() {
        let connection = in_memory();
        for (name, value) in [
            ("page_size", "8192"),
            ("synchronous", "NORMAL"),
            ("cache_size", "-65536"),
            ("temp_store", "MEMORY"),
            ("foreign_keys", "ON"),
            ("wal_autocheckpoint", "4000"),
            ("case_sensitive_like", "ON"),
            ("CACHE_SIZE", "-1000"),
        ] {
            set(&connection, Path::new("lab.sqlite"), name, value).unwrap();
        }
    }

    #[test]
    fn a_pragma_that_sqlite_would_ignore_is_an_error() {
        let connection = in_memory();
        // A database in memory has no write-ahead log.
        assert_eq!(
            message(&connection, "journal_mode", "WAL"),
            "error SQLITE_ERROR: asked for journal_mode = WAL, got memory (in `PRAGMA journal_mode = WAL`)"
        );
        assert!(message(&connection, "jurnal_mode", "WAL").contains("has no pragma `jurnal_mode`"));
        assert!(message(&connection, "page_size", "5000").contains("got 4096"));
        assert!(message(&connection, "a b", "1").contains("has no pragma `a b`"));
    }
}
