//! Whose file it is, and bringing an older one up to date.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use crate::error::{Fault, StoreError};
use crate::sqlite::in_transaction;

/// Every change of the schema, oldest first; `PRAGMA user_version` counts those that a file has.
/// Append only: earlier migrations were applied to existing files.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
    include_str!("schema-4.sql"),
    include_str!("schema-5.sql"),
    include_str!("schema-6.sql"),
    include_str!("schema-7.sql"),
];

/// The `application_id` that the first migration gives to a file: "bksl".
const OURS: i64 = 0x626b_736c;

/// Written into the file by each migration, for the message of an older program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Refuses files that are not ours, or from the future.
pub(crate) fn recognise(connection: &Connection, path: &Path) -> Result<(), Fault> {
    // One snapshot: another process may be creating the tables at this moment.
    let connection = &*connection.unchecked_transaction()?;
    let owner: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if owner != OURS && (owner != 0 || tables != 0) {
        return Err(Fault::from(StoreError::NotALab { path: path.to_owned() }));
    }
    let found = schema_version(connection)?;
    let known = MIGRATIONS.len() as u32;
    if found <= known {
        return Ok(());
    }
    Err(Fault::from(StoreError::Newer {
        path: path.to_owned(),
        written_by: written_by(connection),
        found,
        known,
    }))
}

/// Applies the `migrations` that the file lacks, each in its own transaction.
pub(crate) fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), Fault> {
    for (next, migration) in (1u32..).zip(migrations) {
        if schema_version(connection)? >= next {
            continue;
        }
        in_transaction(connection, |change| {
            // Another process may have been faster while this one waited for its turn.
            if schema_version(change)? < next {
                change.execute_batch(migration)?;
                change.execute(
                    "INSERT INTO lab (key, value) VALUES ('backslide', ?1)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    [VERSION],
                )?;
                change.pragma_update(None, "user_version", next)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

pub(crate) fn schema_version(connection: &Connection) -> Result<u32, Fault> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// A newer schema may keep this elsewhere; then nobody knows.
fn written_by(connection: &Connection) -> String {
    connection
        .query_row("SELECT value FROM lab WHERE key = 'backslide'", [], |row| row.get(0))
        .optional()
        .ok()
        .flatten()
        .unwrap_or_else(|| "of an unknown version".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    fn message(path: &Path) -> String {
        let error = Store::open(path).unwrap_err().to_string();
        error.replace(&path.display().to_string(), "LAB")
    }

    fn change(path: &Path, sql: &str) {
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
    }

    #[test]
    fn a_file_is_created_once_and_then_left_alone() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("lab.sqlite");
        drop(Store::open(&path).unwrap());
        let schema = |path: &Path| -> (u32, i64) {
            let connection = Connection::open(path).unwrap();
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            (schema_version(&connection).unwrap(), pragma("schema_version").unwrap())
        };
        let first = schema(&path);
        assert_eq!(first.0, MIGRATIONS.len() as u32);
        drop(Store::open(&path).unwrap());
        assert_eq!(schema(&path), first);
    }

    #[test]
    fn a_newer_file_says_who_wrote_it() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("lab.sqlite");
        drop(Store::open(&path).unwrap());
        change(&path, "PRAGMA user_version = 99; UPDATE lab SET value = '7.1.0'");
        insta::assert_snapshot!(
            message(&path),
            @"LAB was written by backslide 7.1.0 (schema 99, this one knows 7); use that version or another lab directory"
        );
        change(&path, "DROP TABLE lab");
        assert!(message(&path).contains("unknown version"));
    }

    #[test]
    fn other_peoples_files_are_not_touched() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("theirs.sqlite");
        change(&path, "CREATE TABLE theirs (x)");
        let before = std::fs::read(&path).unwrap();
        insta::assert_snapshot!(message(&path), @"LAB is not the store of a lab; choose another lab directory");
        assert_eq!(std::fs::read(&path).unwrap(), before);

        let path = lab.path().join("letter.txt");
        std::fs::write(&path, "Dear Sir or Madam, ".repeat(100)).unwrap();
        insta::assert_snapshot!(message(&path), @"LAB is not the store of a lab; choose another lab directory");
        let path = lab.path().join("nowhere").join("lab.sqlite");
        insta::assert_snapshot!(message(&path), @"cannot open LAB; check that its directory exists and that you may read and write there");
        insta::assert_snapshot!(message(lab.path()), @"LAB is a directory, not the store of a lab; move it away, or use another lab directory (--lab)");
    }

    #[test]
    fn a_later_migration_is_applied_to_an_older_file_in_one_piece() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("lab.sqlite");
        drop(Store::open(&path).unwrap());
        let mut connection = Connection::open(&path).unwrap();
        let broken = [MIGRATIONS, &["CREATE TABLE extra (x); SELECT nonsense"]].concat();
        assert!(migrate(&mut connection, &broken).is_err());
        let known = MIGRATIONS.len() as u32;
        assert_eq!(schema_version(&connection).unwrap(), known);
        let whole = [MIGRATIONS, &["CREATE TABLE extra (x)"]].concat();
        migrate(&mut connection, &whole).unwrap();
        migrate(&mut connection, &whole).unwrap();
        assert_eq!(schema_version(&connection).unwrap(), known + 1);
        connection.execute("INSERT INTO extra VALUES (1)", []).unwrap();
    }
}
