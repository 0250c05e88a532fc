//! Batches of rows: each is loaded in one transaction, and sent until it is in its table.
//!
//! A batch is in its table whole or not at all. So a client that lost its connection while one was under way
//! looks whether it is there, and sends it again where it is not; nothing that was loaded is loaded again.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::{Dialect, ErrorRules};

use super::sent::{Loaded, Sent};
use load::errors::{Reaction, Rules};
use load::outages::reconnect;
use load::worker::{Worker, number};
use load::{ClientContext, StepError};

/// Codes of servers that refuse local files: MySQL to 5.7, MySQL 8, MariaDB.
const NO_LOCAL_FILES: [&str; 3] = ["1148", "3948", "4166"];

/// How the clients of a load connect, and what they do about errors.
pub(super) struct Recovery {
    connector: Arc<dyn Connector>,
    rules: Rules,
    /// How long a client that lost its connection tries to connect again.
    patience: Duration,
}

/// Sends the batches of a workload, and knows what is in them.
pub(super) trait SendBatch {
    /// Rows that are loaded in one transaction.
    type Batch;
    fn rows(&self, batch: &Self::Batch) -> u64;

    /// Its rows, for messages: `rows 1 to 100 of sbtest1`.
    fn named(&self, batch: &Self::Batch) -> String;

    /// The query that counts those of its rows that are in their table; an error where nothing can tell
    /// them from others.
    fn count(&self, batch: &Self::Batch) -> Result<String, StepError>;

    /// Sends it and commits it, and adds each statement to `sent`; how many rows were added, as the server
    /// counts.
    fn send(
        &mut self,
        session: &mut dyn Session,
        batch: &Self::Batch,
        sent: &mut Sent,
        context: &ClientContext<'_>,
    ) -> Result<u64, SessionError>;

    /// The session is another one now: nothing is prepared in it.
    fn begin_anew(&mut self, session: &mut dyn Session);
}
pub(super) struct Batches<S> {
    worker: Worker,
    sender: S,
    kind: usize,
    sent: Sent,
}
enum Trouble {
    /// What the session said.
    Session(SessionError),
    /// What was found in the table.
    Rows(StepError),
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

impl Recovery {
    /// By sessions of `connector`, with the plan's rules.
    pub(super) fn new(
        errors: &ErrorRules,
        dialect: Dialect,
        connector: &Arc<dyn Connector>,
    ) -> Self {
        Self {
            connector: Arc::clone(connector),
            rules: Rules::new(errors, dialect),
            patience: Duration::from_secs(u64::from(errors.reconnect_seconds)),
        }
    }
}

impl<S: SendBatch> Batches<S> {
    /// Those of the client with this name, which connects; `sender` is made for its session. Its statements
    /// are operations of `kind`.
    pub(super) fn connect(
        recovery: &Recovery,
        name: String,
        kind: usize,
        sender: impl FnOnce(&dyn Session) -> Result<S, StepError>,
    ) -> Result<Self, StepError> {
        let worker = Worker::connect(&*recovery.connector, name)?;
        Ok(Self { sender: sender(&*worker.session)?, worker, kind, sent: Sent::default() })
    }

    /// The client's session, for work that comes after the load.
    pub(super) fn worker(&mut self) -> &mut Worker {
        &mut self.worker
    }

    /// Loads one batch and tells what that took; `None` when the step was over before it was there.
    pub(super) fn load(
        &mut self,
        recovery: &Recovery,
        batch: &S::Batch,
        context: &mut ClientContext<'_>,
    ) -> Result<Option<Loaded>, StepError> {
        // Was the connection lost, so that the batch may be there or not?
        let mut unsure = false;
        for tries in 1.. {
            let error = match self.attempt(batch, unsure, context) {
                Ok(()) => return Ok(Some(self.sent.record(self.kind, context))),
                Err(Trouble::Rows(error)) => return Err(error),
                Err(Trouble::Session(error)) => error,
            };
            self.sent.forget();
            let reaction = match recovery.rules.reaction(&error) {
                // A row is there already: the server still had to end what was sent before the
                // connection was lost, and has now. So it is looked for once more.
                Reaction::Ignore if unsure => Reaction::Retry,
                other => other,
            };
            let retried = matches!(reaction, Reaction::Retry | Reaction::Reconnect);
            context.recorder.failed(self.kind, error.code(), retried);
            if retried && tries >= recovery.rules.tries() {
                return Err(StepError::TooManyRetries {
                    client: self.worker.name.clone(),
                    tries,
                    source: error,
                });
            }
            match reaction {
                Reaction::Retry => self.roll_back(),
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
    fn attempt(
        &mut self,
        batch: &S::Batch,
        unsure: bool,
        context: &ClientContext<'_>,
    ) -> Result<(), Trouble> {
        let started = context.recorder.begin();
        let rows = self.sender.rows(batch);
        if unsure && self.is_there(batch, rows)? {
            // Its statements count as one.
            self.sent.add(started, context, rows);
            return Ok(());
        }
        let session = &mut *self.worker.session;
        let added = self.sender.send(session, batch, &mut self.sent, context)?;
        if added == rows {
            return Ok(());
        }
        Err(Trouble::Rows(StepError::Load(format!(
            "{}: {added} were added where {rows} were sent",
            self.sender.named(batch)
        ))))
    }

    /// Is a batch of `rows` rows in its table, whole? A part of it is an error: nothing says which rows are
    /// missing.
    fn is_there(&mut self, batch: &S::Batch, rows: u64) -> Result<bool, Trouble> {
        let sql = self.sender.count(batch).map_err(Trouble::Rows)?;
        let found = number(&mut *self.worker.session, &sql)?;
        if found == 0 || found == rows {
            return Ok(found > 0);
        }
        Err(Trouble::Rows(StepError::Load(format!(
            "{}, one transaction: {found} of {rows} are there after the connection was lost; does the \
             engine have transactions, and does no one else write?",
            self.sender.named(batch)
        ))))
    }

    /// After an error that may be gone: ends what the server has not ended itself.
    fn roll_back(&mut self) {
        // There may be no transaction, which is an error of its own; a lost connection shows in the
        // next statement.
        let _ = self.worker.session.execute("ROLLBACK");
    }

    /// Opens the session again; false when the step was over before that.
    fn reconnect(
        &mut self,
        recovery: &Recovery,
        context: &ClientContext<'_>,
    ) -> Result<bool, StepError> {
        match reconnect(&*recovery.connector, recovery.patience, context) {
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
                "the server takes no local files: set local_infile = ON, or let the load's method be \
                 `fastest` or `insert` ({source})"
            ));
        }
        StepError::Session { client: self.worker.name.clone(), source }
    }
}
