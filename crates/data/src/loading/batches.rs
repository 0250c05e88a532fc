//! Batches of rows: each is loaded in one transaction, and sent until it is in its table.
//!
//! A batch is in its table whole or not at all. So a client that lost its connection while one was under way
//! looks whether it is there, and sends it again where it is not; nothing that was loaded is loaded again.

#[cfg(test)]
mod tests;

use drivers::{Session, SessionError};
use model::{Dialect, Nanos};

use crate::statements;
use load::{ClientContext, Reaction, Recovery, Result, StepError, Worker};

/// Codes of servers that refuse local files: MySQL to 5.7, MySQL 8, MariaDB.
const NO_LOCAL_FILES: [&str; 3] = ["1148", "3948", "4166"];

/// The kind of the statements that add rows: the first of the step.
const KIND: usize = 0;

/// A transaction under way in a session.
pub(super) struct Sending<'a> {
    pub(super) session: &'a mut dyn Session,
    context: &'a ClientContext<'a>,
    sent: &'a mut Vec<Sent>,
    /// When its first statement was sent, where that is BEGIN.
    began: Option<Nanos>,
}

/// A statement that succeeded. It is recorded with the commit: what was rolled back is in no number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    started: Nanos,
    ended: Nanos,
    rows: u64,
}

/// What the statements of a transaction did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) rows: u64,
    pub(super) took: Nanos,
}

pub(super) struct Batches<S> {
    pub(super) worker: Worker,
    pub(super) sender: S,
    pub(super) sent: Vec<Sent>,
}

/// Sends the batches of a workload, and knows what is in them.
pub(super) trait SendBatch {
    /// Rows that are loaded in one transaction.
    type Batch;
    fn rows(&self, batch: &Self::Batch) -> u64;

    /// Its rows, for messages: `rows 1 to 100 of sbtest1`.
    fn named(&self, batch: &Self::Batch) -> String;

    /// The query that counts those of its rows that are in their table; an error where none can tell.
    fn count(&self, batch: &Self::Batch) -> Result<String>;

    fn send(&mut self, batch: &Self::Batch, to: &mut Sending<'_>) -> Result<(), SessionError>;

    /// The session is another one now: nothing is prepared in it.
    fn begin_anew(&mut self, session: &mut dyn Session);
}

impl Sending<'_> {
    /// Sends BEGIN before the first statement. Is the one that follows a transaction by itself, first and last?
    pub(super) fn begin(&mut self, dialect: Dialect, is_last: bool) -> Result<bool, SessionError> {
        if self.began.is_none() && !is_last {
            self.began = Some(self.context.recorder.begin());
            self.session.execute(statements::begin(dialect))?;
        }
        Ok(self.began.is_none())
    }

    /// Sends a statement that adds rows, as many as `add` returns.
    pub(super) fn add(
        &mut self,
        add: impl FnOnce(&mut dyn Session) -> Result<u64, SessionError>,
    ) -> Result<(), SessionError> {
        let started = self.context.recorder.begin();
        let rows = add(&mut *self.session)?;
        self.sent.push(Sent { started, ended: self.context.recorder.clock().now(), rows });
        Ok(())
    }

    /// Sends COMMIT where there was a BEGIN; they count into the times of the last and the first statement.
    pub(super) fn commit(&mut self) -> Result<(), SessionError> {
        let Some(began) = self.began else { return Ok(()) };
        self.session.execute("COMMIT")?;
        if let Some(first) = self.sent.first_mut() {
            first.started = began;
        }
        if let Some(last) = self.sent.last_mut() {
            last.ended = self.context.recorder.clock().now();
        }
        Ok(())
    }
}

