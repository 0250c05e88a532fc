//! The tables of SQL workloads as they are in each dialect.

use model::{ColumnKind, Dialect, Draw, Engine, SqlColumn, SqlIndex, SqlTable};

use crate::checksum::Form;
use crate::table::{Column, Index, Table, engine_option};
use crate::values::Maker;
use load::{Result, StepError};

/// Significant digits of a decimal number that SQLite, which stores it as a double, keeps.
const SQLITE_DIGITS: u32 = 15;

#[derive(Clone, Debug)]
pub struct TableCopy {
    pub table: usize,
    /// Number of the copy, from 0.
    pub number: u32,
    pub name: String,
    pub rows: u64,
}

/// All copies of all tables, in order.
pub fn copies(tables: &[SqlTable]) -> Vec<TableCopy> {
    let of = |(index, table): (usize, &SqlTable)| -> Vec<TableCopy> {
        let name = |number| table.name_of(number);
        let copy =
            |number| TableCopy { table: index, number, name: name(number), rows: table.rows };
        (0..table.copies).map(copy).collect()
    };
    tables.iter().enumerate().flat_map(of).collect()
}

pub fn rows_of(tables: &[SqlTable]) -> u64 {
    tables.iter().map(|table| table.rows * u64::from(table.copies)).sum()
}

/// The tables of a workload as they are in a dialect, in the order of [`copies`]. Fails with
/// [`StepError::Unsupported`] where the server cannot number a column or keep a decimal.
pub fn tables(tables: &[SqlTable], dialect: Dialect, engine: Engine) -> Result<Vec<Table>> {
    let copies = copies(tables).into_iter();
    copies.map(|copy| table(&tables[copy.table], copy.number, dialect, engine)).collect()
}

/// Copy `copy` of a table. Rows that are loaded bring the values of automatic columns along, so PostgreSQL's
/// sequences are moved beyond them at once; the other servers look at the highest value by themselves.
///
/// SQLite numbers rows by an INTEGER primary key only; elsewhere an automatic column is a plain one there,
/// and a plan whose statements rely on it was refused before.
fn table(table: &SqlTable, copy: u32, dialect: Dialect, engine: Engine) -> Result<Table> {
    let name = table.name_of(copy);
    let mut columns = Vec::new();
    for column in &table.columns {
        refuse_unsupported(dialect, table, column)?;
        columns.push(Column {
            name: column.name.clone(),
            definition: definition(dialect, table, column),
            param: Maker::new(&column.value).param_type(),
            form: Form::of(column.kind),
            nullable: false,
            is_loaded: true,
        });
    }
    let indexes = table.indexes.iter().map(|index| Index {
        name: format!("{}_{}", index.name, copy + 1),
        columns: index.columns.clone(),
        unique: index.unique,
        with_table: is_early(table, index),
    });
    let move_sequences = table.columns.iter().filter_map(|c| move_sequence(table, &name, c));
    Ok(Table {
        indexes: indexes.collect(),
        key: table.primary_key.clone(),
        options: engine_option(dialect, engine),
        partitions: None,
        after: if dialect == Dialect::Postgres { move_sequences.collect() } else { Vec::new() },
        group: Vec::new(),
        number: number_column(table).map(str::to_owned),
        row_bytes: table.columns.iter().map(longest).sum(),
        columns,
        name,
    })
}

/// Bytes of a number or a time, at most.
const LONGEST_NUMBER: usize = 24;

/// Bytes of a column's value as a parameter, at most.
fn longest(column: &SqlColumn) -> usize {
    let text = column.value.text_bytes();
    text.map_or(LONGEST_NUMBER, |(_, longest)| longest as usize)
}

/// Is the index made with its table? One that begins with an automatic column is, unless the primary key
/// begins with it: MySQL cannot number rows without it, and the loads of the others should be alike.
fn is_early(table: &SqlTable, index: &SqlIndex) -> bool {
    let first = index.columns.first();
    let is_first = |column: &SqlColumn| column.auto && first == Some(&column.name);
    table.primary_key.first() != first && table.columns.iter().any(is_first)
}

fn refuse_unsupported(dialect: Dialect, table: &SqlTable, column: &SqlColumn) -> Result {
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
    Err(StepError::Unsupported(format!("column {} of table {}: {what}", column.name, table.name)))
}

/// What stands behind the name of a column in CREATE TABLE. Numbers and short texts have a default, as the field's tables
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
    let auto = if column.auto && dialect == Dialect::Mysql { " AUTO_INCREMENT" } else { "" };
    format!("{kind} NOT NULL{default}{auto}")
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

