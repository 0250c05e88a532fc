//! What a column is.

use drivers::ParamType;
use model::{Dialect, TpccProfile};

use crate::tpcc::money::{self, OF_CENTS, OF_RATES};
use data::checksum::Form;
use data::table;

/// A column, which is never NULL unless it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    written: Written,
}

/// Which transactions change a column of a loaded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// None. Where NULL was loaded, a Delivery writes.
    Never,
    /// Those of the standard's profile.
    Standard,
    /// Those of both profiles.
    Always,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
pub(super) fn column(line: &'static str) -> Option<Column> {
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
    let written = match last {
        Some("both") => Written::Always,
        Some("standard") => Written::Standard,
        Some(_) | None => Written::Never,
    };
    Some(Column { name, kind, nullable: last == Some("null"), written })
}

impl Column {
    /// Do no transactions change it?
    pub(crate) const fn is_kept(&self, profile: TpccProfile) -> bool {
        match (self.written, profile) {
            (Written::Never, _) | (Written::Standard, TpccProfile::Percona) => true,
            (Written::Standard, TpccProfile::Standard) | (Written::Always, _) => false,
        }
    }

    pub(super) fn table_column(&self, dialect: Dialect) -> table::Column {
        let null = if self.nullable { "" } else { " NOT NULL" };
        table::Column {
            name: self.name.to_owned(),
            definition: format!("{}{null}", self.kind.sql(dialect)),
            param: self.kind.param_type(dialect),
            form: self.kind.form(),
            nullable: self.nullable,
            is_loaded: true,
        }
    }
}

impl Kind {
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
            Self::Varchar(length) => format!("VARCHAR({length})"),
            Self::Name(length) => format!("VARCHAR({length})"),
            Self::Time if dialect == Dialect::Postgres => "TIMESTAMP(0)".to_owned(),
            Self::Time => "DATETIME".to_owned(),
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

    pub(crate) const fn form(self) -> Form {
        match self {
            Self::Small | Self::Int => Form::Integer,
            Self::Money(_) => Form::Units(OF_CENTS as u8),
            Self::Rate => Form::Units(OF_RATES as u8),
            Self::Char(_) => Form::Padded,
            Self::Varchar(_) | Self::Name(_) | Self::Time => Form::Exact,
        }
    }
}
