//! The nine tables, their keys and indexes, in each dialect.
//!
//! Both profiles have the same tables. Sizes are the standard's or larger: sums that a fast server reaches
//! within hours would not fit into its twelve digits.

mod described;
mod kind;

use drivers::ParamType;
use model::{Dialect, Engine, TpccIndexes, TpccSchema, TpccSpec, Version};

use self::described::{Described, TABLES};
pub(super) use self::kind::{Column, Kind};
use data::checksum::Form;
use data::table::{self, Index, Partitions, engine_option};
use load::{StepError, Target};

/// A table, each after those whose rows its own belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Table {
    Warehouse,
    District,
    Customer,
    History,
    Orders,
    NewOrder,
    Item,
    Stock,
    OrderLine,
}

/// No row is longer, as parameters.
const LONGEST_ROW: usize = 1000;

impl Table {
    pub(super) const ALL: [Self; 9] = [
        Self::Warehouse,
        Self::District,
        Self::Customer,
        Self::History,
        Self::Orders,
        Self::NewOrder,
        Self::Item,
        Self::Stock,
        Self::OrderLine,
    ];

    fn described(self) -> &'static Described {
        &TABLES[self as usize]
    }

    pub(super) fn name(self) -> &'static str {
        self.described().name
    }

    /// Its columns, in the order in which rows are loaded. The number that rows of `history` may have is
    /// not among them: servers give it.
    pub(super) fn columns(self) -> &'static [Column] {
        &self.described().columns
    }

    pub(super) fn place_of(self, column: &str) -> Option<usize> {
        self.columns().iter().position(|own| own.name == column)
    }

    /// The places of columns that it has.
    pub(super) fn places<const N: usize>(self, columns: [&str; N]) -> [usize; N] {
        columns.map(|column| self.place_of(column).unwrap_or(0))
    }

    /// The columns of its primary key; none for `history`.
    pub(super) fn key(self) -> &'static [&'static str] {
        &self.described().key
    }

    /// How many of warehouse and district group its loaded rows: their numbers count within such a group.
    pub(super) fn groups(self) -> usize {
        self.described().group.len()
    }

    /// What derives the seeds of its rows, the same for ever.
    pub(super) const fn seed(self) -> u64 {
        match self {
            Self::Warehouse => 0,
            Self::District => 1,
            Self::Customer => 2,
            Self::History => 3,
            Self::NewOrder => 4,
            Self::Orders => 5,
            Self::OrderLine => 6,
            Self::Item => 7,
            Self::Stock => 8,
        }
    }

    /// The table as it is in a dialect.
    fn table(self, schema: TpccSchema, dialect: Dialect, engine: Engine) -> table::Table {
        let Described { name, columns, partitioned_by, group, number, .. } = self.described();
        let partitioned_by = partitioned_by.filter(|_| schema.partitions > 0);
        let mut key = self.key().to_vec();
        let mut columns: Vec<table::Column> =
            columns.iter().map(|column| column.table_column(dialect)).collect();
        if self == Self::History && schema.history_key {
            columns.insert(0, number_column(dialect));
            key.push("h_id");
            // A key must be unique in all partitions together.
            key.extend(partitioned_by);
        }
        let options = match dialect {
            Dialect::Mysql => table_options(engine),
            // The rows lie in the tree of their key, as they do on servers that have trees.
            Dialect::Sqlite if key.len() > 1 => " WITHOUT ROWID".to_owned(),
            Dialect::Postgres | Dialect::Sqlite => String::new(),
        };
        table::Table {
            name: (*name).to_owned(),
            columns,
            key: key.into_iter().map(str::to_owned).collect(),
            indexes: self.indexes(schema),
            options,
            partitions: partitioned_by.map(|column| Partitions::Hash {
                column: column.to_owned(),
                count: schema.partitions,
            }),
            after: Vec::new(),
            group: group.iter().map(|column| (*column).to_owned()).collect(),
            number: Some((*number).to_owned()),
            row_bytes: LONGEST_ROW,
        }
    }

    fn indexes(self, schema: TpccSchema) -> Vec<Index> {
        let is_percona = schema.indexes == TpccIndexes::Percona;
        let indexes =
            self.described().indexes.iter().filter(|index| is_percona || !index.is_percona);
        let index = |index: &described::Index| Index {
            name: index.name.to_owned(),
            columns: index.columns.iter().map(|column| (*column).to_owned()).collect(),
            unique: false,
            with_table: false,
        };
        indexes.map(index).collect()
    }
}

/// All tables as they are on a server, in the order of [`Table::ALL`]. Fails with [`StepError::Unsupported`]
/// where the server cannot have what the plan asks for.
pub(super) fn tables(spec: &TpccSpec, target: &Target) -> Result<Vec<table::Table>, StepError> {
    let Target { dialect, engine, version, .. } = target;
    refuse_unsupported(spec.schema, *dialect, *engine, version)?;
    Ok(Table::ALL.map(|table| table.table(spec.schema, *dialect, *engine)).to_vec())
}

/// The statements that add the foreign keys, one each, to tables that have their indexes.
pub(super) fn foreign_keys(schema: TpccSchema) -> Vec<String> {
    let tables = TABLES.iter().filter(|_| schema.foreign_keys);
    let statements = tables.flat_map(|table| {
        table.references.iter().map(|reference| {
            let described::Reference { name, columns, parent, key } = reference;
            format!(
                "ALTER TABLE {} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) REFERENCES {parent} ({key})",
                table.name
            )
        })
    });
    statements.collect()
}

/// Settings of a session before it adds foreign keys.
pub(super) const fn before_foreign_keys(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        // Otherwise InnoDB copies the table to look at each row, which the checks of the load do anyhow.
        Dialect::Mysql => &["SET foreign_key_checks = 0"],
        Dialect::Postgres | Dialect::Sqlite => &[],
    }
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

/// The number of a row of `history`, which servers give.
fn number_column(dialect: Dialect) -> table::Column {
    let definition = match dialect {
        Dialect::Mysql => "BIGINT NOT NULL AUTO_INCREMENT",
        Dialect::Postgres => "BIGSERIAL",
        Dialect::Sqlite => "INTEGER NOT NULL",
    };
    table::Column {
        name: "h_id".to_owned(),
        definition: definition.to_owned(),
        is_loaded: false,
        param: ParamType::Int,
        form: Form::Integer,
        nullable: false,
    }
}

/// The options of every table on servers of the MySQL family. Names are compared byte by byte there too,
/// and a character is a byte, whatever the server's default is.
pub(super) fn table_options(engine: Engine) -> String {
    let engine = engine_option(Dialect::Mysql, engine);
    format!("{engine} DEFAULT CHARSET=latin1 COLLATE=latin1_bin")
}

#[cfg(test)]
mod tests;
