//! A client that loads: takes units until none are left, and goes on after errors that do not last.

use std::sync::Arc;

use super::Load;
use super::sender::Sender;
use crate::errors::Reaction;
use crate::reconnect::reconnect;
use crate::workload::sql::load::loader::{Trouble, failure};
use crate::workload::sql::load::method;
use crate::workload::tpcc::population::Unit;
use crate::workload::worker::{Worker, number};
use crate::{Client, ClientContext, StepError};

/// A client that loads.
pub(super) struct Loader {
    worker: Worker,
    load: Arc<Load>,
    sender: Sender,
}

impl Loader {
    /// A client with this name, connected.
    pub(super) fn connect(load: &Arc<Load>, name: String) -> Result<Self, StepError> {
        let worker = Worker::connect(&*load.connector, name)?;
        let method = method(load.wanted, load.dialect, &*worker.session)?;
        Ok(Self {
            sender: Sender::new(load, method),
            worker,
            load: Arc::clone(load),
        })
    }

    /// Loads one unit, unless the step is over before that.
    fn load_unit(&mut self, unit: &Unit, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        // Was the connection lost, so that the unit may be there or not?
        let mut unsure = false;
        for tries in 1.. {
            let error = match self.attempt(unit, unsure, context) {
                Ok(()) => {
                    self.sender.record(unit, context);
                    return Ok(());
                }
                Err(Trouble::Rows(error)) => return Err(error),
                Err(Trouble::Session(error)) => error,
            };
            self.sender.give_up();
            let reaction = match self.load.rules.reaction(&error) {
                // A row is there already: the server still had to end what was sent before the
                // connection was lost, and has now.
                Reaction::Ignore if unsure => Reaction::Retry,
                other => other,
            };
            let retried = matches!(reaction, Reaction::Retry | Reaction::Reconnect);
            context.recorder.failed(0, error.code(), retried);
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
                Reaction::Ignore | Reaction::Fail => {
                    return Err(failure(&self.worker.name, error));
                }
            }
            if context.is_over() {
                break;
            }
        }
        context.recorder.abandoned();
        Ok(())
    }

    /// Tries to load a unit; where it is not sure whether it is there, looks first.
    fn attempt(
        &mut self,
        unit: &Unit,
        unsure: bool,
        context: &ClientContext<'_>,
    ) -> Result<(), Trouble> {
        let started = context.recorder.begin();
        let rows = self.load.population.count(unit);
        if unsure && self.is_there(unit, rows)? {
            self.sender.found(rows, started, context);
            return Ok(());
        }
        let added = self.sender.send(&mut *self.worker.session, unit, context)?;
        if added == rows {
            return Ok(());
        }
        Err(Trouble::Rows(StepError::Load(format!(
            "{unit}: {added} rows were added where {rows} were sent"
        ))))
    }

    /// Is the unit in its table, whole? A part of it is an error: nothing says which rows are missing.
    fn is_there(&mut self, unit: &Unit, rows: u64) -> Result<bool, Trouble> {
        let sql = format!(
            "SELECT COUNT(*) FROM {} WHERE {}",
            unit.table.name(),
            unit.condition()
        );
        let found = number(&mut *self.worker.session, &sql)?;
        if found == 0 || found == rows {
            return Ok(found > 0);
        }
        Err(Trouble::Rows(StepError::Load(format!(
            "{unit}, one transaction: {found} of {rows} rows are there after the connection was lost; \
             does the engine have transactions, and does nobody else write?"
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
            Err(error) => Err(failure(&self.worker.name, error)),
        }
    }
}

impl Client for Loader {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result<(), StepError> {
        let load = Arc::clone(&self.load);
        let mut at = None;
        while !context.is_over()
            && let Some((table, number)) = load.shares.take(&mut at)
        {
            self.load_unit(&load.cuts.unit(table, number), context)?;
        }
        load.local_files
            .done(&mut *self.worker.session, &load.notes);
        load.done();
        Ok(())
    }
}
