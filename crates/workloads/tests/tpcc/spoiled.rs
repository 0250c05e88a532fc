//! A connector whose sessions do not do what they are asked to, where a test wants it so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use drivers::{
    Connector, Done, Param, ParamType, Row, Session, SessionError, SessionInfo, StatementId,
};

/// What becomes of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mistake {
    /// It is not sent, and answered as if it had changed so many rows.
    Lost(u64),
    /// It is sent twice.
    Twice,
    /// It is sent without the lock that it asks for.
    Unlocked,
}

/// The connector: of the prepared statements with `part` in their text, it spoils each `every`th that is run.
pub(crate) struct Spoiled {
    inner: Arc<dyn Connector>,
    rule: Rule,
    count: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    part: &'static str,
    mistake: Mistake,
    every: u64,
}

impl Spoiled {
    pub(crate) fn new(
        inner: &Arc<dyn Connector>,
        part: &'static str,
        mistake: Mistake,
        every: u64,
    ) -> Self {
        Self {
            inner: Arc::clone(inner),
            rule: Rule { part, mistake, every },
            count: Arc::default(),
        }
    }

    /// How many statements had the part.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Connector for Spoiled {
    fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(Box::new(SpoiledSession {
            inner: self.inner.connect()?,
            rule: self.rule,
            count: Arc::clone(&self.count),
            is_meant: Vec::new(),
        }))
    }
}

struct SpoiledSession {
    inner: Box<dyn Session>,
    rule: Rule,
    count: Arc<AtomicU64>,
    /// By the numbers of the prepared statements.
    is_meant: Vec<bool>,
}

impl Session for SpoiledSession {
    fn query(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.inner.query(sql, each)
    }

    fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId, SessionError> {
        let is_meant = sql.contains(self.rule.part);
        let id = match self.rule.mistake {
            Mistake::Unlocked if is_meant => {
                self.inner.prepare(&sql.replace(" FOR UPDATE", ""), types)?
            }
            Mistake::Unlocked | Mistake::Lost(_) | Mistake::Twice => {
                self.inner.prepare(sql, types)?
            }
        };
        let place = id.0 as usize;
        if self.is_meant.len() <= place {
            self.is_meant.resize(place + 1, false);
        }
        self.is_meant[place] = is_meant;
        Ok(id)
    }

    fn execute_prepared(
        &mut self,
        statement: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        if !self.is_meant[statement.0 as usize] {
            return self.inner.execute_prepared(statement, params, each);
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        match self.rule.mistake {
            Mistake::Lost(affected) if number.is_multiple_of(self.rule.every) => {
                return Ok(Done { affected, ..Done::default() });
            }
            Mistake::Twice if number.is_multiple_of(self.rule.every) => {
                self.inner.execute_prepared(statement, params, &mut |_| ())?;
            }
            Mistake::Lost(_) | Mistake::Twice | Mistake::Unlocked => {}
        }
        self.inner.execute_prepared(statement, params, each)
    }

    fn info(&self) -> &SessionInfo {
        self.inner.info()
    }
}
