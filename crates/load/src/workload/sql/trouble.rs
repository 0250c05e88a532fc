//! What a client does when an operation ends in an error: gives it up, repeats it, connects again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use drivers::SessionError;
use model::Nanos;

use super::client::{Common, Ended, Own, Progress};
use super::compile::Operation;
use crate::errors::Reaction;
use crate::reconnect::reconnect;
use crate::{ClientContext, StepError};

/// The pause before another attempt where the server lets a client in and cuts it off again.
const PAUSE: Nanos = Nanos::from_millis(100);

/// Connections that were lost and opened again.
#[derive(Debug, Default)]
pub(super) struct Outages(Mutex<Outage>);

#[derive(Clone, Copy, Debug, Default)]
struct Outage {
    lost: u64,
    longest: Nanos,
}

impl Outages {
    /// One was, and another one is there after so long.
    fn add(&self, gap: Nanos) {
        let mut outage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outage.lost += 1;
        outage.longest = outage.longest.max(gap);
    }

    /// What happened, in words; `None` where nothing did.
    pub(super) fn told(&self) -> Option<String> {
        let outage = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Outage { lost, longest } = outage;
        (lost > 0).then(|| format!("{lost}; the longest was away for {longest}"))
    }
}

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
            return Err(StepError::TooManyRetries {
                client: self.at(common, operation, progress.next),
                tries: progress.tries,
                source: error,
            });
        }
        match reaction {
            Reaction::Fail => Err(self.failure(common, operation, progress.next, error)),
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
        let clock = context.recorder.clock();
        let lost_at = clock.now();
        loop {
            let gone = Duration::from(clock.now().saturating_sub(lost_at));
            let left = common.reconnect_for.saturating_sub(gone);
            let session = reconnect(&*common.connector, left, context).map_err(|source| {
                let client = format!("{}, connecting again", self.name);
                StepError::Session { client, source }
            })?;
            let Some(mut session) = session else {
                common.outages.add(clock.now().saturating_sub(lost_at));
                return Ok(false);
            };
            match common.prepare(self.number, &mut *session) {
                Ok(ids) => {
                    (self.session, self.ids) = (session, ids);
                    common.outages.add(clock.now().saturating_sub(lost_at));
                    return Ok(true);
                }
                // It went away once more.
                Err(refused)
                    if common.rules.reaction(&refused.source) == Reaction::Reconnect
                        && !left.is_zero() =>
                {
                    context.wait_until(clock.now() + PAUSE);
                }
                Err(refused) => return Err(refused.of(&self.name)),
            }
        }
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
