//! Sessions that count the statements they send.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};

/// Connects as `inner` does.
pub(crate) struct Counting {
    pub(crate) inner: Arc<dyn Connector>,
    /// Statements of all sessions.
    pub(crate) statements: Arc<AtomicU64>,
}

impl Connector for Counting {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(Counted {
            inner: self.inner.connect()?,
            statements: Arc::clone(&self.statements),
        }))
    }

    fn is_hopeless(&self) -> bool {
        self.inner.is_hopeless()
    }
}

struct Counted {
    inner: Box<dyn Session>,
    statements: Arc<AtomicU64>,
}

impl Counted {
    fn count(&self, statements: usize) {
        self.statements.fetch_add(statements as u64, Ordering::Relaxed);
    }
}

impl Session for Counted {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.count(1);
        self.inner.query(sql, each)
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        self.inner.prepare(sql, types)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        self.count(1);
        self.inner.execute_prepared(statement, params, each)
    }

    fn count_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
    ) -> Result<Done, SessionError> {
        self.count(1);
        self.inner.count_prepared(statement, params)
    }

    fn execute_pipelined(
        &mut self,
        batch: &[(StatementId, &[Param<'_>])],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result<(), SessionError> {
        self.count(batch.len());
        self.inner.execute_pipelined(batch, each, done)
    }

    fn info(&self) -> &SessionInfo {
        self.inner.info()
    }
}
