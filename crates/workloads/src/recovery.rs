//! What a client does when an operation ends in an error: gives it up, repeats it, connects again.

use std::sync::Arc;
use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::ErrorRules;

use load::errors::{Reaction, Rules};
use load::outages::{Outages, Refused, Replacing, let_go};
use load::{ClientContext, StepError, Target};

/// What the clients of a step share to go on after errors.
pub(crate) struct Recovery {
    pub(crate) rules: Rules,
    pub(crate) outages: Outages,
    pub(crate) connector: Arc<dyn Connector>,
    reconnect_for: Duration,
}

/// What follows on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The operation is repeated.
    Again,
    /// It is given up and counted.
    GivenUp,
    /// The step was over before it succeeded.
    Over,
}

/// A client with the operation that ended in an error.
pub(crate) trait Recovering {
    /// What a session is made ready with.
    type Ready;

    fn session(&mut self) -> &mut dyn Session;

    /// The client, for messages, and with `is_exact` also where it is in its work.
    fn name(&self, is_exact: bool) -> String;

    fn prepare(&self, session: &mut dyn Session) -> Result<Self::Ready, Refused>;

    fn replace(&mut self, session: Box<dyn Session>, ready: Self::Ready);

    /// May a transaction be open?
    fn is_in_transaction(&self) -> bool;

    /// The connection was lost: nobody knows whether the server still did what it was sent last.
    fn lost(&mut self);

    /// The operation is given up as the rules say.
    fn ignored(&mut self, error: &SessionError);
}

impl Recovery {
    pub(crate) fn new(errors: &ErrorRules, target: &Target) -> Self {
        Self {
            rules: Rules::new(errors, target.dialect),
            outages: Outages::default(),
            connector: Arc::clone(&target.connector),
            reconnect_for: Duration::from_secs(u64::from(errors.reconnect_seconds)),
        }
    }

    /// Does what an error asks for, that of try number `tries` of an operation of this kind.
    #[cold]
    pub(crate) fn react(
        &self,
        client: &mut impl Recovering,
        context: &mut ClientContext<'_>,
        (kind, tries): (usize, u32),
        error: SessionError,
    ) -> Result<Next, StepError> {
        let reaction = self.rules.reaction(&error);
        let is_retried = reaction == Reaction::Retry;
        context.recorder.failed(kind, error.code(), is_retried);
        let given_up = |goes_on| if goes_on { Next::GivenUp } else { Next::Over };
        match reaction {
            Reaction::Retry if tries >= self.rules.tries() => {
                let name = client.name(true);
                release(client);
                Err(StepError::TooManyRetries { client: name, tries, source: error })
            }
            Reaction::Fail => {
                let name = client.name(true);
                release(client);
                Err(StepError::Session { client: name, source: error })
            }
            Reaction::Reconnect => {
                client.lost();
                Ok(given_up(self.reconnect(client, context)?))
            }
            Reaction::Ignore => {
                client.ignored(&error);
                Ok(given_up(self.roll_back(client, context)?))
            }
            Reaction::Retry if self.roll_back(client, context)? && !context.is_over() => {
                Ok(Next::Again)
            }
            Reaction::Retry => {
                context.recorder.cut_off(kind);
                Ok(Next::Over)
            }
        }
    }

    /// Ends the transaction in which an error came. False when the session was lost over it and the step
    /// was over before there was another one.
    fn roll_back(
        &self,
        client: &mut impl Recovering,
        context: &ClientContext<'_>,
    ) -> Result<bool, StepError> {
        if !client.is_in_transaction() {
            return Ok(true);
        }
        match client.session().execute("ROLLBACK") {
            // The server may have ended the transaction by itself, and says so with an error.
            Ok(_) | Err(SessionError::Server { .. }) => Ok(true),
            // With its session the transaction is gone too.
            Err(error) if self.rules.reaction(&error) == Reaction::Reconnect => {
                self.reconnect(client, context)
            }
            Err(source) => Err(StepError::Session { client: client.name(true), source }),
        }
    }

    /// Opens another session in place of one that was lost. False when the step was over before.
    fn reconnect(
        &self,
        client: &mut impl Recovering,
        context: &ClientContext<'_>,
    ) -> Result<bool, StepError> {
        let replacing = Replacing {
            connector: &*self.connector,
            rules: &self.rules,
            outages: &self.outages,
            limit: self.reconnect_for,
            client: &client.name(false),
        };
        let replaced = replacing.session(context, |session| client.prepare(session))?;
        let Some((session, ready)) = replaced else {
            return Ok(false);
        };
        client.replace(session, ready);
        Ok(true)
    }
}

fn release(client: &mut impl Recovering) {
    if client.is_in_transaction() {
        let_go(client.session());
    }
}
