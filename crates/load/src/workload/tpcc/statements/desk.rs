//! The statements of one session.

use std::sync::Arc;

use drivers::{Done, Param, ParamType, Row, Session, SessionError, StatementId};
use model::Dialect;

use super::{Book, Statement};
use crate::workload::session::Refused;
use crate::workload::sql::literal::{Literal, push_int, push_text};

/// Sends the statements of a book in one session.
#[derive(Debug)]
pub(in crate::workload::tpcc) struct Desk {
    book: Arc<Book>,
    dialect: Dialect,
    /// By the places of the book; none where a statement is sent as text.
    ids: Vec<Option<StatementId>>,
    /// Memory for a statement's text.
    sql: String,
}

impl Desk {
    /// Prepares in `session` what the book says.
    pub(in crate::workload::tpcc) fn prepare(
        book: &Arc<Book>,
        dialect: Dialect,
        session: &mut dyn Session,
    ) -> Result<Self, Refused> {
        let mut ids = vec![None; book.statements.len()];
        for (place, statement) in book.to_prepare() {
            match session.prepare(&statement.sql, &statement.types) {
                Ok(id) => ids[place] = Some(id),
                Err(source) => {
                    let statement = statement.name.clone();
                    return Err(Refused { statement, source });
                }
            }
        }
        Ok(Self {
            book: Arc::clone(book),
            dialect,
            ids,
            sql: String::new(),
        })
    }

    /// The SQL that the server speaks.
    pub(in crate::workload::tpcc) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Sends the statement at a place with these parameters and shows the rows that come back.
    #[inline]
    pub(in crate::workload::tpcc) fn send(
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
        let Some(statement) = self.book.get(place) else {
            return Err(SessionError::Protocol {
                what: format!("statement {place} is not among those of this step"),
            });
        };
        statement.write(self.dialect, params, &mut self.sql);
        session.query(&self.sql, each)
    }

    /// The name of the statement at a place, for messages.
    pub(in crate::workload::tpcc) fn name(&self, place: usize) -> &str {
        let statement = self.book.get(place);
        statement.map_or("?", |statement| statement.name.as_str())
    }
}

impl Statement {
    /// Writes the statement with its values in it.
    pub(super) fn write(&self, dialect: Dialect, params: &[Param<'_>], sql: &mut String) {
        sql.clear();
        let mut values = params.iter().zip(&self.types);
        for (number, piece) in self.pieces.iter().enumerate() {
            if number > 0
                && let Some((param, kind)) = values.next()
            {
                push(sql, dialect, *param, *kind);
            }
            sql.push_str(piece);
        }
    }
}

/// Appends a value.
fn push(sql: &mut String, dialect: Dialect, param: Param<'_>, kind: ParamType) {
    match (param, kind) {
        (Param::Int(number), _) => push_int(sql, number),
        (Param::Text(text), ParamType::Int | ParamType::Decimal) => {
            push_text(sql, dialect, Literal::Number, text);
        }
        (Param::Text(text), ParamType::Text | ParamType::DateTime) => {
            push_text(sql, dialect, Literal::Quoted, text);
        }
    }
}
