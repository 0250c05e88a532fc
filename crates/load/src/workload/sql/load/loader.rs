//! A client that loads: takes chunks until none are left, and goes on after errors that do not last.

use std::sync::Arc;

use drivers::SessionError;

use super::chunks::Chunk;
use super::sender::Sender;
use super::{Load, method};
use crate::errors::Reaction;
use crate::reconnect::reconnect;
use crate::workload::sql::schema;
use crate::workload::worker::{Worker, number};
use crate::{Client, ClientContext, StepError};

/// Codes of servers that refuse local files: MySQL to 5.7, MySQL 8, MariaDB.
const NO_LOCAL_FILES: [&str; 3] = ["1148", "3948", "4166"];

/// A client that loads.
pub(in crate::workload::sql) struct Loader {
    worker: Worker,
    load: Arc<Load>,
    sender: Sender,
    /// The kind of its operations.
    kind: usize,
}

/// Why rows were not loaded.
pub(in crate::workload) enum Trouble {
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

impl Loader {
    /// Client `number`, from 0, connected.
    pub(in crate::workload::sql) fn connect(
        load: &Arc<Load>,
        number: u32,
        kind: usize,
    ) -> Result<Self, StepError> {
        let worker = Worker::connect(&*load.connector, format!("load {}", number + 1))?;
        Ok(Self {
            sender: Sender::new(load, method(load.wanted, load.dialect, &*worker.session)?),
            worker,
            load: Arc::clone(load),
            kind,
        })
    }

    /// Its session, for work that comes after the load.
    pub(in crate::workload::sql) fn worker(&mut self) -> &mut Worker {
        &mut self.worker
    }

    /// Loads one chunk, unless the step is over before that.
    fn load_chunk(
        &mut self,
        chunk: Chunk,
        context: &mut ClientContext<'_>,
    ) -> Result<(), StepError> {
        // Was the connection lost, so that the chunk may be there or not?
        let mut unsure = false;
        for tries in 1.. {
            let error = match self.attempt(chunk, unsure, context) {
                Ok(()) => {
                    self.sender.record(self.kind, context);
                    return Ok(());
                }
                Err(Trouble::Rows(error)) => return Err(error),
                Err(Trouble::Session(error)) => error,
            };
            self.sender.give_up();
            let reaction = self.load.rules.reaction(&error);
            let retried = matches!(reaction, Reaction::Retry | Reaction::Reconnect);
            context.recorder.failed(self.kind, error.code(), retried);
            if retried && tries >= self.load.rules.tries() {
                return Err(StepError::TooManyRetries {
                    client: self.worker.name.clone(),
                    tries,
                    source: error,
                });
            }
            match reaction {
                Reaction::Retry => self.roll_back(),
                Reaction::Reconnect if self.reconnect(context)? => unsure = true,
                Reaction::Reconnect => break,
                // Rows that are left out are no load.
                Reaction::Ignore | Reaction::Fail => return Err(self.failure(error)),
            }
            if context.is_over() {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// Tries to load a chunk; where it is not sure whether it is there, looks first.
    fn attempt(
        &mut self,
        chunk: Chunk,
        unsure: bool,
        context: &ClientContext<'_>,
    ) -> Result<(), Trouble> {
        let started = context.recorder.begin();
        if unsure && self.is_there(chunk)? {
            self.sender.found(chunk, started, context);
            return Ok(());
        }
        let session = &mut *self.worker.session;
        let added = self.sender.send(session, chunk, context)?;
        if added == chunk.rows() {
            return Ok(());
        }
        let table = &self.load.copies[chunk.copy].name;
        let Chunk { first, last, .. } = chunk;
        Err(Trouble::Rows(StepError::Load(format!(
            "{table}: {added} rows were added where {first} to {last} were sent"
        ))))
    }

    /// Is the chunk in its table, whole? A part of it is an error: nothing says which rows are missing.
    fn is_there(&mut self, chunk: Chunk) -> Result<bool, Trouble> {
        let copy = &self.load.copies[chunk.copy];
        let Chunk { first, last, .. } = chunk;
        let name = &copy.name;
        let Some(column) = schema::number_column(&self.load.tables[copy.table]) else {
            return Err(Trouble::Rows(StepError::Load(format!(
                "the connection was lost while rows {first} to {last} of {name} were loaded, and no \
                 column has their numbers to tell whether they are there; load with one that has, or \
                 begin anew"
            ))));
        };
        let sql = format!("SELECT COUNT(*) FROM {name} WHERE {column} BETWEEN {first} AND {last}");
        let found = number(&mut *self.worker.session, &sql)?;
        if found == 0 || found == chunk.rows() {
            return Ok(found > 0);
        }
        Err(Trouble::Rows(StepError::Load(format!(
            "rows {first} to {last} of {name}, one transaction: {found} of {} are there after the \
             connection was lost; does the engine have transactions, and does nobody else write?",
            chunk.rows()
        ))))
    }

    /// After an error that may be gone: ends what the server has not ended itself.
    fn roll_back(&mut self) {
        // There may be no transaction, which is an error of its own; a lost connection is told by the
        // next statement.
        let _ = self.worker.session.execute("ROLLBACK");
    }

    /// Opens the session again; false when the step was over before that.
    fn reconnect(&mut self, context: &ClientContext<'_>) -> Result<bool, StepError> {
        let load = &*self.load;
        match reconnect(&*load.connector, load.patience, context) {
            Ok(Some(session)) => {
                self.worker.session = session;
                self.sender.begin_anew();
                load.local_files.allow_again(&mut *self.worker.session);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err(self.failure(error)),
        }
    }

    fn failure(&self, source: SessionError) -> StepError {
        failure(&self.worker.name, source)
    }
}

/// An error that ends the load.
pub(in crate::workload) fn failure(client: &str, source: SessionError) -> StepError {
    if NO_LOCAL_FILES.contains(&source.code()) {
        return StepError::Unsupported(format!(
            "the server takes no local files: set local_infile = ON, or let the load's method be \
             `fastest` or `insert` ({source})"
        ));
    }
    StepError::Session {
        client: client.to_owned(),
        source,
    }
}

impl Client for Loader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let load = Arc::clone(&self.load);
        let mut at = None;
        while !context.is_over()
            && let Some(chunk) = load.chunks.take(&mut at)
        {
            self.load_chunk(chunk, context)?;
        }
        load.local_files
            .done(&mut *self.worker.session, &load.notes);
        Ok(())
    }
}
