//! The statements that make tables, their indexes and foreign keys.

use model::{Dialect, Engine, TpccIndexes, TpccSchema, TpccSpec, Version};

use super::Table;
use data::statements::index_hint;
use load::{StepError, Target};

/// A secondary index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) name: &'static str,
    columns: &'static [&'static str],
}

pub(crate) fn index_list(table: Table, schema: TpccSchema) -> Vec<Index> {
    let index =
        |name: &'static str, columns: &'static [&'static str]| vec![Index { name, columns }];
    match (table, schema.indexes) {
        (Table::Customer, _) => index("idx_customer", &["c_w_id", "c_d_id", "c_last", "c_first"]),
        (Table::Orders, _) => index("idx_orders", &["o_w_id", "o_d_id", "o_c_id", "o_id"]),
        (Table::Stock, TpccIndexes::Percona) => index("fkey_stock_2", &["s_i_id"]),
        (Table::OrderLine, TpccIndexes::Percona) => {
            index("fkey_order_line_2", &["ol_supply_w_id", "ol_i_id"])
        }
        (Table::Stock | Table::OrderLine, TpccIndexes::Minimum)
        | (
            Table::Warehouse | Table::District | Table::History | Table::NewOrder | Table::Item,
            _,
        ) => Vec::new(),
    }
}

pub(crate) fn indexes(table: Table, schema: TpccSchema) -> Vec<String> {
    let list = index_list(table, schema).into_iter();
    list.map(|Index { name, columns }| {
        format!("CREATE INDEX {name} ON {} ({})", table.name(), columns.join(", "))
    })
    .collect()
}

/// The query that counts the rows of an index by reading it from one end to the other.
pub(crate) fn count_index(table: Table, index: &Index, dialect: Dialect) -> String {
    let Index { name, columns } = index;
    let hint = index_hint(dialect, name);
    let column = columns.first().unwrap_or(&"*");
    format!("SELECT COUNT({column}) FROM {}{hint}", table.name())
}

/// A foreign key: its name, its table and columns, those that it refers to.
type ForeignKey = (&'static str, Table, &'static str, Table, &'static str);

/// The ten foreign keys.
const FOREIGN_KEYS: [ForeignKey; 10] = [
    ("fkey_district_1", Table::District, "d_w_id", Table::Warehouse, "w_id"),
    ("fkey_customer_1", Table::Customer, "c_w_id, c_d_id", Table::District, "d_w_id, d_id"),
    (
        "fkey_history_1",
        Table::History,
        "h_c_w_id, h_c_d_id, h_c_id",
        Table::Customer,
        "c_w_id, c_d_id, c_id",
    ),
    ("fkey_history_2", Table::History, "h_w_id, h_d_id", Table::District, "d_w_id, d_id"),
    (
        "fkey_new_order_1",
        Table::NewOrder,
        "no_w_id, no_d_id, no_o_id",
        Table::Orders,
        "o_w_id, o_d_id, o_id",
    ),
    (
        "fkey_orders_1",
        Table::Orders,
        "o_w_id, o_d_id, o_c_id",
        Table::Customer,
        "c_w_id, c_d_id, c_id",
    ),
    (
        "fkey_order_line_1",
        Table::OrderLine,
        "ol_w_id, ol_d_id, ol_o_id",
        Table::Orders,
        "o_w_id, o_d_id, o_id",
    ),
    (
        "fkey_order_line_2",
        Table::OrderLine,
        "ol_supply_w_id, ol_i_id",
        Table::Stock,
        "s_w_id, s_i_id",
    ),
    ("fkey_stock_1", Table::Stock, "s_w_id", Table::Warehouse, "w_id"),
    ("fkey_stock_2", Table::Stock, "s_i_id", Table::Item, "i_id"),
];

/// The statements that add the foreign keys, one each, to tables that have their indexes.
pub(crate) fn foreign_keys(schema: TpccSchema) -> Vec<String> {
    if !schema.foreign_keys {
        return Vec::new();
    }
    let statement = |(name, table, columns, parent, key): ForeignKey| {
        format!(
            "ALTER TABLE {} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) REFERENCES {} ({key})",
            table.name(),
            parent.name()
        )
    };
    FOREIGN_KEYS.into_iter().map(statement).collect()
}

/// What a session is told before it adds foreign keys.
pub(crate) const fn before_foreign_keys(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        // Else InnoDB copies the table to look at each row, which the checks of what was loaded do anyhow.
        Dialect::Mysql => &["SET foreign_key_checks = 0"],
        Dialect::Postgres | Dialect::Sqlite => &[],
    }
}

/// The statements that make a table with its primary key and its partitions, empty. Fails with
/// [`StepError::Unsupported`] where the server cannot have what the plan asks for.
pub(crate) fn create(
    table: Table,
    spec: &TpccSpec,
    target: &Target,
) -> Result<Vec<String>, StepError> {
    let Target { dialect, engine, version, .. } = target;
    refuse_unsupported(spec.schema, *dialect, *engine, version)?;
    Ok(definition(table, spec.schema, *dialect, *engine))
}

fn refuse_unsupported(
    schema: TpccSchema,
    dialect: Dialect,
    engine: Engine,
    version: &Version,
) -> Result<(), StepError> {
    let (has_keys, has_partitions) = (schema.foreign_keys, schema.partitions > 0);
    let why = match dialect {
        Dialect::Sqlite if has_keys => "SQLite adds no foreign keys to tables that are loaded",
        Dialect::Sqlite if has_partitions => "SQLite has no partitions",
        Dialect::Mysql if has_keys && has_partitions => {
            "partitioned tables have no foreign keys on this server"
        }
        Dialect::Mysql if has_keys && engine != Engine::Innodb => {
            "no engine but InnoDB has foreign keys"
        }
        Dialect::Postgres if has_partitions && version.major() < 11 => {
            "PostgreSQL has hash partitions from version 11 on"
        }
        Dialect::Postgres if has_partitions && has_keys && version.major() < 12 => {
            "PostgreSQL has foreign keys to partitioned tables from version 12 on"
        }
        Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite => return Ok(()),
    };
    Err(StepError::Unsupported(format!("{why}: change the schema's foreign_keys or partitions")))
}

/// As [`create`], for a schema that the server can have.
fn definition(table: Table, schema: TpccSchema, dialect: Dialect, engine: Engine) -> Vec<String> {
    let partitioned = table.partitioned_by().filter(|_| schema.partitions > 0);
    let mut key = table.key().to_vec();
    let mut parts = Vec::new();
    if table == Table::History && schema.history_key {
        parts.push(number_column(dialect).to_owned());
        key.push("h_id");
        // A key must be unique in all partitions together.
        key.extend(partitioned);
    }
    parts.extend(table.columns().iter().map(|column| {
        let null = if column.nullable { "" } else { " NOT NULL" };
        format!("{} {}{null}", column.name, column.kind.sql(dialect))
    }));
    if !key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
    }
    let (name, count) = (table.name(), schema.partitions);
    let options = match dialect {
        Dialect::Mysql => table_options(engine),
        // The rows lie in the tree of their key, as they do on servers that have trees.
        Dialect::Sqlite if key.len() > 1 => " WITHOUT ROWID".to_owned(),
        Dialect::Postgres | Dialect::Sqlite => String::new(),
    };
    let by = match (dialect, partitioned) {
        (Dialect::Mysql, Some(column)) => {
            format!(" PARTITION BY HASH ({column}) PARTITIONS {count}")
        }
        (Dialect::Postgres | Dialect::Sqlite, Some(column)) => {
            format!(" PARTITION BY HASH ({column})")
        }
        (Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite, None) => String::new(),
    };
    let mut statements = vec![format!("CREATE TABLE {name} ({}){options}{by}", parts.join(", "))];
    if dialect == Dialect::Postgres && partitioned.is_some() {
        statements.extend((0..count).map(|part| {
            format!(
                "CREATE TABLE {name}_{part} PARTITION OF {name} FOR VALUES WITH (MODULUS {count}, \
                 REMAINDER {part})"
            )
        }));
    }
    statements
}

/// The number of a row of `history`, as it stands in CREATE TABLE.
const fn number_column(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Mysql => "h_id BIGINT NOT NULL AUTO_INCREMENT",
        Dialect::Postgres => "h_id BIGSERIAL",
        Dialect::Sqlite => "h_id INTEGER NOT NULL",
    }
}

/// The options of every table on servers of the MySQL family. Names are compared byte by byte there too,
/// and a character is a byte, whatever the server's default is.
pub(crate) fn table_options(engine: Engine) -> String {
    let engine = engine.ddl_name();
    let engine = engine.map_or(String::new(), |name| format!(" ENGINE={name}"));
    format!("{engine} DEFAULT CHARSET=latin1 COLLATE=latin1_bin")
}

#[cfg(test)]
mod tests;
