//! The statements that make tables and their indexes, and those that look at them, in each dialect.
//!
//! Names stand in the text as the workload gives them, without quotes, as they do in its statements.

use model::{ColumnKind, Dialect, Draw, Engine, SqlColumn, SqlIndex, SqlTable};

use crate::StepError;

/// Significant digits of a decimal number that SQLite keeps: it has no decimal type and stores what is
/// not an integer as a double.
const SQLITE_DIGITS: u32 = 15;

/// Statements that make copy `copy` of a table, empty, with its primary key and the indexes that
/// [`is_early`]. Rows that are loaded bring the values of automatic columns along, so PostgreSQL's
/// sequences are moved beyond them at once; the other servers look at the highest value by themselves.
///
/// SQLite numbers rows by an INTEGER primary key only; elsewhere an automatic column is a plain one there,
/// and a plan whose statements rely on it was refused before. Fails with [`StepError::Unsupported`] where
/// the server cannot number a column or keep a decimal.
pub(super) fn create_table(
    dialect: Dialect,
    engine: Engine,
    table: &SqlTable,
    copy: u32,
) -> Result<Vec<String>, StepError> {
    let name = table.name_of(copy);
    let mut parts = Vec::new();
    for column in &table.columns {
        refuse_unsupported(dialect, table, column)?;
        parts.push(definition(dialect, table, column));
    }
    if !table.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", table.primary_key.join(", ")));
    }
    let early = table.indexes.iter().filter(|index| is_early(table, index));
    let mut after = Vec::new();
    for index in early {
        if dialect == Dialect::Mysql {
            let unique = if index.unique { "UNIQUE " } else { "" };
            let (index_name, columns) = (index_name(index, copy), index.columns.join(", "));
            parts.push(format!("{unique}KEY {index_name} ({columns})"));
        } else {
            after.push(create_index(table, index, copy));
        }
    }
    let engine = match (dialect, engine.ddl_name()) {
        (Dialect::Mysql, Some(engine)) => format!(" ENGINE={engine}"),
        (Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite, _) => String::new(),
    };
    let mut statements = vec![format!(
        "CREATE TABLE {name} ({}){engine}",
        parts.join(", ")
    )];
    statements.append(&mut after);
    if dialect == Dialect::Postgres {
        statements.extend(
            table
                .columns
                .iter()
                .filter_map(|c| move_sequence(table, &name, c)),
        );
    }
    Ok(statements)
}

/// The statements that build the indexes of copy `copy` that are not made with the table, one each.
pub(super) fn create_indexes(table: &SqlTable, copy: u32) -> Vec<String> {
    let late = table.indexes.iter().filter(|index| !is_early(table, index));
    late.map(|index| create_index(table, index, copy)).collect()
}

/// Is the index made with its table? One that begins with an automatic column is, unless the primary key
/// begins with it: MySQL cannot number rows without it, and the others do as MySQL does, so that their
/// loads are alike.
fn is_early(table: &SqlTable, index: &SqlIndex) -> bool {
    let first = index.columns.first();
    let is_first = |column: &SqlColumn| column.auto && first == Some(&column.name);
    table.primary_key.first() != first && table.columns.iter().any(is_first)
}

/// The name of an index of copy `copy`.
pub(super) fn index_name(index: &SqlIndex, copy: u32) -> String {
    format!("{}_{}", index.name, copy + 1)
}

fn create_index(table: &SqlTable, index: &SqlIndex, copy: u32) -> String {
    let unique = if index.unique { "UNIQUE " } else { "" };
    format!(
        "CREATE {unique}INDEX {} ON {} ({})",
        index_name(index, copy),
        table.name_of(copy),
        index.columns.join(", ")
    )
}

/// What this server cannot do is said before anything is made.
fn refuse_unsupported(
    dialect: Dialect,
    table: &SqlTable,
    column: &SqlColumn,
) -> Result<(), StepError> {
    let begins = |columns: &[String]| columns.first() == Some(&column.name);
    let what = match (dialect, column.kind) {
        (Dialect::Mysql, _) if column.auto => {
            if begins(&table.primary_key) || table.indexes.iter().any(|i| begins(&i.columns)) {
                return Ok(());
            }
            "MySQL numbers only a column that begins the primary key or an index; add one"
                .to_owned()
        }
        (Dialect::Sqlite, ColumnKind::Decimal(digits, _)) if digits > SQLITE_DIGITS => {
            format!("SQLite keeps {SQLITE_DIGITS} digits of a decimal number, not {digits}")
        }
        (Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite, _) => return Ok(()),
    };
    Err(StepError::Unsupported(format!(
        "column {} of table {}: {what}",
        column.name, table.name
    )))
}

