//! Parts of statements, and statements about any table, in each dialect.

use model::{Dialect, Version};

/// Counts the tables with this name: one or none.
pub fn count_tables(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mysql => format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = '{name}'"
        ),
        Dialect::Postgres => format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_name = lower('{name}')"
        ),
        Dialect::Sqlite => {
            format!("SELECT COUNT(*) FROM sqlite_master WHERE lower(name) = lower('{name}')")
        }
    }
}

/// Can an INSERT have several rows? SQLite before 3.7.11 takes one.
pub fn takes_several_rows(dialect: Dialect, version: &Version) -> bool {
    dialect != Dialect::Sqlite || version.parts() >= [3, 7, 11].as_slice()
}

pub fn begin(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => "BEGIN",
        // The lock for writing at once: who reads first and then cannot have it must begin anew.
        Dialect::Sqlite => "BEGIN IMMEDIATE",
    }
}

/// An INSERT of `rows` rows with placeholders; `columns` says of each column whether NULL stands in its place.
pub fn insert_rows(
    head: &str,
    dialect: Dialect,
    rows: usize,
    columns: &(impl Iterator<Item = bool> + Clone),
) -> String {
    let (mut sql, mut number) = (head.to_owned(), 0);
    for row in 0..rows {
        let mut separator = if row == 0 { "(" } else { ",(" };
        for is_null in columns.clone() {
            sql.push_str(separator);
            separator = ",";
            if is_null {
                sql.push_str("NULL");
            } else {
                number += 1;
                push_placeholder(&mut sql, dialect, number);
            }
        }
        sql.push(')');
    }
    sql
}

/// The placeholder of parameter `number`, from 1.
pub fn push_placeholder(sql: &mut String, dialect: Dialect, number: usize) {
    match dialect {
        Dialect::Mysql | Dialect::Sqlite => sql.push('?'),
        Dialect::Postgres => {
            sql.push('$');
            sql.push_str(itoa::Buffer::new().format(number));
        }
    }
}

/// Makes a query read by the primary key. Right after a load MySQL would scan the table, taking it for small.
pub const fn primary_hint(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => " FORCE INDEX (PRIMARY)",
        Dialect::Postgres | Dialect::Sqlite => "",
    }
}

/// What makes a query use an index. PostgreSQL has no hints; see [`around_index`].
pub fn index_hint(dialect: Dialect, index: &str) -> String {
    match dialect {
        Dialect::Mysql => format!(" FORCE INDEX ({index})"),
        Dialect::Sqlite => format!(" INDEXED BY {index}"),
        Dialect::Postgres => String::new(),
    }
}

/// Settings of a session that reads tables and indexes back.
pub fn before_reading(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Postgres => &["SET datestyle = ISO"],
        Dialect::Mysql | Dialect::Sqlite => &[],
    }
}

/// Settings before and after a session reads an index.
pub fn around_index(dialect: Dialect) -> (&'static [&'static str], &'static [&'static str]) {
    match dialect {
        Dialect::Postgres => (
            &["SET enable_seqscan = off", "SET enable_bitmapscan = off"],
            &["RESET enable_seqscan", "RESET enable_bitmapscan"],
        ),
        Dialect::Mysql | Dialect::Sqlite => (&[], &[]),
    }
}