pub fn column(table: &SqlTable, name: &str) -> Option<usize> {
    let mut columns = table.columns.iter();
    columns.position(|column| column.name.eq_ignore_ascii_case(name))
}

pub fn number_column(table: &SqlTable) -> Option<&str> {
    let is_number = |kind| matches!(kind, ColumnKind::Int | ColumnKind::Bigint);
    let mut columns = table.columns.iter();
    let column = columns.find(|c| c.value == Draw::Row && is_number(c.kind))?;
    Some(&column.name)
}

#[cfg(test)]
pub mod tests {
    use insta::assert_snapshot;
    use model::{Distribution, ErrorRules, LoadSpec, SqlSpec, Statements};

    use super::*;
    use crate::table::Batch;

    fn column(name: &str, kind: ColumnKind, value: Draw) -> SqlColumn {
        SqlColumn { name: name.to_owned(), kind, auto: name == "id", value }
    }

    fn index(name: &str, columns: &[&str], unique: bool) -> SqlIndex {
        SqlIndex {
            name: name.to_owned(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            unique,
        }
    }

    /// A workload of the field's table and one with a column of each kind.
    pub fn spec() -> SqlSpec {
        SqlSpec {
            load: LoadSpec { rows_per_commit: 100, ..LoadSpec::usual(2) },
            statements: Statements::Usual,
            errors: ErrorRules { tries: 10, reconnect_seconds: 5, ..ErrorRules::usual() },
            statement_timeout: 60,
            ..SqlSpec::usual("test", vec![sbtest(), kinds()], Vec::new())
        }
    }

    /// The field's table.
    pub fn sbtest() -> SqlTable {
        let k = Draw::Int { low: 1, high: 1000, by: Distribution::Uniform };
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
    pub fn kinds() -> SqlTable {
        let template = || Draw::Template("a'\\\t\n@#ü".to_owned());
        let cents = Draw::Decimal { low: -5_000, high: 5_000, scale: 2 };
        let times = Draw::Datetime { low: 0, high: 1_800_000_000 };
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
        let made = super::table(table, 1, dialect, engine).unwrap();
        let mut statements = made.create(dialect);
        statements.push(";".to_owned());
        statements.extend(made.create_indexes());
        statements.join("\n")
    }

    /// The second copy of the field's table.
    fn second(dialect: Dialect) -> Table {
        table(&sbtest(), 1, dialect, Engine::Innodb).unwrap()
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
        let table = table(&pk0(), 0, Dialect::Mysql, Engine::Innodb).unwrap();
        assert!(table.number.is_some() && !table.is_in_order());
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
            super::table(table, 0, dialect, Engine::Innodb).unwrap_err().to_string()
        };
        let without_index = SqlTable { indexes: Vec::new(), ..pk0() };
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
        let of = |dialect, rows| second(dialect).insert_prepared(dialect, false, rows).0;
        assert_snapshot!(of(Dialect::Sqlite, 2), @"INSERT INTO sbtest2 (id,k,c,pad) VALUES (?,?,?,?),(?,?,?,?)");
        assert_snapshot!(of(Dialect::Postgres, 1), @"INSERT INTO sbtest2 (id,k,c,pad) VALUES ($1,$2,$3,$4)");
    }

    #[test]
    fn rows_are_read_in_ranges() {
        let of = |dialect, condition| second(dialect).read(dialect, condition);
        assert_snapshot!(
            of(Dialect::Mysql, Some("id >= 10")),
            @"SELECT id,k,c,pad FROM sbtest2 FORCE INDEX (PRIMARY) WHERE id >= 10"
        );
        assert_snapshot!(of(Dialect::Postgres, Some("id <= 9")), @"SELECT id,k,c,pad FROM sbtest2 WHERE id <= 9");
        assert_snapshot!(of(Dialect::Mysql, None), @"SELECT id,k,c,pad FROM sbtest2");
        let batch = Batch { table: 1, group: [0; 2], first: 1, last: 9 };
        let table = second(Dialect::Sqlite);
        assert_snapshot!(table.condition(&batch).unwrap(), @"id BETWEEN 1 AND 9");
        assert_snapshot!(table.place(&batch), @"sbtest2, id 1 to 9");
    }

    #[test]
    fn indexes_are_read_by_name() {
        let of = |dialect| {
            let table = second(dialect);
            table.count_index(dialect, &table.indexes[0])
        };
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
        let empty = SqlTable { rows: 0, ..sbtest() };
        let table = table(&empty, 0, Dialect::Postgres, Engine::Heap).unwrap();
        assert_eq!(table.create(Dialect::Postgres).len(), 1, "a sequence cannot be moved to zero");
    }
}
