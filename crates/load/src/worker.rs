//! A session with a name: runs operations, repeats what may be repeated, records everything.

use drivers::{Connector, Done, ParamType, Row, Session, SessionError, StatementId};
use model::Nanos;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{ClientContext, Result, StepError};

/// Tries of one operation before the step fails: a deadlock storm ends, a broken server does not.
const MAX_TRIES: u32 = 1000;

pub struct Worker {
    pub name: String,
    pub session: Box<dyn Session>,
}

impl Worker {
    pub fn connect(connector: &dyn Connector, name: String) -> Result<Self> {
        match connector.connect() {
            Ok(session) => Ok(Self { name, session }),
            Err(source) => Err(StepError::Session { client: name, source }),
        }
    }

    /// Runs one operation of `kind` and records it with the rows that `act` tells; `None` when the step was over before
    /// it succeeded. Repeated tries begin anew, and count into its latency.
    pub fn operate(
        &mut self,
        context: &mut ClientContext<'_>,
        kind: usize,
        intended: Option<Nanos>,
        mut act: impl FnMut(&mut dyn Session) -> Result<u64, SessionError>,
    ) -> Result<Option<u64>> {
        let started = context.recorder.begin();
        for tries in 1.. {
            let source = match act(&mut *self.session) {
                Ok(rows) => {
                    context.recorder.done(kind, started, intended, rows);
                    return Ok(Some(rows));
                }
                Err(source) => source,
            };
            let retry = source.is_retryable();
            context.recorder.failed(kind, source.code(), retry);
            let client = self.name.clone();
            if !retry {
                return Err(StepError::Session { client, source });
            }
            if tries == MAX_TRIES {
                return Err(StepError::TooManyRetries { client, tries, source });
            }
            if context.is_over() {
                break;
            }
        }
        context.recorder.cut_off(kind);
        Ok(None)
    }

    /// Runs a statement that is no operation; repeats it while it may succeed and the step is not over.
    pub fn repeat(&mut self, context: &ClientContext<'_>, sql: &str) -> Result {
        for tries in 1.. {
            let Err(source) = self.session.execute(sql) else {
                break;
            };
            if !source.is_retryable() || tries == MAX_TRIES {
                let client = self.name.clone();
                return Err(StepError::Session { client, source });
            }
            if context.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Builds the indexes of a table, an operation of `kind` for each statement. Its rows count once, with the last.
    pub fn build_indexes(
        &mut self,
        context: &mut ClientContext<'_>,
        kind: usize,
        statements: &[String],
        rows: u64,
    ) -> Result {
        let last = statements.len().saturating_sub(1);
        for (n, sql) in statements.iter().enumerate() {
            if context.is_over() {
                break;
            }
            let rows = if n == last { rows } else { 0 };
            self.operate(context, kind, None, |session| {
                session.execute(sql)?;
                Ok(rows)
            })?;
        }
        Ok(())
    }

    /// The single integer that a statement returns; zero for NULL and for no row.
    pub fn number(&mut self, sql: &str) -> Result<u64> {
        let found = number(&mut *self.session, sql);
        self.named(found)
    }

    /// Shows each row that a query returns which is not part of the measured work.
    pub fn rows(&mut self, sql: &str, each: &mut dyn FnMut(&dyn Row)) -> Result {
        let shown = self.session.query(sql, each);
        self.named(shown).map(drop)
    }

    pub fn run(&mut self, sql: &str) -> Result<Done> {
        let done = self.session.execute(sql);
        self.named(done)
    }

    pub fn prepare(&mut self, sql: &str, types: &[ParamType]) -> Result<StatementId> {
        let prepared = self.session.prepare(sql, types);
        self.named(prepared)
    }

    fn named<T>(&self, ended: Result<T, SessionError>) -> Result<T> {
        ended.map_err(|source| StepError::Session { client: self.name.clone(), source })
    }
}

/// The single integer that a statement returns; zero for NULL and for no row.
pub fn number(session: &mut dyn Session, sql: &str) -> Result<u64, SessionError> {
    let mut number = 0;
    session.query(sql, &mut |row| {
        number = row.value(0).as_int().and_then(|i| u64::try_from(i).ok()).unwrap_or(0);
    })?;
    Ok(number)
}

/// Counts answers that were not what they had to be.
#[derive(Debug, Default)]
pub struct Wrong(AtomicU64);

impl Wrong {
    pub fn unless(&self, holds: bool) {
        if !holds {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