/// A column as it stands in CREATE TABLE. Numbers and short texts have a default, as the field's tables
/// do, so that statements may leave them out; MySQL has none for long text, and a date has no zero.
fn definition(dialect: Dialect, table: &SqlTable, column: &SqlColumn) -> String {
    let name = &column.name;
    let kind = type_name(dialect, column);
    let default = match column.kind {
        _ if column.auto || table.primary_key.contains(name) => "",
        ColumnKind::Int | ColumnKind::Bigint | ColumnKind::Decimal(..) => " DEFAULT 0",
        ColumnKind::Char(_) | ColumnKind::Varchar(_) => " DEFAULT ''",
        ColumnKind::Text | ColumnKind::Datetime => "",
    };
    let auto = match dialect {
        Dialect::Mysql if column.auto => " AUTO_INCREMENT",
        Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite => "",
    };
    format!("{name} {kind} NOT NULL{default}{auto}")
}

/// The type in the dialect's words.
///
/// SQLite knows affinities only. INTEGER makes a primary key the number of the row itself. NUMERIC lets
/// decimals compare and add up as numbers, as they do elsewhere; what comes back is the shortest text of
/// the number (`12.5` for `12.50`), which the checksum brings into one form for all servers. A date is
/// TEXT: its words would be NUMERIC.
fn type_name(dialect: Dialect, column: &SqlColumn) -> String {
    match (column.kind, dialect) {
        (ColumnKind::Int, Dialect::Postgres) if column.auto => "SERIAL".to_owned(),
        (ColumnKind::Bigint, Dialect::Postgres) if column.auto => "BIGSERIAL".to_owned(),
        (ColumnKind::Int, _) | (ColumnKind::Bigint, Dialect::Sqlite) => "INTEGER".to_owned(),
        (ColumnKind::Bigint, Dialect::Mysql | Dialect::Postgres) => "BIGINT".to_owned(),
        (ColumnKind::Char(length), _) => format!("CHAR({length})"),
        (ColumnKind::Varchar(length), _) => format!("VARCHAR({length})"),
        // Its TEXT ends at 64 KiB.
        (ColumnKind::Text, Dialect::Mysql) => "MEDIUMTEXT".to_owned(),
        (ColumnKind::Text, Dialect::Postgres | Dialect::Sqlite)
        | (ColumnKind::Datetime, Dialect::Sqlite) => "TEXT".to_owned(),
        (ColumnKind::Decimal(..), Dialect::Sqlite) => "NUMERIC".to_owned(),
        (ColumnKind::Decimal(digits, scale), Dialect::Mysql | Dialect::Postgres) => {
            format!("DECIMAL({digits},{scale})")
        }
        (ColumnKind::Datetime, Dialect::Mysql) => "DATETIME".to_owned(),
        (ColumnKind::Datetime, Dialect::Postgres) => "TIMESTAMP(0)".to_owned(),
    }
}

/// Moves the sequence of an automatic column to the highest value that is loaded.
fn move_sequence(table: &SqlTable, name: &str, column: &SqlColumn) -> Option<String> {
    let highest = highest(&column.value, table.rows).filter(|highest| *highest > 0)?;
    column.auto.then(|| {
        // The column's name is taken literally there, and names without quotes are in small letters.
        let column = column.name.to_ascii_lowercase();
        format!("SELECT setval(pg_get_serial_sequence('{name}', '{column}'), {highest})")
    })
}

/// A number that no loaded value of an integer draw exceeds; `None` for one that loads have not, or text.
fn highest(draw: &Draw, rows: u64) -> Option<i64> {
    match draw {
        Draw::Row => i64::try_from(rows).ok(),
        Draw::Cycle(period) => i64::try_from(*period).ok(),
        Draw::Int { high, .. } => Some(*high),
        Draw::From(value) => Some(*value),
        Draw::Plus { .. }
        | Draw::Next
        | Draw::Template(_)
        | Draw::Text { .. }
        | Draw::Fixed(_)
        | Draw::Decimal { .. }
        | Draw::Datetime { .. } => None,
    }
}

