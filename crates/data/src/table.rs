//! A table as a workload describes it once, for its DDL, its load and its reading back, in one dialect.

use drivers::ParamType;
use model::{Dialect, Engine};

use crate::checksum::Form;
use crate::statements::{index_hint, insert_rows, primary_hint};

/// A table. Names stand in statements as they are here, without quotes.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// The columns of the primary key; empty for none.
    pub key: Vec<String>,
    pub indexes: Vec<Index>,
    /// Engine, character set and the like, behind the columns in CREATE TABLE.
    pub options: String,
    pub partitions: Option<Partitions>,
    /// Statements that follow on CREATE TABLE.
    pub after: Vec<String>,
    /// The columns that group the loaded rows (warehouse, district), and the one that numbers them there.
    pub group: Vec<String>,
    pub number: Option<String>,
    /// Bytes of a row as parameters, at most.
    pub row_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    /// Its type and what else stands behind its name in CREATE TABLE.
    pub definition: String,
    pub param: ParamType,
    pub form: Form,
    pub nullable: bool,
    /// Does a load bring its values, not the server?
    pub is_loaded: bool,
}

#[derive(Clone, Debug)]
pub struct Index {
    pub name: String,
    pub columns: Vec<String>,
    pub unique: bool,
    /// Is it made with the table, whatever the plan says about others?
    pub with_table: bool,
}

#[derive(Clone, Debug)]
pub enum Partitions {
    Hash {
        column: String,
        count: u32,
    },
    /// Each but the first partition begins with one of these values.
    Range {
        column: String,
        bounds: Vec<u64>,
    },
}

/// Consecutive rows of one table: what one transaction loads, or one query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    pub table: usize,
    /// The values of the table's group columns; the others are zero.
    pub group: [u32; 2],
    /// The rows' numbers.
    pub first: u64,
    pub last: u64,
}

/// ` ENGINE=InnoDB` where tables name their engine.
pub fn engine_option(dialect: Dialect, engine: Engine) -> String {
    match (dialect, engine.ddl_name()) {
        (Dialect::Mysql, Some(engine)) => format!(" ENGINE={engine}"),
        (Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite, _) => String::new(),
    }
}

impl Table {
    /// The statements that make the empty table, with its primary key, partitions and early indexes.
    pub fn create(&self, dialect: Dialect) -> Vec<String> {
        let Self { name, options, .. } = self;
        let columns = self.columns.iter();
        let mut parts: Vec<String> =
            columns.map(|Column { name, definition, .. }| format!("{name} {definition}")).collect();
        if !self.key.is_empty() {
            parts.push(format!("PRIMARY KEY ({})", self.key.join(", ")));
        }
        let early: Vec<&Index> = self.indexes.iter().filter(|index| index.with_table).collect();
        let is_inline = dialect == Dialect::Mysql;
        if is_inline {
            parts.extend(early.iter().map(|Index { name, columns, unique, .. }| {
                let unique = if *unique { "UNIQUE " } else { "" };
                format!("{unique}KEY {name} ({})", columns.join(", "))
            }));
        }
        let (by, mut partitions) = match &self.partitions {
            Some(partitions) => partitions.of(name, dialect),
            None => (String::new(), Vec::new()),
        };
        let mut statements =
            vec![format!("CREATE TABLE {name} ({}){options}{by}", parts.join(", "))];
        statements.append(&mut partitions);
        if !is_inline {
            statements.extend(early.into_iter().map(|index| self.create_index(index)));
        }
        statements.extend(self.after.iter().cloned());
        statements
    }

    /// The statements that build the indexes which do not come with the table, one each.
    pub fn create_indexes(&self) -> Vec<String> {
        let late = self.indexes.iter().filter(|index| !index.with_table);
        late.map(|index| self.create_index(index)).collect()
    }

    fn create_index(&self, index: &Index) -> String {
        let Index { name, columns, unique, .. } = index;
        let unique = if *unique { "UNIQUE " } else { "" };
        format!("CREATE {unique}INDEX {name} ON {} ({})", self.name, columns.join(", "))
    }

    pub fn loaded(&self) -> impl Iterator<Item = &Column> + Clone {
        self.columns.iter().filter(|column| column.is_loaded)
    }

    pub fn loaded_names(&self) -> Vec<&str> {
        self.loaded().map(|column| column.name.as_str()).collect()
    }

    pub fn forms(&self) -> Vec<Form> {
        self.loaded().map(|column| column.form).collect()
    }

    /// `INSERT INTO t (…) VALUES `, to be followed by the rows.
    pub fn insert_head(&self) -> String {
        format!("INSERT INTO {} ({}) VALUES ", self.name, self.loaded_names().join(","))
    }

