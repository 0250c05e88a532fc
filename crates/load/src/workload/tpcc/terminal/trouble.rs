//! What a terminal does when a transaction ends in an error: gives it up, repeats it, connects again.

use drivers::SessionError;
use model::TpccTransaction;

use super::{Common, Ended, Own, kind};
use crate::errors::Reaction;
use crate::workload::session::{Replacing, let_go};
use crate::workload::tpcc::input::Input;
use crate::{ClientContext, StepError};

/// What follows on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The transaction is tried again.
    Again,
    /// It has ended so.
    End(Ended),
}

impl Own {
    /// Does what an error asks for, that of try number `tries`.
    #[cold]
    pub(super) fn react(
        &mut self,
        common: &Common,
        context: &mut ClientContext<'_>,
        input: &Input,
        tries: u32,
        error: SessionError,
    ) -> Result<Next, StepError> {
        let reaction = common.rules.reaction(&error);
        let is_retried = reaction == Reaction::Retry;
        let place = kind(input.transaction());
        context.recorder.failed(place, error.code(), is_retried);
        if is_retried && tries >= common.rules.tries() {
            let_go(&mut *self.session);
            return Err(StepError::TooManyRetries {
                client: self.at(input),
                tries,
                source: error,
            });
        }
        match reaction {
            Reaction::Fail => {
                let_go(&mut *self.session);
                Err(self.failure(input, error))
            }
            Reaction::Reconnect => {
                self.note_unknown(input);
                let goes_on = self.reconnect(common, context)?;
                Ok(Next::End(if goes_on { Ended::Done } else { Ended::Over }))
            }
            Reaction::Ignore | Reaction::Retry => {
                if reaction == Reaction::Ignore {
                    self.tell_ignored(common, input, &error);
                }
                let goes_on = self.roll_back(common, context, input)?;
                Ok(if is_retried && goes_on && !context.is_over() {
                    Next::Again
                } else if is_retried {
                    context.recorder.cut_off(place);
                    Next::End(Ended::Over)
                } else {
                    Next::End(if goes_on { Ended::Done } else { Ended::Over })
                })
            }
        }
    }

    /// Ends the transaction in which an error came. False when the session was lost over it and the step
    /// was over before there was another one.
    fn roll_back(
        &mut self,
        common: &Common,
        context: &ClientContext<'_>,
        input: &Input,
    ) -> Result<bool, StepError> {
        match self.session.execute("ROLLBACK") {
            // The server may have ended the transaction by itself, and says so with an error.
            Ok(_) | Err(SessionError::Server { .. }) => Ok(true),
            // With its session the transaction is gone too.
            Err(error) if common.rules.reaction(&error) == Reaction::Reconnect => {
                self.reconnect(common, context)
            }
            Err(error) => Err(self.failure(input, error)),
        }
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
        let replaced = replacing.session(context, |session| common.prepare(session))?;
        let Some((session, runner)) = replaced else {
            return Ok(false);
        };
        (self.session, self.runner) = (session, runner);
        Ok(true)
    }

    /// Keeps in mind that nobody knows whether a transaction was committed that leaves a row, where its session
    /// was lost.
    fn note_unknown(&mut self, input: &Input) {
        let may_be_there = self.runner.may_be_committed();
        let transaction = input.transaction();
        let is_order = transaction == TpccTransaction::NewOrder;
        let is_payment = transaction == TpccTransaction::Payment;
        self.tally.unknown += u64::from(is_order && may_be_there);
        self.tally.receipts.unknown += u64::from((is_order || is_payment) && may_be_there);
    }

    /// What the rules ignore without being told to is a duplicate key. No transaction may make one: two had
    /// the same order number.
    fn tell_ignored(&self, common: &Common, input: &Input, error: &SessionError) {
        if !common.rules.is_of_plan(error) {
            common
                .answers
                .add(|| format!("{}: {error}", self.at(input)));
        }
    }

    fn failure(&self, input: &Input, source: SessionError) -> StepError {
        StepError::Session {
            client: self.at(input),
            source,
        }
    }

    /// This terminal in a transaction, for messages.
    fn at(&self, input: &Input) -> String {
        format!("{}, in `{}`", self.name, input.transaction().name())
    }
}