/// Drops a table.
pub(super) fn drop_table(name: &str) -> String {
    format!("DROP TABLE IF EXISTS {name}")
}

/// Counts the tables with this name: one or none.
pub(in crate::workload) fn count_tables(dialect: Dialect, name: &str) -> String {
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
            format!("SELECT COUNT(*) FROM sqlite_schema WHERE lower(name) = lower('{name}')")
        }
    }
}

/// Begins a transaction that writes.
pub(in crate::workload) fn begin(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql | Dialect::Postgres => "BEGIN",
        // The lock for writing at once: who reads first and then cannot have it must begin anew.
        Dialect::Sqlite => "BEGIN IMMEDIATE",
    }
}

/// `INSERT INTO t (…) VALUES `, to be followed by the rows.
pub(super) fn insert_head(table: &SqlTable, copy: u32) -> String {
    format!(
        "INSERT INTO {} ({}) VALUES ",
        table.name_of(copy),
        column_names(table).join(",")
    )
}

/// The INSERT of so many rows with placeholders.
pub(super) fn insert_prepared(dialect: Dialect, table: &SqlTable, copy: u32, rows: u64) -> String {
    let mut sql = insert_head(table, copy);
    let mut number = 0;
    for row in 0..rows {
        let mut separator = if row == 0 { "(" } else { ",(" };
        for _ in &table.columns {
            sql.push_str(separator);
            separator = ",";
            number += 1;
            match dialect {
                Dialect::Mysql | Dialect::Sqlite => sql.push('?'),
                Dialect::Postgres => {
                    sql.push('$');
                    sql.push_str(itoa::Buffer::new().format(number));
                }
            }
        }
        sql.push(')');
    }
    sql
}

/// The names of all columns, in order.
pub(super) fn column_names(table: &SqlTable) -> Vec<&str> {
    table.columns.iter().map(|c| c.name.as_str()).collect()
}

/// The column whose value is the number of the row, if there is one.
pub(super) fn number_column(table: &SqlTable) -> Option<&str> {
    let is_number = |kind| matches!(kind, ColumnKind::Int | ColumnKind::Bigint);
    let mut columns = table.columns.iter();
    let column = columns.find(|c| c.value == Draw::Row && is_number(c.kind))?;
    Some(&column.name)
}

/// Can rows be found by their number without reading others: does the primary key begin with it?
pub(super) fn is_in_order(table: &SqlTable) -> bool {
    let number = number_column(table);
    number.is_some() && table.primary_key.first().map(String::as_str) == number
}

/// Reads all columns of a copy's rows, in any order: of those with numbers from `first` to `last`, as far
/// as these are given. With either of them the primary key begins with the number.
pub(super) fn read_rows(
    dialect: Dialect,
    table: &SqlTable,
    copy: u32,
    first: Option<u64>,
    last: Option<u64>,
) -> String {
    let columns = column_names(table).join(",");
    let name = table.name_of(copy);
    let number = number_column(table).unwrap_or_default();
    let condition = match (first, last) {
        (None, None) => return format!("SELECT {columns} FROM {name}"),
        (Some(first), Some(last)) => format!("{number} BETWEEN {first} AND {last}"),
        (Some(first), None) => format!("{number} >= {first}"),
        (None, Some(last)) => format!("{number} <= {last}"),
    };
    let hint = match dialect {
        // Right after a load it believes the table to be small, and would read all of it for each range.
        Dialect::Mysql => " FORCE INDEX (PRIMARY)",
        Dialect::Postgres | Dialect::Sqlite => "",
    };
    format!("SELECT {columns} FROM {name}{hint} WHERE {condition}")
}

/// Counts the rows of a copy, whose primary key begins with their number, that have none of a loaded row.
pub(super) fn count_beyond(table: &SqlTable, copy: u32) -> String {
    let number = number_column(table).unwrap_or_default();
    let (name, rows) = (table.name_of(copy), table.rows);
    format!("SELECT COUNT(*) FROM {name} WHERE {number} < 1 OR {number} > {rows}")
}

