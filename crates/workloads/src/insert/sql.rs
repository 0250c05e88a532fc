//! The statements of the Insert Benchmark in each dialect.

use drivers::ParamType;
use model::{Dialect, Engine, InsertSpec};

use data::{Column, Form, Index, Partitions, Table, engine_option, statements};
use load::Target;

/// The key, which servers give.
const KEY: &str = "transactionid";

/// The columns that a client sends.
const COLUMNS: [&str; 6] =
    ["dateandtime", "cashregisterid", "customerid", "productid", "price", "data"];

/// A secondary index: suffix of its name, columns.
pub(super) const INDEXES: [(&str, &str); 3] = [
    ("marketsegment", "productid, customerid, price"),
    ("registersegment", "cashregisterid, customerid, price"),
    ("pdc", "price, dateandtime, customerid"),
];

/// Name of table `number`, from 0.
pub(super) fn table_name(number: u32) -> String {
    format!("pi{}", number + 1)
}

/// Table `number`. `rows` is how many it will have been given at the end, for the bounds of partitions.
pub(super) fn table(target: &Target, number: u32, spec: &InsertSpec, rows: u64) -> Table {
    let (dialect, name) = (target.dialect, table_name(number));
    let (key, date, int, data) = match dialect {
        Dialect::Mysql => {
            ("BIGINT NOT NULL AUTO_INCREMENT", "DATETIME", "INT NOT NULL", "VARCHAR(4000)")
        }
        Dialect::Postgres => {
            ("bigserial", "timestamp without time zone", "int NOT NULL", "varchar(4000)")
        }
        Dialect::Sqlite => ("INTEGER", "TEXT", "INTEGER NOT NULL", "TEXT"),
    };
    let column = |name: &str, definition: &str, param, form| Column {
        name: name.to_owned(),
        definition: definition.to_owned(),
        param,
        form,
        nullable: false,
        is_loaded: name != KEY,
    };
    let [at, ints @ .., text] = COLUMNS;
    let ints = ints.map(|name| column(name, int, ParamType::Int, Form::Integer));
    let mut columns = vec![column(KEY, key, ParamType::Int, Form::Integer)];
    columns.push(column(at, date, ParamType::DateTime, Form::Exact));
    columns.extend(ints);
    columns.push(column(text, data, ParamType::Text, Form::Exact));
    let cache = format!("ALTER SEQUENCE {name}_{KEY}_seq CACHE {}", spec.sequence_cache.max(1));
    let indexes = INDEXES.iter().take(spec.secondary_indexes as usize);
    let indexes = indexes.map(|(suffix, columns)| Index {
        name: format!("{name}_{suffix}"),
        columns: columns.split(", ").map(str::to_owned).collect(),
        unique: false,
        with_table: false,
    });
    Table {
        indexes: indexes.collect(),
        name,
        columns,
        key: vec![KEY.to_owned()],
        options: engine_option(dialect, target.engine),
        partitions: (spec.partitions > 0).then(|| Partitions::Range {
            column: KEY.to_owned(),
            bounds: bounds(spec.partitions, rows),
        }),
        after: if dialect == Dialect::Postgres { vec![cache] } else { Vec::new() },
        group: Vec::new(),
        number: None,
        row_bytes: spec.data_max as usize,
    }
}

/// The key with which each partition but the first begins.
fn bounds(partitions: u32, rows: u64) -> Vec<u64> {
    let step = rows.div_ceil(u64::from(partitions)).max(1);
    (1..u64::from(partitions)).map(|i| i * step + 1).collect()
}

pub(super) fn create_indexes(target: &Target, table: &Table) -> Vec<String> {
    let parts = table.indexes.iter().map(|index| {
        let Index { name, columns, .. } = index;
        format!("ADD INDEX {name} ({})", columns.join(", "))
    });
    let alter = |part: String| format!("ALTER TABLE {} {part}", table.name);
    match (target.dialect, target.engine) {
        (Dialect::Mysql, _) if table.indexes.is_empty() => Vec::new(),
        // InnoDB builds all of them in one scan of the table.
        (Dialect::Mysql, Engine::Innodb) => {
            vec![alter(parts.collect::<Vec<_>>().join(", "))]
        }
        (Dialect::Mysql, _) => parts.map(alter).collect(),
        (Dialect::Postgres | Dialect::Sqlite, _) => table.create_indexes(),
    }
}

/// The DELETE of the `rows` lowest keys at or above the bound; `lo` is its text or a placeholder.
pub(super) fn delete(dialect: Dialect, table: &str, lo: &str, rows: u32) -> String {
    match dialect {
        Dialect::Mysql => format!(
            "DELETE FROM {table} WHERE transactionid >= {lo} ORDER BY transactionid ASC LIMIT {rows}"
        ),
        Dialect::Postgres | Dialect::Sqlite => format!(
            "DELETE FROM {table} WHERE transactionid IN (SELECT transactionid FROM {table} \
             WHERE transactionid >= {lo} ORDER BY transactionid ASC LIMIT {rows})"
        ),
    }
}

