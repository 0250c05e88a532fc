//! The statements of the transactions: their texts, and a session's prepared ones.
//!
//! Every statement has a place in the [`StepStatements`] of a step. A session prepares what the statements has, or sends it
//! as text with the values in it.

mod ask;
mod lists;
mod prepared;
mod statement;
#[cfg(test)]
mod tests;
mod writer;

use model::{Dialect, Isolation, Statements, TpccForm, TpccSpec};

use self::ask::ASKS;
pub(super) use self::ask::Ask;
pub(super) use self::lists::List;
pub(super) use self::prepared::PreparedStatements;
use self::statement::Statement;
use self::writer::Writer;

/// The statements of a step.
#[derive(Debug)]
pub(super) struct StepStatements {
    /// By their places; none where the step does not need it.
    by_place: Vec<Option<Statement>>,
    is_prepared: bool,
}

impl StepStatements {
    /// All statements that the transactions of a step send, except for those in stored procedures.
    pub(super) fn new(spec: &TpccSpec, dialect: Dialect) -> Self {
        let mut statements = Self {
            by_place: Vec::new(),
            is_prepared: match spec.statements {
                Statements::Text => false,
                Statements::Prepared | Statements::Usual => true,
            },
        };
        statements.by_place.resize_with(ASKS + lists::PLACES, || None);
        if spec.form != TpccForm::Procedures {
            Writer { statements: &mut statements.by_place, dialect, spec }.put_all();
        }
        statements
    }
    pub(super) fn get(&self, place: usize) -> Option<&Statement> {
        self.by_place.get(place)?.as_ref()
    }

    /// Statements that a session prepares, at their places.
    fn to_prepare(&self) -> impl Iterator<Item = (usize, &Statement)> {
        let is_prepared = self.is_prepared;
        let all = self.by_place.iter().enumerate();
        let present = all.filter_map(|(place, statement)| Some((place, statement.as_ref()?)));
        present.filter(move |(_, statement)| is_prepared && statement.can_be_prepared)
    }
    pub(super) fn prepared(&self) -> usize {
        self.to_prepare().count()
    }
}

/// The statement that gives the transactions of a session their isolation.
pub(super) fn isolate(isolation: Isolation, dialect: Dialect) -> Option<String> {
    let level = isolation.sql();
    match dialect {
        Dialect::Mysql => Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")),
        Dialect::Postgres => {
            Some(format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"))
        }
        // It knows no other than the strictest.
        Dialect::Sqlite => None,
    }
}