/// Counts the rows of an index by reading it from one end to the other.
pub(super) fn read_index(
    dialect: Dialect,
    table: &SqlTable,
    index: &SqlIndex,
    copy: u32,
) -> String {
    let (table, name) = (table.name_of(copy), index_name(index, copy));
    let first = index.columns.first().map_or("*", String::as_str);
    let hint = match dialect {
        Dialect::Mysql => format!(" FORCE INDEX ({name})"),
        Dialect::Sqlite => format!(" INDEXED BY {name}"),
        // It has no hints; sessions are told by [`before_reading`].
        Dialect::Postgres => String::new(),
    };
    format!("SELECT COUNT({first}) FROM {table}{hint}")
}

/// What a session is told before it reads tables and indexes back.
pub(in crate::workload) fn before_reading(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Postgres => &["SET datestyle = ISO"],
        Dialect::Mysql | Dialect::Sqlite => &[],
    }
}

/// What a session is told before and after it reads an index.
pub(in crate::workload) fn around_index(
    dialect: Dialect,
) -> (&'static [&'static str], &'static [&'static str]) {
    match dialect {
        Dialect::Postgres => (
            &["SET enable_seqscan = off", "SET enable_bitmapscan = off"],
            &["RESET enable_seqscan", "RESET enable_bitmapscan"],
        ),
        Dialect::Mysql | Dialect::Sqlite => (&[], &[]),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use insta::assert_snapshot;
    use model::{Distribution, ErrorRules, LoadMethod, LoadSpec, SqlSpec, Statements};

    use super::*;

    fn column(name: &str, kind: ColumnKind, value: Draw) -> SqlColumn {
        SqlColumn {
            name: name.to_owned(),
            kind,
            auto: name == "id",
            value,
        }
    }

    fn index(name: &str, columns: &[&str], unique: bool) -> SqlIndex {
        SqlIndex {
            name: name.to_owned(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            unique,
        }
    }

    /// A workload of the field's table and one with a column of each kind.
    pub(in crate::workload::sql) fn spec() -> SqlSpec {
        SqlSpec {
            name: "test".to_owned(),
            tables: vec![sbtest(), kinds()],
            load: LoadSpec {
                clients: 2,
                method: LoadMethod::Fastest,
                rows_per_commit: 100,
                indexes_first: false,
            },
            steps: Vec::new(),
            statements: Statements::Usual,
            errors: ErrorRules {
                ignore: Vec::new(),
                retry: Vec::new(),
                fatal: Vec::new(),
                tries: 10,
                reconnect_seconds: 5,
            },
            statement_timeout: 60,
            compat: false,
        }
    }

    /// The field's table.
    pub(in crate::workload::sql) fn sbtest() -> SqlTable {
        let k = Draw::Int {
            low: 1,
            high: 1000,
            by: Distribution::Uniform,
        };
        SqlTable {
            name: "sbtest".to_owned(),
            numbered: true,
            copies: 2,
            rows: 1000,
            columns: vec![
                column("id", ColumnKind::Int, Draw::Row),
                column("k", ColumnKind::Int, k),
                column("c", ColumnKind::Char(120), Draw::Template("###".to_owned())),
                column("pad", ColumnKind::Char(60), Draw::Fixed(String::new())),
            ],
            primary_key: vec!["id".to_owned()],
            indexes: vec![index("k", &["k"], false)],
        }
    }

    /// The same without a primary key.
    fn pk0() -> SqlTable {
        SqlTable {
            primary_key: Vec::new(),
            indexes: vec![index("xid", &["id"], false), index("k", &["k"], false)],
            ..sbtest()
        }
    }

    /// A column of each kind, a primary key of two columns, text that means something to every format.
    pub(in crate::workload::sql) fn kinds() -> SqlTable {
        let template = || Draw::Template("a'\\\t\n@#ü".to_owned());
        let cents = Draw::Decimal {
            low: -5_000,
            high: 5_000,
            scale: 2,
        };
        let times = Draw::Datetime {
            low: 0,
            high: 1_800_000_000,
        };
        SqlTable {
            name: "kinds".to_owned(),
            numbered: false,
            copies: 1,
            rows: 250,
            columns: vec![
                column("a", ColumnKind::Bigint, Draw::Row),
                column("b", ColumnKind::Int, Draw::From(1)),
                column("v", ColumnKind::Varchar(20), template()),
                column("t", ColumnKind::Text, template()),
                column("d", ColumnKind::Decimal(10, 2), cents),
                column("at", ColumnKind::Datetime, times),
            ],
            primary_key: vec!["a".to_owned(), "b".to_owned()],
            indexes: vec![index("v", &["v", "at"], true)],
        }
    }

    fn ddl(dialect: Dialect, engine: Engine, table: &SqlTable) -> String {
        let mut statements = create_table(dialect, engine, table, 1).unwrap();
        statements.push(";".to_owned());
        statements.extend(create_indexes(table, 1));
        statements.join("\n")
    }

    #[test]
    fn the_table_of_the_field() {
        assert_snapshot!(ddl(Dialect::Mysql, Engine::Innodb, &sbtest()), @r"
        CREATE TABLE sbtest2 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id)) ENGINE=InnoDB
        ;
        CREATE INDEX k_2 ON sbtest2 (k)
        ");
        assert_snapshot!(ddl(Dialect::Postgres, Engine::Heap, &sbtest()), @r"
        CREATE TABLE sbtest2 (id SERIAL NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id))
        SELECT setval(pg_get_serial_sequence('sbtest2', 'id'), 1000)
        ;
        CREATE INDEX k_2 ON sbtest2 (k)
        ");
        assert_snapshot!(ddl(Dialect::Sqlite, Engine::Btree, &sbtest()), @r"
        CREATE TABLE sbtest2 (id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id))
        ;
        CREATE INDEX k_2 ON sbtest2 (k)
        ");
    }

    #[test]
    fn each_engine_is_named() {
        let of = |engine| ddl(Dialect::Mysql, engine, &sbtest());
        assert!(of(Engine::Myrocks).contains(") ENGINE=ROCKSDB\n"));
        assert!(of(Engine::Tokudb).contains(") ENGINE=TokuDB\n"));
    }

    #[test]
    fn a_table_without_primary_key_has_the_index_that_numbers_its_rows() {
        assert_snapshot!(ddl(Dialect::Mysql, Engine::Innodb, &pk0()), @r"
        CREATE TABLE sbtest2 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', KEY xid_2 (id)) ENGINE=InnoDB
        ;
        CREATE INDEX k_2 ON sbtest2 (k)
        ");
        assert_snapshot!(ddl(Dialect::Postgres, Engine::Heap, &pk0()), @r"
        CREATE TABLE sbtest2 (id SERIAL NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '')
        CREATE INDEX xid_2 ON sbtest2 (id)
        SELECT setval(pg_get_serial_sequence('sbtest2', 'id'), 1000)
        ;
        CREATE INDEX k_2 ON sbtest2 (k)
        ");
        assert_snapshot!(ddl(Dialect::Sqlite, Engine::Btree, &pk0()), @r"
        CREATE TABLE sbtest2 (id INTEGER NOT NULL, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '')
        CREATE INDEX xid_2 ON sbtest2 (id)
        ;
        CREATE INDEX k_2 ON sbtest2 (k)
        ");
        assert!(number_column(&pk0()).is_some() && !is_in_order(&pk0()));
    }

    #[test]
    fn every_kind_of_column() {
        assert_snapshot!(ddl(Dialect::Mysql, Engine::Innodb, &kinds()), @r"
        CREATE TABLE kinds (a BIGINT NOT NULL, b INTEGER NOT NULL, v VARCHAR(20) NOT NULL DEFAULT '', t MEDIUMTEXT NOT NULL, d DECIMAL(10,2) NOT NULL DEFAULT 0, at DATETIME NOT NULL, PRIMARY KEY (a, b)) ENGINE=InnoDB
        ;
        CREATE UNIQUE INDEX v_2 ON kinds (v, at)
        ");
        assert_snapshot!(ddl(Dialect::Postgres, Engine::Heap, &kinds()), @r"
        CREATE TABLE kinds (a BIGINT NOT NULL, b INTEGER NOT NULL, v VARCHAR(20) NOT NULL DEFAULT '', t TEXT NOT NULL, d DECIMAL(10,2) NOT NULL DEFAULT 0, at TIMESTAMP(0) NOT NULL, PRIMARY KEY (a, b))
        ;
        CREATE UNIQUE INDEX v_2 ON kinds (v, at)
        ");
        assert_snapshot!(ddl(Dialect::Sqlite, Engine::Btree, &kinds()), @r"
        CREATE TABLE kinds (a INTEGER NOT NULL, b INTEGER NOT NULL, v VARCHAR(20) NOT NULL DEFAULT '', t TEXT NOT NULL, d NUMERIC NOT NULL DEFAULT 0, at TEXT NOT NULL, PRIMARY KEY (a, b))
        ;
        CREATE UNIQUE INDEX v_2 ON kinds (v, at)
        ");
    }

    #[test]
    fn what_a_server_cannot_do_is_said() {
        let message = |dialect, table: &SqlTable| {
            let made = create_table(dialect, Engine::Innodb, table, 0);
            made.unwrap_err().to_string()
        };
        let without_index = SqlTable {
            indexes: Vec::new(),
            ..pk0()
        };
        assert_snapshot!(
            message(Dialect::Mysql, &without_index),
            @"column id of table sbtest: MySQL numbers only a column that begins the primary key or an index; add one"
        );
        let mut wide = kinds();
        wide.columns[4].kind = ColumnKind::Decimal(18, 2);
        assert_snapshot!(
            message(Dialect::Sqlite, &wide),
            @"column d of table kinds: SQLite keeps 15 digits of a decimal number, not 18"
        );
    }

    #[test]
    fn a_row_is_inserted_by_its_columns() {
        let of = |dialect, rows| insert_prepared(dialect, &sbtest(), 1, rows);
        assert_snapshot!(of(Dialect::Sqlite, 2), @"INSERT INTO sbtest2 (id,k,c,pad) VALUES (?,?,?,?),(?,?,?,?)");
        assert_snapshot!(of(Dialect::Postgres, 1), @"INSERT INTO sbtest2 (id,k,c,pad) VALUES ($1,$2,$3,$4)");
    }

    #[test]
    fn rows_are_read_in_ranges() {
        let of = |dialect, first, last| read_rows(dialect, &sbtest(), 0, first, last);
        assert_snapshot!(
            of(Dialect::Mysql, Some(1), Some(9)),
            @"SELECT id,k,c,pad FROM sbtest1 FORCE INDEX (PRIMARY) WHERE id BETWEEN 1 AND 9"
        );
        assert_snapshot!(of(Dialect::Postgres, Some(10), None), @"SELECT id,k,c,pad FROM sbtest1 WHERE id >= 10");
        assert_snapshot!(of(Dialect::Sqlite, None, Some(9)), @"SELECT id,k,c,pad FROM sbtest1 WHERE id <= 9");
        assert_snapshot!(of(Dialect::Mysql, None, None), @"SELECT id,k,c,pad FROM sbtest1");
    }

    #[test]
    fn indexes_are_read_by_name() {
        let of = |dialect| read_index(dialect, &sbtest(), &sbtest().indexes[0], 1);
        assert_snapshot!(of(Dialect::Mysql), @"SELECT COUNT(k) FROM sbtest2 FORCE INDEX (k_2)");
        assert_snapshot!(of(Dialect::Sqlite), @"SELECT COUNT(k) FROM sbtest2 INDEXED BY k_2");
        assert_snapshot!(of(Dialect::Postgres), @"SELECT COUNT(k) FROM sbtest2");
    }

    #[test]
    fn no_loaded_value_is_above_the_highest() {
        assert_eq!(highest(&Draw::Row, 10), Some(10));
        assert_eq!(highest(&Draw::Cycle(4), 10), Some(4));
        assert_eq!(highest(&Draw::From(-3), 10), Some(-3));
        assert_eq!(highest(&Draw::Next, 10), None);
        let empty = SqlTable {
            rows: 0,
            ..sbtest()
        };
        let statements = create_table(Dialect::Postgres, Engine::Heap, &empty, 0).unwrap();
        assert_eq!(statements.len(), 1, "a sequence cannot be moved to zero");
    }
}
