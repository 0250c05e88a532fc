//! Columns and the values in them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    /// A whole number, zero or more.
    Count,
    Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: lower-case letters and `_`.
    pub name: &'static str,
    pub kind: ColumnType,
    /// May a row have no value there?
    pub optional: bool,
}

impl Column {
    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Text, optional: false }
    }

    pub(crate) const fn count(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Count, optional: false }
    }

    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Number, optional: false }
    }

    /// A real number that a row may lack.
    pub(crate) const fn maybe(name: &'static str) -> Self {
        Self { name, kind: ColumnType::Number, optional: true }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Absent,
    Text(&'a str),
    Count(u64),
    /// A real number; finite.
    Number(f64),
}

impl Value<'_> {
    /// A number; `None` for missing and non-finite ones.
    pub(crate) fn maybe(number: Option<f64>) -> Self {
        number.filter(|number| number.is_finite()).map_or(Self::Absent, Self::Number)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}