impl<S: SendBatch> Batches<S> {
    /// Loads one batch and tells what that took; `None` when the step was over before it was there.
    pub(super) fn load(
        &mut self,
        recovery: &Recovery,
        batch: &S::Batch,
        context: &mut ClientContext<'_>,
    ) -> Result<Option<Loaded>> {
        // Was the connection lost, so that the batch may be there or not?
        let mut unsure = false;
        for tries in 1.. {
            let error = match self.attempt(batch, unsure, context) {
                Ok(()) => return Ok(Some(self.record(context))),
                Err(StepError::Session { source, .. }) => source,
                Err(error) => return Err(error),
            };
            self.sent.clear();
            let reaction = match recovery.rules.reaction(&error) {
                // A row is there already: the server still had to end what was sent before the
                // connection was lost, and has now. So it is looked for once more.
                Reaction::Ignore if unsure => Reaction::Retry,
                other => other,
            };
            let retried = matches!(reaction, Reaction::Retry | Reaction::Reconnect);
            context.recorder.failed(KIND, error.code(), retried);
            if retried && tries >= recovery.rules.tries() {
                return Err(StepError::TooManyRetries {
                    client: self.worker.name.clone(),
                    tries,
                    source: error,
                });
            }
            match reaction {
                // There may be no transaction to end; a lost connection shows in the next statement.
                Reaction::Retry => drop(self.worker.session.execute("ROLLBACK")),
                Reaction::Reconnect if self.reconnect(recovery, context)? => unsure = true,
                Reaction::Reconnect => break,
                // Rows that are left out are no load.
                Reaction::Ignore | Reaction::Fail => return Err(self.failure(error)),
            }
            if context.is_over() {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(None)
    }

    /// Tries to load a batch; where it is not sure whether it is there, looks first.
    fn attempt(&mut self, batch: &S::Batch, unsure: bool, context: &ClientContext<'_>) -> Result {
        let started = context.recorder.begin();
        let rows = self.sender.rows(batch);
        if unsure && self.is_there(batch, rows)? {
            // Its statements count as one.
            self.sent.push(Sent { started, ended: context.recorder.clock().now(), rows });
            return Ok(());
        }
        let Worker { name, session } = &mut self.worker;
        let mut to =
            Sending { session: &mut **session, context, sent: &mut self.sent, began: None };
        self.sender
            .send(batch, &mut to)
            .map_err(|source| StepError::Session { client: name.clone(), source })?;
        let added: u64 = self.sent.iter().map(|statement| statement.rows).sum();
        if added == rows {
            return Ok(());
        }
        Err(StepError::Load(format!(
            "{}: {added} were added where {rows} were sent",
            self.sender.named(batch)
        )))
    }

    /// The transaction was committed: its statements are operations.
    fn record(&mut self, context: &mut ClientContext<'_>) -> Loaded {
        let mut loaded = Loaded::default();
        for Sent { started, ended, rows } in self.sent.drain(..) {
            loaded.rows += rows;
            loaded.took += ended.saturating_sub(started);
            context.recorder.record(KIND, started, None, ended, rows);
        }
        loaded
    }

    /// Is a batch of `rows` rows in its table, whole? A part is an error: nothing says which rows are missing.
    fn is_there(&mut self, batch: &S::Batch, rows: u64) -> Result<bool> {
        let sql = self.sender.count(batch)?;
        let found = self.worker.number(&sql)?;
        if found == 0 || found == rows {
            return Ok(found > 0);
        }
        Err(StepError::Load(format!(
            "{}, one transaction: {found} of {rows} exist after the connection was lost; check that the \
             engine has transactions and that nothing else writes",
            self.sender.named(batch)
        )))
    }

    /// Opens the session again; false when the step was over before that.
    fn reconnect(&mut self, recovery: &Recovery, context: &ClientContext<'_>) -> Result<bool> {
        match recovery.session(context) {
            Ok(Some(session)) => {
                self.worker.session = session;
                self.sender.begin_anew(&mut *self.worker.session);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn failure(&self, source: SessionError) -> StepError {
        if NO_LOCAL_FILES.contains(&source.code()) {
            return StepError::Unsupported(format!(
                "the server accepts no local files: set local_infile = ON, or set the load method to \
                 `fastest` or `insert` ({source})"
            ));
        }
        StepError::Session { client: self.worker.name.clone(), source }
    }
}
