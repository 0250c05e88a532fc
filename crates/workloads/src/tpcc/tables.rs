//! The nine tables, their keys and indexes, in each dialect.
//!
//! Both profiles have the same tables. Sizes are the standard's or larger: sums that a fast server reaches
//! within hours would not fit into its twelve digits.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

use drivers::ParamType;
use model::{DISTRICTS, Dialect, Engine, TpccIndexes, TpccProfile, TpccSchema, TpccSpec, Version};

use super::blocks::blocks;
use super::money::{self, OF_CENTS, OF_RATES};
use data::{Form, Index, Partitions, engine_option, table};
use load::{Result, StepError, Target};

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

/// Lines of an order in the mean: 5 to 15.
const MEAN_LINES: u32 = 10;

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

    /// Its columns, in the order of loading, without the number that servers may give to rows of `history`.
    pub(super) fn columns(self) -> &'static [Column] {
        &self.described().columns
    }

    pub(super) fn place_of(self, column: &str) -> Option<usize> {
        self.columns().iter().position(|own| own.name == column)
    }

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

    /// The numbers of the groups of its loaded rows in these warehouses.
    pub(super) fn groups_of(self, first: u32, last: u32) -> Range<u64> {
        let of_warehouse = match self.groups() {
            0 => return 0..1,
            1 => 1,
            _ => u64::from(DISTRICTS),
        };
        (u64::from(first) - 1) * of_warehouse..u64::from(last) * of_warehouse
    }

    /// Loaded rows with the same number in their group, of the lines of an order in the mean.
    pub(super) const fn rows_of_number(self) -> u32 {
        match self {
            Self::District => DISTRICTS,
            Self::OrderLine => MEAN_LINES,
            Self::Warehouse
            | Self::Customer
            | Self::History
            | Self::NewOrder
            | Self::Orders
            | Self::Item
            | Self::Stock => 1,
        }
    }

    /// What derives the seeds of its rows, the same for ever.
    pub(super) const fn seed(self) -> u64 {
        const SEEDS: [u64; 9] = [0, 1, 2, 3, 5, 4, 7, 8, 6];
        SEEDS[self as usize]
    }

    fn table(self, schema: TpccSchema, dialect: Dialect, engine: Engine) -> table::Table {
        let Described { name, columns, partitioned_by, group, number, .. } = self.described();
        let partitioned_by = partitioned_by.filter(|_| schema.partitions > 0);
        let mut key = self.key().to_vec();
        let columns = columns.iter().map(|Column { name, kind, nullable, .. }| table::Column {
            name: (*name).to_owned(),
            definition: format!(
                "{}{}",
                kind.sql(dialect),
                if *nullable { "" } else { " NOT NULL" }
            ),
            param: kind.param_type(dialect),
            form: kind.form(),
            nullable: *nullable,
            is_loaded: true,
        });
        let mut columns: Vec<table::Column> = columns.collect();
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
        let all = self.described().indexes.iter();
        all.filter(|(_, of_percona)| is_percona || !of_percona)
            .map(|(index, _)| index.clone())
            .collect()
    }
}

/// All tables as they are on a server, in the order of [`Table::ALL`]. Fails with [`StepError::Unsupported`]
/// where the server cannot have what the plan asks for.
pub(super) fn tables(spec: &TpccSpec, target: &Target) -> Result<Vec<table::Table>> {
    let Target { dialect, engine, version, .. } = target;
    refuse_unsupported(spec.schema, *dialect, *engine, version)?;
    Ok(Table::ALL.map(|table| table.table(spec.schema, *dialect, *engine)).to_vec())
}