/// Does the range query on secondary index `index` leave its key itself out, as in the original?
pub(super) fn is_exclusive(index: usize) -> bool {
    INDEXES[index].0 == "registersegment"
}

/// The range query on secondary index `index`; `key` is its text or a placeholder.
pub(super) fn range_query(
    dialect: Dialect,
    table: &str,
    index: usize,
    key: &str,
    limit: u32,
) -> String {
    let (suffix, columns) = INDEXES[index];
    let first = columns.split(',').next().unwrap_or(columns);
    let comparison = if suffix == "registersegment" { ">" } else { ">=" };
    let hint = statements::index_hint(dialect, &format!("{table}_{suffix}"));
    format!(
        "SELECT {columns} FROM {table}{hint} WHERE {first} {comparison} {key} \
         ORDER BY {columns} LIMIT {limit}"
    )
}

/// `SELECT … WHERE transactionid IN `, to be followed by the keys in brackets.
pub(super) fn point_head(table: &str) -> String {
    format!("SELECT transactionid, productid, data FROM {table} WHERE transactionid IN ")
}

pub(super) fn point_prepared(dialect: Dialect, table: &str, keys: u32) -> String {
    let keys = std::iter::repeat_n(false, keys as usize);
    statements::insert_rows(&point_head(table), dialect, 1, &keys)
}

/// Names of the original's prepared range queries, in the order of [`INDEXES`].
const RANGE_NAMES: [&str; 3] = ["market_query_ps", "register_query_ps", "pdc_query_ps"];

/// Name of the original's prepared point query.
const POINT_NAME: &str = "pk_query_ps";

/// A statement that PostgreSQL prepares by SQL, with 32-bit parameters, and runs by SQL: `PREPARE name (int,…) AS …`,
/// once a session; and `execute name (`, to be followed by the values and `)`.
fn by_name(name: &str, params: usize, sql: &str) -> (String, String) {
    let types = vec!["int"; params].join(",");
    (format!("PREPARE {name} ({types}) AS {sql}"), format!("execute {name} ("))
}

/// See [`by_name`].
pub(super) fn range_by_name(table: &str, index: usize, limit: u32) -> (String, String) {
    by_name(RANGE_NAMES[index], 1, &range_query(Dialect::Postgres, table, index, "$1", limit))
}

/// See [`by_name`].
pub(super) fn point_by_name(table: &str, keys: u32) -> (String, String) {
    by_name(POINT_NAME, keys as usize, &point_prepared(Dialect::Postgres, table, keys))
}

/// The next `limit` rows behind key `last`, in the order of their keys: key, then the columns of `COLUMNS`.
pub(super) fn rows_after(dialect: Dialect, table: &str, last: i64, limit: u64) -> String {
    let hint = statements::primary_hint(dialect);
    let columns = COLUMNS.join(", ");
    format!(
        "SELECT transactionid, {columns} FROM {table}{hint} \
         WHERE transactionid > {last} ORDER BY transactionid LIMIT {limit}"
    )
}

/// A column of each of [`INDEXES`] that no other one has: who counts its values reads that index.
const ONLY_THERE: [&str; 3] = ["productid", "cashregisterid", "dateandtime"];

/// Counts the rows of the table by reading all of it, or all of the secondary index with this number.
pub(super) fn scan(dialect: Dialect, table: &Table, index: Option<usize>) -> String {
    let name = &table.name;
    let Some(index) = index else {
        let hint = statements::primary_hint(dialect);
        return format!("SELECT COUNT(data) FROM {name}{hint}");
    };
    let Index { name: hinted, columns, .. } = &table.indexes[index];
    let (counted, hint) = (ONLY_THERE[index], statements::index_hint(dialect, hinted));
    format!("SELECT COUNT({counted}) FROM {name}{hint} WHERE {} >= 0", columns[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the original has them, but for spaces and brackets.
    #[test]
    fn statements_that_are_run_by_name_have_32_bit_parameters() {
        let (prepare, head) = range_by_name("pi1", 2, 10);
        assert_eq!(
            prepare,
            "PREPARE pdc_query_ps (int) AS SELECT price, dateandtime, customerid FROM pi1 \
             WHERE price >= $1 ORDER BY price, dateandtime, customerid LIMIT 10"
        );
        assert_eq!(head, "execute pdc_query_ps (");
        let (prepare, head) = point_by_name("pi1", 3);
        assert_eq!(
            prepare,
            "PREPARE pk_query_ps (int,int,int) AS SELECT transactionid, productid, data FROM pi1 \
             WHERE transactionid IN ($1,$2,$3)"
        );
        assert_eq!(head, "execute pk_query_ps (");
    }
}
