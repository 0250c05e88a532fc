//! What a client does when an operation ends in an error: gives it up, repeats it, connects again.

use std::sync::Arc;
use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::{Dialect, ErrorRules, Nanos};

use crate::errors::{Reaction, Rules};
use crate::outages::{Outages, Refused, reconnect};
use crate::{ClientContext, Result, StepError};

/// The pause before another attempt where the server lets a client in and cuts it off again.
const PAUSE: Nanos = Nanos::from_millis(100);

/// What the clients of a step share to go on after errors.
pub struct Recovery {
    pub rules: Rules,
    pub outages: Outages,
    pub connector: Arc<dyn Connector>,
    /// How long a client that lost its connection tries to connect again.
    patience: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Again,
    GivenUp,
    /// The step was over before it succeeded.
    Over,
}

/// A client with the operation that ended in an error.
pub trait Recovering {
    /// What a session is made ready with.
    type Ready;

    fn session(&mut self) -> &mut dyn Session;

    /// The client, for messages, and with `is_exact` also where it is in its work.
    fn name(&self, is_exact: bool) -> String;

    fn prepare(&self, session: &mut dyn Session) -> Result<Self::Ready, Refused>;

    fn replace(&mut self, session: Box<dyn Session>, ready: Self::Ready);

    fn is_in_transaction(&self) -> bool;

    /// The connection was lost: nobody knows whether the server still did what it was sent last.
    fn lost(&mut self);

    /// The operation is given up as the rules say.
    fn ignored(&mut self, error: &SessionError);
}

impl Recovery {
    /// By sessions of `connector`, with the plan's rules.
    pub fn new(errors: &ErrorRules, dialect: Dialect, connector: &Arc<dyn Connector>) -> Self {
        Self {
            rules: Rules::new(errors, dialect),
            outages: Outages::default(),
            connector: Arc::clone(connector),
            patience: Duration::from_secs(u64::from(errors.reconnect_seconds)),
        }
    }

    /// Another session in place of one that was lost; `None` when the step was over before.
    pub fn session(
        &self,
        context: &ClientContext<'_>,
    ) -> Result<Option<Box<dyn Session>>, SessionError> {
        reconnect(&*self.connector, self.patience, context)
    }

    /// Does what an error asks for, that of try number `tries` of an operation of this kind.
    #[cold]
    pub fn react(
        &self,
        client: &mut impl Recovering,
        context: &mut ClientContext<'_>,
        (kind, tries): (usize, u32),
        error: SessionError,
    ) -> Result<Next> {
        let reaction = self.rules.reaction(&error);
        let is_retried = reaction == Reaction::Retry;
        context.recorder.failed(kind, error.code(), is_retried);
        let given_up = |goes_on| if goes_on { Next::GivenUp } else { Next::Over };
        match reaction {
            Reaction::Retry if tries >= self.rules.tries() => {
                Err(StepError::TooManyRetries { client: let_go(client), tries, source: error })
            }
            Reaction::Fail => Err(StepError::Session { client: let_go(client), source: error }),
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
    fn roll_back(&self, client: &mut impl Recovering, context: &ClientContext<'_>) -> Result<bool> {
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

    /// Opens another session for one that was lost, and makes it ready. False when the step was over before.
    fn reconnect(&self, client: &mut impl Recovering, context: &ClientContext<'_>) -> Result<bool> {
        let clock = context.recorder.clock();
        let lost_at = clock.now();
        loop {
            let gone = Duration::from(clock.now().saturating_sub(lost_at));
            let left = self.patience.saturating_sub(gone);
            let session = reconnect(&*self.connector, left, context).map_err(|source| {
                let client = format!("{}, connecting again", client.name(false));
                StepError::Session { client, source }
            })?;
            let Some(mut session) = session else {
                self.outages.add((1, clock.now().saturating_sub(lost_at)));
                return Ok(false);
            };
            match client.prepare(&mut *session) {
                Ok(ready) => {
                    self.outages.add((1, clock.now().saturating_sub(lost_at)));
                    client.replace(session, ready);
                    return Ok(true);
                }
                // It went away once more.
                Err(refused)
                    if self.rules.reaction(&refused.source) == Reaction::Reconnect
                        && !left.is_zero() =>
                {
                    context.wait_until(clock.now() + PAUSE);
                }
                Err(refused) => return Err(refused.of(&client.name(false))),
            }
        }
    }
}

/// Ends the transaction in which a client fails: sessions are closed when all clients have ended, and the
/// others would wait for its locks until then. Returns the client's name for the message.
fn let_go(client: &mut impl Recovering) -> String {
    if client.is_in_transaction() {
        // Where this fails the session is lost, and the transaction with it.
        let _ = client.session().execute("ROLLBACK");
    }
    client.name(true)
}