/// The statements that add the foreign keys, one each, to tables that have their indexes.
pub(super) fn foreign_keys(schema: TpccSchema) -> Vec<String> {
    let tables = TABLES.iter().filter(|_| schema.foreign_keys);
    let statements = tables.flat_map(|Described { name: table, references, .. }| {
        references.iter().map(move |[name, columns, parent, key]| {
            format!(
                "ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) REFERENCES {parent} ({key})"
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
) -> Result {
    let (has_keys, has_partitions) = (schema.foreign_keys, schema.partitions > 0);
    if dialect == Dialect::Sqlite && version.parts() < [3, 8, 2].as_slice() {
        return Err(StepError::Unsupported(format!(
            "SQLite {version} has no tables WITHOUT ROWID, which this workload needs: use 3.8.2 or later"
        )));
    }
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

/// A table as `tables.txt` describes it.
struct Described {
    name: &'static str,
    key: Vec<&'static str>,
    group: Vec<&'static str>,
    number: &'static str,
    partitioned_by: Option<&'static str>,
    columns: Vec<Column>,
    /// Each with whether only tpcc-mysql has it.
    indexes: Vec<(Index, bool)>,
    /// Name and columns of each foreign key, table and key that it refers to.
    references: Vec<[&'static str; 4]>,
}

/// All tables, in the order of the file.
static TABLES: LazyLock<Vec<Described>> = LazyLock::new(|| {
    blocks(include_str!("tables/tables.txt")).filter_map(|block| described(&block)).collect()
});

fn described((header, lines): &(Vec<&'static str>, Vec<&'static str>)) -> Option<Described> {
    let [name, key, group, number, partitioned_by] = header[..] else {
        return None;
    };
    let mut described = Described {
        name,
        key: list(key),
        group: list(group),
        number,
        partitioned_by: (!partitioned_by.is_empty()).then_some(partitioned_by),
        columns: Vec::new(),
        indexes: Vec::new(),
        references: Vec::new(),
    };
    for line in lines {
        let parts: Vec<&str> = line.split(['(', ')']).map(str::trim).collect();
        if let [head, columns, parent, key, ""] = parts[..] {
            let name = head.strip_prefix("reference ")?;
            described.references.push([name, columns, parent, key]);
        } else if let [head, columns, ""] = parts[..] {
            let (before, name) = head.split_once("index ")?;
            let columns = list(columns).into_iter().map(str::to_owned).collect();
            let index = Index { name: name.to_owned(), columns, unique: false, with_table: false };
            described.indexes.push((index, before == "percona "));
        } else {
            described.columns.push(column(line)?);
        }
    }
    Some(described)
}

fn list(names: &'static str) -> Vec<&'static str> {
    names.split(", ").filter(|name| !name.is_empty()).collect()
}

/// A column, which is never NULL unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) nullable: bool,
    /// The profiles whose transactions change it in a loaded row; where NULL was loaded, a Delivery writes besides.
    pub(super) written_by: &'static [TpccProfile],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer of 16 bits.
    Small,
    /// An integer of 32 bits.
    Int,
    Money(u8),
    Rate,
    /// Text of always so many characters.
    Char(u8),
    /// Text of at most so many characters.
    Varchar(u16),
    /// As [`Kind::Varchar`], ordered and compared byte by byte on every server.
    Name(u8),
    Time,
}

/// The column that a line such as `w_ytd money 16 both` describes.
fn column(line: &'static str) -> Option<Column> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let kind = match words.next()? {
        "small" => Kind::Small,
        "int" => Kind::Int,
        "money" => Kind::Money(words.next()?.parse().ok()?),
        "rate" => Kind::Rate,
        "char" => Kind::Char(words.next()?.parse().ok()?),
        "varchar" => Kind::Varchar(words.next()?.parse().ok()?),
        "name" => Kind::Name(words.next()?.parse().ok()?),
        "time" => Kind::Time,
        _ => return None,
    };
    let last = words.next();
    let written_by: &[TpccProfile] = match last {
        Some("both") => &[TpccProfile::Standard, TpccProfile::Percona],
        Some("standard") => &[TpccProfile::Standard],
        Some(_) | None => &[],
    };
    Some(Column { name, kind, nullable: last == Some("null"), written_by })
}

impl Kind {
    fn sql(self, dialect: Dialect) -> String {
        if dialect == Dialect::Sqlite {
            let is_integer = self.param_type(dialect) == ParamType::Int;
            return if is_integer { "INTEGER" } else { "TEXT" }.to_owned();
        }
        match self {
            Self::Small => "SMALLINT".to_owned(),
            Self::Int => "INTEGER".to_owned(),
            Self::Money(digits) => format!("DECIMAL({digits},2)"),
            Self::Rate => "DECIMAL(4,4)".to_owned(),
            Self::Char(length) => format!("CHAR({length})"),
            Self::Varchar(length) => format!("VARCHAR({length})"),
            Self::Name(length) if dialect == Dialect::Mysql => format!("VARCHAR({length})"),
            Self::Name(length) => format!("VARCHAR({length}) COLLATE \"C\""),
            Self::Time if dialect == Dialect::Mysql => "DATETIME".to_owned(),
            Self::Time => "TIMESTAMP(0)".to_owned(),
        }
    }

    const fn param_type(self, dialect: Dialect) -> ParamType {
        match self {
            Self::Small | Self::Int => ParamType::Int,
            Self::Money(_) | Self::Rate => money::param_type(dialect),
            Self::Char(_) | Self::Varchar(_) | Self::Name(_) => ParamType::Text,
            Self::Time => ParamType::DateTime,
        }
    }

    pub(super) const fn form(self) -> Form {
        match self {
            Self::Small | Self::Int => Form::Integer,
            Self::Money(_) => Form::Units(OF_CENTS as u8),
            Self::Rate => Form::Units(OF_RATES as u8),
            Self::Char(_) => Form::Padded,
            Self::Varchar(_) | Self::Name(_) | Self::Time => Form::Exact,
        }
    }
}
