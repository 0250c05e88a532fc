//! What a client does when an operation ends in an error: gives it up, repeats it, connects again.

use drivers::SessionError;

use super::client::{Common, Ended, Own, Progress};
use super::compile::Operation;
use crate::errors::Reaction;
use crate::workload::session::{Replacing, let_go};
use crate::{ClientContext, StepError};

/// What follows on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The operation is tried again.
    Again,
    /// It has ended so.
    End(Ended),
}

impl Own {
    /// Does what an error asks for.
    #[cold]
    pub(super) fn react(
        &mut self,
        common: &Common,
        operation: &Operation,
        context: &mut ClientContext<'_>,
        progress: &mut Progress,
        error: SessionError,
    ) -> Result<Next, StepError> {
        self.changes.clear();
        let reaction = common.rules.reaction(&error);
        let is_retried = reaction == Reaction::Retry;
        context
            .recorder
            .failed(operation.kind, error.code(), is_retried);
        if is_retried && progress.tries >= common.rules.tries() {
            self.let_go(operation);
            return Err(StepError::TooManyRetries {
                client: self.at(common, operation, progress.next),
                tries: progress.tries,
                source: error,
            });
        }
        match reaction {
            Reaction::Fail => {
                self.let_go(operation);
                Err(self.failure(common, operation, progress.next, error))
            }
            Reaction::Reconnect => {
                // Nobody knows whether the server still did what it was sent last.
                if operation.writes {
                    common.ledger.forget();
                }
                let goes_on = self.reconnect(common, context)?;
                Ok(Next::End(if goes_on { Ended::Failed } else { Ended::Over }))
            }
            Reaction::Ignore | Reaction::Retry => {
                let goes_on = self.roll_back(common, operation, context, progress)?;
                Ok(if is_retried && goes_on && !context.is_over() {
                    self.begin_again(operation, context, progress);
                    Next::Again
                } else if is_retried {
                    context.recorder.cut_off(operation.kind);
                    Next::End(Ended::Over)
                } else {
                    Next::End(if goes_on { Ended::Failed } else { Ended::Over })
                })
            }
        }
    }

    /// Ends the transaction in which an error came. False when the session was lost over it and the step
    /// was over before there was another one.
    fn roll_back(
        &mut self,
        common: &Common,
        operation: &Operation,
        context: &mut ClientContext<'_>,
        progress: &Progress,
    ) -> Result<bool, StepError> {
        if !operation.transaction {
            return Ok(true);
        }
        match self.session.execute("ROLLBACK") {
            // The server may have ended the transaction by itself, and says so with an error.
            Ok(_) | Err(SessionError::Server { .. }) => Ok(true),
            // With its session the transaction is gone too.
            Err(error) if common.rules.reaction(&error) == Reaction::Reconnect => {
                self.reconnect(common, context)
            }
            Err(error) => Err(self.failure(common, operation, progress.next, error)),
        }
    }

    /// Ends the transaction in which this client fails, where it is one.
    fn let_go(&mut self, operation: &Operation) {
        if operation.transaction {
            let_go(&mut *self.session);
        }
    }

    /// Repeats a transaction from its beginning; where each statement is a transaction of its own, those
    /// that succeeded stay.
    fn begin_again(
        &self,
        operation: &Operation,
        context: &ClientContext<'_>,
        progress: &mut Progress,
    ) {
        if operation.transaction || self.ids.is_pipelined(operation.index) {
            progress.next = 0;
            progress.rows = 0;
        }
        progress.last = context.recorder.clock().now();
        progress.tries += 1;
    }

    /// Opens another session in place of one that was lost. False when the step was over before.
    fn reconnect(
        &mut self,
        common: &Common,
        context: &ClientContext<'_>,
    ) -> Result<bool, StepError> {
        let replacing = Replacing {
            connector: &*common.connector,
            rules: &common.rules,
            outages: &common.outages,
            limit: common.reconnect_for,
            client: &self.name,
        };
        let number = self.number;
        let replaced = replacing.session(context, |session| common.prepare(number, session))?;
        let Some((session, ids)) = replaced else {
            return Ok(false);
        };
        (self.session, self.ids) = (session, ids);
        Ok(true)
    }

    #[cold]
    fn failure(
        &self,
        common: &Common,
        operation: &Operation,
        sending: usize,
        source: SessionError,
    ) -> StepError {
        StepError::Session {
            client: self.at(common, operation, sending),
            source,
        }
    }

    /// This client at a statement of an operation, for messages.
    fn at(&self, common: &Common, operation: &Operation, sending: usize) -> String {
        let sending = operation.sends.get(sending);
        let statement = sending.map(|s| &common.program.statements[s.statement]);
        match statement {
            Some(statement)
                if operation.sends.len() > 1 && !self.ids.is_pipelined(operation.index) =>
            {
                format!(
                    "{}, at `{}` of `{}`",
                    self.name, statement.name, operation.name
                )
            }
            Some(_) | None => format!("{}, at `{}`", self.name, operation.name),
        }
    }
}
