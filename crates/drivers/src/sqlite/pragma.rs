//! Setting pragmas and finding out whether SQLite obeyed.
//!
//! SQLite ignores unknown pragmas and values without a word. A lab that compares settings must not,
//! so each name is looked up first and each value is read back where the pragma can be read.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::fault;
use crate::Result;

/// Sets one pragma and compares its value with the requested one.
pub(super) fn set(connection: &Connection, path: &Path, name: &str, value: &str) -> Result {
    let statement = format!("PRAGMA {name} = {value}");
    let failed = |error: rusqlite::Error| fault::at_connect(path, &statement, &error);
    if !is_known(connection, name).map_err(failed)? {
        let message = format!("SQLite {} has no pragma `{name}`", rusqlite::version());
        return Err(fault::server("SQLITE_ERROR", message, &statement));
    }
    connection.pragma_update(None, name, value).map_err(failed)?;
    match read_back(connection, name).map_err(failed)? {
        Some(got) if !same_value(name, value, &got) => {
            let message = format!("asked for {name} = {value}, got {got}");
            Err(fault::server("SQLITE_ERROR", message, &statement))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_known(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection.prepare("SELECT 1 FROM pragma_pragma_list WHERE name = lower(?1)")?.exists([name])
}

/// The pragma's value now; `None` for one that returns nothing, such as `case_sensitive_like`.
fn read_back(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let mut value = None;
    connection.pragma_query(None, name, |row| {
        if value.is_none() {
            value = as_text(row.get_ref(0)?);
        }
        Ok(())
    })?;
    Ok(value)
}

fn as_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(integer) => Some(integer.to_string()),
        ValueRef::Real(real) => Some(real.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
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
        let connection = Connection::open_in_memory().unwrap();
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
        let connection = Connection::open_in_memory().unwrap();
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
