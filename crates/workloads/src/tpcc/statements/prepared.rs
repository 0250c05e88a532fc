//! The statements of one session.

use std::sync::Arc;

use drivers::{Done, Param, Row, Session, SessionError, StatementId};
use model::Dialect;

use super::StepStatements;
use load::outages::Refused;

/// Sends the statements of a statements in one session.
#[derive(Debug)]
pub(crate) struct PreparedStatements {
    statements: Arc<StepStatements>,
    dialect: Dialect,
    /// By the places of the statements; none where a statement is sent as text.
    ids: Vec<Option<StatementId>>,
    sql: String,
}

impl PreparedStatements {
    /// Prepares in `session` what the statements says.
    pub(crate) fn prepare(
        statements: &Arc<StepStatements>,
        dialect: Dialect,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        let mut ids = vec![None; statements.by_place.len()];
        for (place, statement) in statements.to_prepare() {
            match session.prepare(&statement.sql, &statement.types) {
                Ok(id) => ids[place] = Some(id),
                Err(source) => {
                    let statement = statement.name.clone();
                    return Err(Refused { statement, source });
                }
            }
        }
        Ok(Self { statements: Arc::clone(statements), dialect, ids, sql: String::new() })
    }

    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Sends the statement at a place with these parameters and shows the rows that come back.
    #[inline]
    pub(crate) fn send(
        &mut self,
        session: &mut dyn Session,
        place: usize,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        match self.ids.get(place) {
            Some(Some(id)) => session.execute_prepared(*id, params, each),
            Some(None) | None => self.send_text(session, place, params, each),
        }
    }

    fn send_text(
        &mut self,
        session: &mut dyn Session,
        place: usize,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let Some(statement) = self.statements.get(place) else {
            return Err(SessionError::Protocol {
                what: format!("statement {place} is not among those of this step"),
            });
        };
        statement.write(self.dialect, params, &mut self.sql);
        session.query(&self.sql, each)
    }

    pub(crate) fn name(&self, place: usize) -> &str {
        let statement = self.statements.get(place);
        statement.map_or("?", |statement| statement.name.as_str())
    }
}
