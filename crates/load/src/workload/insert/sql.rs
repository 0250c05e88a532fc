//! The statements of the Insert Benchmark in each dialect.

use std::fmt::Write;

use model::{Dialect, Engine, InsertSpec};

/// The columns that a client sends; the key is the server's.
const COLUMNS: &str = "(dateandtime,cashregisterid,customerid,productid,price,data)";

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

/// Statements that create a table. `rows` is how many it will have been given at the end, for the
/// bounds of partitions.
pub(super) fn create_table(
    dialect: Dialect,
    engine: Engine,
    table: &str,
    spec: &InsertSpec,
    rows: u64,
) -> Vec<String> {
    match dialect {
        Dialect::Mysql => {
            let engine = engine
                .ddl_name()
                .map_or(String::new(), |e| format!(" ENGINE={e}"));
            vec![format!(
                "CREATE TABLE {table} (transactionid BIGINT NOT NULL AUTO_INCREMENT, \
                 dateandtime DATETIME, cashregisterid INT NOT NULL, customerid INT NOT NULL, \
                 productid INT NOT NULL, price INT NOT NULL, data VARCHAR(4000), \
                 PRIMARY KEY (transactionid)){engine}{}",
                mysql_partitions(spec.partitions, rows)
            )]
        }
        Dialect::Postgres => {
            let (partitioned, mut partitions) = postgres_partitions(table, spec.partitions, rows);
            let mut statements = vec![format!(
                "CREATE TABLE {table} (transactionid bigserial PRIMARY KEY, \
                 dateandtime timestamp without time zone, cashregisterid int NOT NULL, \
                 customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, \
                 data varchar(4000)){partitioned}"
            )];
            statements.append(&mut partitions);
            statements.push(format!(
                "ALTER SEQUENCE {table}_transactionid_seq CACHE {}",
                spec.sequence_cache.max(1)
            ));
            statements
        }
        Dialect::Sqlite => vec![format!(
            "CREATE TABLE {table} (transactionid INTEGER PRIMARY KEY, dateandtime TEXT, \
             cashregisterid INTEGER NOT NULL, customerid INTEGER NOT NULL, \
             productid INTEGER NOT NULL, price INTEGER NOT NULL, data TEXT)"
        )],
    }
}

fn bounds(partitions: u32, rows: u64) -> Vec<u64> {
    let step = rows.div_ceil(u64::from(partitions)).max(1);
    (1..u64::from(partitions)).map(|i| i * step + 1).collect()
}

fn mysql_partitions(partitions: u32, rows: u64) -> String {
    if partitions == 0 {
        return String::new();
    }
    let mut sql = " PARTITION BY RANGE (transactionid) (".to_owned();
    for (i, bound) in bounds(partitions, rows).iter().enumerate() {
        let _infallible = write!(sql, "PARTITION p{i} VALUES LESS THAN ({bound}), ");
    }
    let _infallible = write!(
        sql,
        "PARTITION p{} VALUES LESS THAN MAXVALUE)",
        partitions.saturating_sub(1)
    );
    sql
}

fn postgres_partitions(table: &str, partitions: u32, rows: u64) -> (&'static str, Vec<String>) {
    if partitions == 0 {
        return ("", Vec::new());
    }
    let bounds = bounds(partitions, rows);
    let edge = |i: usize, open: &str| bounds.get(i).map_or(open.to_owned(), u64::to_string);
    let create = (0..partitions as usize).map(|i| {
        let from = if i == 0 {
            "MINVALUE".to_owned()
        } else {
            edge(i - 1, "MINVALUE")
        };
        let to = edge(i, "MAXVALUE");
        format!("CREATE TABLE {table}_p{i} PARTITION OF {table} FOR VALUES FROM ({from}) TO ({to})")
    });
    (" PARTITION BY RANGE (transactionid)", create.collect())
}

/// Statements that build the first `count` secondary indexes.
pub(super) fn create_indexes(
    dialect: Dialect,
    engine: Engine,
    table: &str,
    count: u32,
) -> Vec<String> {
    let wanted = INDEXES.iter().take(count as usize);
    match (dialect, engine) {
        // InnoDB builds all of them in one scan of the table.
        (Dialect::Mysql, Engine::Innodb) => {
            let parts: Vec<String> = wanted
                .map(|(suffix, columns)| format!("ADD INDEX {table}_{suffix} ({columns})"))
                .collect();
            if parts.is_empty() {
                Vec::new()
            } else {
                vec![format!("ALTER TABLE {table} {}", parts.join(", "))]
            }
        }
        (Dialect::Mysql, _) => wanted
            .map(|(suffix, columns)| {
                format!("ALTER TABLE {table} ADD INDEX {table}_{suffix} ({columns})")
            })
            .collect(),
        (Dialect::Postgres | Dialect::Sqlite, _) => wanted
            .map(|(suffix, columns)| {
                format!("CREATE INDEX {table}_{suffix} ON {table} ({columns})")
            })
            .collect(),
    }
}

/// `INSERT INTO pi1 (…) VALUES `, to be followed by the rows.
pub(super) fn insert_head(table: &str) -> String {
    format!("INSERT INTO {table} {COLUMNS} VALUES ")
}

/// The INSERT of `rows` rows with placeholders, six a row.
pub(super) fn insert_prepared(dialect: Dialect, table: &str, rows: u32) -> String {
    let mut sql = insert_head(table);
    let mut number = 0;
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ",(" });
        for column in 0..6 {
            if column > 0 {
                sql.push(',');
            }
            number += 1;
            placeholder(&mut sql, dialect, number);
        }
        sql.push(')');
    }
    sql
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
    let comparison = if suffix == "registersegment" {
        ">"
    } else {
        ">="
    };
    let hint = hint(dialect, table, suffix);
    format!(
        "SELECT {columns} FROM {table}{hint} WHERE {first} {comparison} {key} \
         ORDER BY {columns} LIMIT {limit}"
    )
}

