//! What a procedure answers.

use drivers::{Row, SessionError, Value};

/// Is it an error that a procedure raised by itself? MySQL numbers those of `SIGNAL` so, PostgreSQL those of
/// `RAISE`.
pub(super) fn is_own(error: &SessionError) -> bool {
    matches!(error.code(), "1644" | "P0001")
}

/// Integers of a row that are kept: as many as a procedure returns at its beginning.
const KEPT: usize = 3;
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Columns that may be NULL.
    nullable: &'static [usize],
    pub(super) rows: u64,
    /// The first columns of the last row, where they are integers.
    kept: [Option<i64>; KEPT],
    pub(super) wrong: Option<String>,
}

impl Answer {
    pub(super) fn with_nullable(nullable: &'static [usize]) -> Self {
        Self { nullable, ..Self::default() }
    }

    pub(super) fn read(&mut self, row: &dyn Row) {
        self.rows += 1;
        for column in 0..row.len() {
            let value = row.value(column);
            if let Some(kept) = self.kept.get_mut(column) {
                *kept = value.as_int();
            }
            if value == Value::Null && !self.nullable.contains(&column) {
                self.wrong_unless(false, || {
                    format!("column {} of a procedure is NULL", column + 1)
                });
            }
        }
    }

    pub(super) fn numbers<const N: usize>(&mut self, columns: [usize; N]) -> [i64; N] {
        columns.map(|column| {
            let number = self.kept.get(column).copied().flatten();
            self.wrong_unless(number.is_some_and(|number| number >= 0), || {
                format!("column {} of a procedure is no number", column + 1)
            });
            number.unwrap_or(0)
        })
    }

    pub(super) fn wrong_unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds && self.wrong.is_none() {
            self.wrong = Some(what());
        }
    }
}
