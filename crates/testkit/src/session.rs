//! A session with the fake.

use std::fmt::Write;

use drivers::{Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId};

use crate::dbms::FakeDbms;
use crate::tables::Shown;

/// Prepared statements are kept as text; running one writes its parameters into it.
#[derive(Debug)]
pub(crate) struct FakeSession {
    dbms: FakeDbms,
    prepared: Vec<String>,
    info: SessionInfo,
}

impl FakeSession {
    pub(crate) fn new(dbms: FakeDbms) -> Self {
        Self {
            dbms,
            prepared: Vec::new(),
            info: SessionInfo {
                server_version: "fake 1.0".to_owned(),
                authentication: "none".to_owned(),
                ..SessionInfo::default()
            },
        }
    }
}

impl Session for FakeSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        let answer = self.dbms.execute(sql)?;
        for row in &answer.rows {
            each(&Shown(row));
        }
        Ok(Done {
            rows: answer.rows.len() as u64,
            affected: answer.affected,
            columns: answer.rows.first().map_or(0, |row| row.len() as u32),
        })
    }

    fn prepare(&mut self, sql: &str, _types: &[ParamType]) -> Result<StatementId, SessionError> {
        self.prepared.push(sql.to_owned());
        Ok(StatementId(self.prepared.len() as u32 - 1))
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let sql = self.prepared.get(statement.0 as usize);
        let sql = sql.and_then(|sql| filled_in(sql, params));
        let sql = sql.ok_or_else(|| SessionError::Protocol {
            what: format!("statement {} does not take {} parameters", statement.0, params.len()),
        })?;
        self.query(&sql, each)
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

/// The statement with a literal for each `?`; `None` when they are not as many as the parameters.
fn filled_in(sql: &str, params: &[Param<'_>]) -> Option<String> {
    let mut pieces = sql.split('?');
    let mut text = pieces.next()?.to_owned();
    for param in params {
        let _infallible = match param {
            Param::Int(number) => write!(text, "{number}"),
            Param::Text(value) => write!(text, "'{value}'"),
            Param::Bytes(value) => write!(text, "'{}'", String::from_utf8_lossy(value)),
        };
        text.push_str(pieces.next()?);
    }
    pieces.next().is_none().then_some(text)
}
