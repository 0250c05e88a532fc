//! Columns and the values in them.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A whole number, zero or more.
    Count,
    /// A real number.
    Number,
}

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: lower-case letters and `_`.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// May a row have no value there?
    pub optional: bool,
}

impl Column {
    pub(crate) const fn text(name: &'static str) -> Self {
        Self::needed(name, Kind::Text)
    }

    pub(crate) const fn count(name: &'static str) -> Self {
        Self::needed(name, Kind::Count)
    }

    pub(crate) const fn number(name: &'static str) -> Self {
        Self::needed(name, Kind::Number)
    }

    /// A real number that a row may lack.
    pub(crate) const fn maybe(name: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Number,
            optional: true,
        }
    }

    const fn needed(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            optional: false,
        }
    }
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// There is none.
    Absent,
    /// Words.
    Text(&'a str),
    /// A whole number.
    Count(u64),
    /// A real number; finite.
    Number(f64),
}

impl Value<'_> {
    /// A number where there is one; what is not finite is none.
    pub(crate) fn maybe(number: Option<f64>) -> Self {
        number
            .filter(|number| number.is_finite())
            .map_or(Self::Absent, Self::Number)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}