/// `SELECT … WHERE transactionid IN (`, to be followed by the keys and `)`.
pub(super) fn point_head(table: &str) -> String {
    format!("SELECT transactionid, productid, data FROM {table} WHERE transactionid IN (")
}

/// The point query with placeholders.
pub(super) fn point_prepared(dialect: Dialect, table: &str, keys: u32) -> String {
    let mut sql = point_head(table);
    for key in 1..=keys {
        if key > 1 {
            sql.push(',');
        }
        placeholder(&mut sql, dialect, key);
    }
    sql.push(')');
    sql
}

/// Names of the original's prepared range queries, in the order of [`INDEXES`].
const RANGE_NAMES: [&str; 3] = ["market_query_ps", "register_query_ps", "pdc_query_ps"];

/// Name of the original's prepared point query.
const POINT_NAME: &str = "pk_query_ps";

/// A statement that PostgreSQL prepares by SQL, with 32-bit parameters, and runs by SQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ByName {
    /// `PREPARE name (int,…) AS …`, once a session.
    pub(super) prepare: String,
    /// `execute name (`, to be followed by the values and `)`.
    pub(super) head: String,
}

impl ByName {
    fn new(name: &str, params: usize, sql: &str) -> Self {
        let types = vec!["int"; params].join(",");
        Self {
            prepare: format!("PREPARE {name} ({types}) AS {sql}"),
            head: format!("execute {name} ("),
        }
    }

    /// The range query on secondary index `index`.
    pub(super) fn range(table: &str, index: usize, limit: u32) -> Self {
        let sql = range_query(Dialect::Postgres, table, index, "$1", limit);
        Self::new(RANGE_NAMES[index], 1, &sql)
    }

    /// The point query for `keys` keys.
    pub(super) fn point(table: &str, keys: u32) -> Self {
        let sql = point_prepared(Dialect::Postgres, table, keys);
        Self::new(POINT_NAME, keys as usize, &sql)
    }
}

/// A placeholder for parameter `number`, from 1.
pub(super) fn placeholder(sql: &mut String, dialect: Dialect, number: u32) {
    match dialect {
        Dialect::Mysql | Dialect::Sqlite => sql.push('?'),
        Dialect::Postgres => {
            let _infallible = write!(sql, "${number}");
        }
    }
}

/// The next `limit` rows behind key `last`, in the order of their keys: key, then the columns of `COLUMNS`.
pub(super) fn rows_after(dialect: Dialect, table: &str, last: i64, limit: u64) -> String {
    let hint = primary_hint(dialect);
    let columns = COLUMNS.trim_matches(['(', ')']).replace(',', ", ");
    format!(
        "SELECT transactionid, {columns} FROM {table}{hint} \
         WHERE transactionid > {last} ORDER BY transactionid LIMIT {limit}"
    )
}

/// What makes a query read the table itself.
fn primary_hint(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => " FORCE INDEX (PRIMARY)",
        Dialect::Postgres | Dialect::Sqlite => "",
    }
}

/// A column of each of [`INDEXES`] that no other one has: who counts its values reads that index.
const ONLY_THERE: [&str; 3] = ["productid", "cashregisterid", "dateandtime"];

/// Counts the rows of the table by reading it itself, or with the number of a secondary index by
/// reading that, from one end to the other.
pub(super) fn scan(dialect: Dialect, table: &str, index: Option<usize>) -> String {
    let Some(index) = index else {
        let hint = primary_hint(dialect);
        return format!("SELECT COUNT(data) FROM {table}{hint}");
    };
    let (suffix, columns) = INDEXES[index];
    let first = columns.split(',').next().unwrap_or(columns);
    let hint = hint(dialect, table, suffix);
    let counted = ONLY_THERE[index];
    format!("SELECT COUNT({counted}) FROM {table}{hint} WHERE {first} >= 0")
}

/// What a session is told before it scans indexes.
pub(super) fn before_scans(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        // It has no hints.
        Dialect::Postgres => &["SET enable_seqscan = off", "SET enable_bitmapscan = off"],
        Dialect::Mysql | Dialect::Sqlite => &[],
    }
}

/// What makes a query use one secondary index, where the dialect has words for that.
fn hint(dialect: Dialect, table: &str, suffix: &str) -> String {
    match dialect {
        Dialect::Mysql => format!(" FORCE INDEX ({table}_{suffix})"),
        Dialect::Sqlite => format!(" INDEXED BY {table}_{suffix}"),
        Dialect::Postgres => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the original has them, but for spaces and brackets.
    #[test]
    fn statements_that_are_run_by_name_have_32_bit_parameters() {
        let range = ByName::range("pi1", 2, 10);
        assert_eq!(
            range.prepare,
            "PREPARE pdc_query_ps (int) AS SELECT price, dateandtime, customerid FROM pi1 \
             WHERE price >= $1 ORDER BY price, dateandtime, customerid LIMIT 10"
        );
        assert_eq!(range.head, "execute pdc_query_ps (");
        let point = ByName::point("pi1", 3);
        assert_eq!(
            point.prepare,
            "PREPARE pk_query_ps (int,int,int) AS SELECT transactionid, productid, data FROM pi1 \
             WHERE transactionid IN ($1,$2,$3)"
        );
        assert_eq!(point.head, "execute pk_query_ps (");
    }
}