    /// The INSERT of `rows` rows with placeholders, and their types; with `nulls`, nullable columns are NULL.
    pub fn insert_prepared(
        &self,
        dialect: Dialect,
        nulls: bool,
        rows: usize,
    ) -> (String, Vec<ParamType>) {
        let is_null = |column: &Column| nulls && column.nullable;
        let sql = insert_rows(&self.insert_head(), dialect, rows, &self.loaded().map(is_null));
        let sent = self.loaded().filter(|column| !is_null(column));
        let types: Vec<ParamType> = sent.map(|column| column.param).collect();
        (sql, types.repeat(rows))
    }

    /// Does the primary key lead to the rows of a batch without reading others?
    pub fn is_in_order(&self) -> bool {
        let by = self.group.iter().chain(&self.number);
        self.number.is_some() && by.enumerate().all(|(place, by)| self.key.get(place) == Some(by))
    }

    /// What the rows of a batch meet and no others, behind WHERE; `None` where no column has their numbers.
    pub fn condition(&self, batch: &Batch) -> Option<String> {
        let groups = self.group.iter().zip(batch.group);
        let groups = groups.map(|(column, value)| format!("{column} = {value}"));
        let range = format!("{} BETWEEN {} AND {}", self.number.as_ref()?, batch.first, batch.last);
        Some(groups.chain([range]).collect::<Vec<_>>().join(" AND "))
    }

    /// Where the rows of a batch are, for people: `stock, s_w_id 3, s_i_id 1 to 1000`.
    pub fn place(&self, batch: &Batch) -> String {
        let groups = self.group.iter().zip(batch.group);
        let groups = groups.map(|(column, value)| format!("{column} {value}"));
        let number = self.number.as_deref().unwrap_or("rows");
        let range = format!("{number} {} to {}", batch.first, batch.last);
        let parts = [self.name.clone()].into_iter().chain(groups).chain([range]);
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Reads the loaded columns of the rows that meet a condition, in any order; of all without one.
    pub fn read(&self, dialect: Dialect, condition: Option<&str>) -> String {
        let (columns, name) = (self.loaded_names().join(","), &self.name);
        match condition {
            None => format!("SELECT {columns} FROM {name}"),
            Some(condition) => {
                let hint = primary_hint(dialect);
                format!("SELECT {columns} FROM {name}{hint} WHERE {condition}")
            }
        }
    }

    /// Counts the rows of an index by reading it from one end to the other.
    pub fn count_index(&self, dialect: Dialect, index: &Index) -> String {
        let hint = index_hint(dialect, &index.name);
        let first = index.columns.first().map_or("*", String::as_str);
        format!("SELECT COUNT({first}) FROM {}{hint}", self.name)
    }
}

impl Partitions {
    /// The end of CREATE TABLE `name`, and the statements that make partitions which are tables themselves.
    fn of(&self, name: &str, dialect: Dialect) -> (String, Vec<String>) {
        let (method, column) = match self {
            Self::Hash { column, .. } => ("HASH", column),
            Self::Range { column, .. } => ("RANGE", column),
        };
        let by = format!(" PARTITION BY {method} ({column})");
        let partition = |part: String, values: &str| {
            format!("CREATE TABLE {name}_{part} PARTITION OF {name} FOR VALUES {values}")
        };
        match (dialect, self) {
            (Dialect::Mysql, Self::Hash { count, .. }) => {
                (format!("{by} PARTITIONS {count}"), Vec::new())
            }
            (Dialect::Mysql, Self::Range { bounds, .. }) => {
                let ends = bounds.iter().map(|bound| format!("({bound})"));
                let ends = ends.chain(["MAXVALUE".to_owned()]).enumerate();
                let parts = ends.map(|(n, end)| format!("PARTITION p{n} VALUES LESS THAN {end}"));
                (format!("{by} ({})", parts.collect::<Vec<_>>().join(", ")), Vec::new())
            }
            (Dialect::Postgres | Dialect::Sqlite, Self::Hash { count, .. }) => {
                let bounds = |part| format!("WITH (MODULUS {count}, REMAINDER {part})");
                (by, (0..*count).map(|part| partition(format!("{part}"), &bounds(part))).collect())
            }
            (Dialect::Postgres | Dialect::Sqlite, Self::Range { bounds, .. }) => {
                let mut edges = vec!["MINVALUE".to_owned()];
                edges.extend(bounds.iter().map(u64::to_string));
                edges.push("MAXVALUE".to_owned());
                let pairs = edges.windows(2).enumerate();
                let part = |(n, pair): (usize, &[String])| {
                    partition(format!("p{n}"), &format!("FROM ({}) TO ({})", pair[0], pair[1]))
                };
                (by, pairs.map(part).collect())
            }
        }
    }
}
