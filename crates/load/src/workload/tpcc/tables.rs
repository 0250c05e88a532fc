//! The nine tables, their keys and indexes, in each dialect.
//!
//! Both profiles have the same tables. Sizes are the standard's or larger: sums that a fast server reaches
//! within hours would not fit into its twelve digits.

mod columns;
mod ddl;

use drivers::ParamType;
use model::{Dialect, TpccProfile};

use self::columns::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER_LINE, ORDERS, STOCK, WAREHOUSE,
};
pub(super) use self::ddl::{
    Index, before_foreign_keys, count_index, create, foreign_keys, index_list, indexes,
    table_options,
};
use super::money;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Table {
    Warehouse,
    District,
    Customer,
    History,
    NewOrder,
    Orders,
    OrderLine,
    Item,
    Stock,
}

/// A column, which is never NULL unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) nullable: bool,
    pub(super) written: Written,
}

/// Which transactions change a column of a loaded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// None. Where NULL was loaded, a Delivery writes.
    Never,
    /// Those of the standard's profile.
    Standard,
    /// Those of both profiles.
    Always,
}

impl Column {
    /// Does a loaded row keep its value under this profile?
    pub(super) const fn is_kept(&self, profile: TpccProfile) -> bool {
        match (self.written, profile) {
            (Written::Never, _) | (Written::Standard, TpccProfile::Percona) => true,
            (Written::Standard, TpccProfile::Standard) | (Written::Always, _) => false,
        }
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer of 16 bits.
    Small,
    /// An integer of 32 bits.
    Int,
    /// An amount of money, with so many digits in all.
    Money(u8),
    /// A tax or discount below 1, four digits.
    Rate,
    /// Text of always so many characters.
    Char(u16),
    /// Text of at most so many characters.
    Varchar(u16),
    /// As [`Kind::Varchar`], ordered and compared byte by byte on every server.
    Name(u16),
    /// Date and time to the second.
    Time,
}

impl Kind {
    /// The type in the dialect's words. SQLite's are affinities.
    fn sql(self, dialect: Dialect) -> String {
        let is_sqlite = dialect == Dialect::Sqlite;
        match self {
            Self::Small | Self::Int | Self::Money(_) | Self::Rate if is_sqlite => {
                "INTEGER".to_owned()
            }
            Self::Char(_) | Self::Varchar(_) | Self::Name(_) | Self::Time if is_sqlite => {
                "TEXT".to_owned()
            }
            Self::Small => "SMALLINT".to_owned(),
            Self::Int => "INTEGER".to_owned(),
            Self::Money(digits) => format!("DECIMAL({digits},2)"),
            Self::Rate => "DECIMAL(4,4)".to_owned(),
            Self::Char(length) => format!("CHAR({length})"),
            Self::Name(length) if dialect == Dialect::Postgres => {
                format!("VARCHAR({length}) COLLATE \"C\"")
            }
            Self::Varchar(length) | Self::Name(length) => format!("VARCHAR({length})"),
            Self::Time if dialect == Dialect::Postgres => "TIMESTAMP(0)".to_owned(),
            Self::Time => "DATETIME".to_owned(),
        }
    }

    /// The type of a parameter for such a column.
    pub(super) const fn param_type(self, dialect: Dialect) -> ParamType {
        match self {
            Self::Small | Self::Int => ParamType::Int,
            Self::Money(_) | Self::Rate => money::param_type(dialect),
            Self::Char(_) | Self::Varchar(_) | Self::Name(_) => ParamType::Text,
            Self::Time => ParamType::DateTime,
        }
    }
}

impl Table {
    /// All: each after those whose rows its own belong to.
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

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Warehouse => "warehouse",
            Self::District => "district",
            Self::Customer => "customer",
            Self::History => "history",
            Self::NewOrder => "new_order",
            Self::Orders => "orders",
            Self::OrderLine => "order_line",
            Self::Item => "item",
            Self::Stock => "stock",
        }
    }

    /// Its columns, in the order in which rows are loaded. The number that rows of `history` may have is
    /// not among them: servers give it.
    pub(super) const fn columns(self) -> &'static [Column] {
        match self {
            Self::Warehouse => WAREHOUSE,
            Self::District => DISTRICT,
            Self::Customer => CUSTOMER,
            Self::History => HISTORY,
            Self::NewOrder => NEW_ORDER,
            Self::Orders => ORDERS,
            Self::OrderLine => ORDER_LINE,
            Self::Item => ITEM,
            Self::Stock => STOCK,
        }
    }

    /// The names of its columns.
    pub(super) fn column_names(self) -> Vec<&'static str> {
        self.columns().iter().map(|column| column.name).collect()
    }

    /// The place of a column among its columns.
    pub(super) fn place_of(self, column: &str) -> Option<usize> {
        self.columns().iter().position(|own| own.name == column)
    }

    /// The columns of its primary key; none for `history`.
    pub(super) const fn key(self) -> &'static [&'static str] {
        match self {
            Self::Warehouse => &["w_id"],
            Self::District => &["d_w_id", "d_id"],
            Self::Customer => &["c_w_id", "c_d_id", "c_id"],
            Self::History => &[],
            Self::NewOrder => &["no_w_id", "no_d_id", "no_o_id"],
            Self::Orders => &["o_w_id", "o_d_id", "o_id"],
            Self::OrderLine => &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
            Self::Item => &["i_id"],
            Self::Stock => &["s_w_id", "s_i_id"],
        }
    }

    /// The column by whose hash it is partitioned, where it is large and grows with the warehouses.
    const fn partitioned_by(self) -> Option<&'static str> {
        match self {
            Self::Customer => Some("c_w_id"),
            Self::History => Some("h_w_id"),
            Self::NewOrder => Some("no_w_id"),
            Self::Orders => Some("o_w_id"),
            Self::OrderLine => Some("ol_w_id"),
            Self::Stock => Some("s_w_id"),
            Self::Warehouse | Self::District | Self::Item => None,
        }
    }
}

/// `INSERT INTO t (…) VALUES `, to be followed by rows.
pub(super) fn insert_head(table: Table) -> String {
    format!(
        "INSERT INTO {} ({}) VALUES ",
        table.name(),
        table.column_names().join(",")
    )
}

/// The INSERT of so many rows with placeholders; NULL stands in the text where a column may be NULL and
/// the rows are so.
pub(super) fn insert_prepared(
    table: Table,
    dialect: Dialect,
    nulls: bool,
    rows: usize,
) -> (String, Vec<ParamType>) {
    let mut sql = insert_head(table);
    let mut types = Vec::new();
    for row in 0..rows {
        let mut separator = if row == 0 { "(" } else { ",(" };
        for column in table.columns() {
            sql.push_str(separator);
            separator = ",";
            if nulls && column.nullable {
                sql.push_str("NULL");
                continue;
            }
            types.push(column.kind.param_type(dialect));
            match dialect {
                Dialect::Mysql | Dialect::Sqlite => sql.push('?'),
                Dialect::Postgres => {
                    sql.push('$');
                    sql.push_str(itoa::Buffer::new().format(types.len()));
                }
            }
        }
        sql.push(')');
    }
    (sql, types)
}

#[cfg(test)]
mod tests;
