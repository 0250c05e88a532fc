//! Sessions that are made ready for a client: what they could not prepare, and another one in place of one
//! that was lost.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use drivers::{Connector, Session, SessionError};
use model::Nanos;

use crate::errors::{Reaction, Rules};
use crate::reconnect::reconnect;
use crate::{ClientContext, StepError};

/// The pause before another attempt where the server lets a client in and cuts it off again.
const PAUSE: Nanos = Nanos::from_millis(100);

/// A statement that could not be prepared.
#[derive(Debug)]
pub struct Refused {
    pub statement: String,
    pub source: SessionError,
}

impl Refused {
    pub fn of(self, client: &str) -> StepError {
        StepError::Session {
            client: format!("{client}, preparing `{}`", self.statement),
            source: self.source,
        }
    }
}

/// Ends the transaction in which a client fails: sessions are closed when all clients have ended, and the
/// others would wait for its locks until then.
pub fn let_go(session: &mut dyn Session) {
    // Where this fails the session is lost, and the transaction with it.
    let _ = session.execute("ROLLBACK");
}

/// Connections that were lost and opened again.
#[derive(Debug, Default)]
pub struct Outages(Mutex<Outage>);

#[derive(Clone, Copy, Debug, Default)]
struct Outage {
    lost: u64,
    longest: Nanos,
}

impl Outages {
    fn add(&self, gap: Nanos) {
        let mut outage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outage.lost += 1;
        outage.longest = outage.longest.max(gap);
    }

    /// What happened, in words; `None` where nothing did.
    pub fn told(&self) -> Option<String> {
        let outage = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Outage { lost, longest } = outage;
        (lost > 0).then(|| format!("{lost}; the longest was away for {longest}"))
    }
}

/// What it takes to open another session.
#[derive(Clone, Copy)]
pub struct Replacing<'a> {
    pub connector: &'a dyn Connector,
    pub rules: &'a Rules,
    pub outages: &'a Outages,
    pub limit: Duration,
    pub client: &'a str,
}

/// Another session, and what it was made ready with.
pub type Replaced<T> = (Box<dyn Session>, T);

impl Replacing<'_> {
    /// Opens another session in place of one that was lost, and lets `prepare` make it ready. `None` when
    /// the step was over before.
    pub fn session<T>(
        &self,
        context: &ClientContext<'_>,
        mut prepare: impl FnMut(&mut dyn Session) -> Result<T, Refused>,
    ) -> Result<Option<Replaced<T>>, StepError> {
        let clock = context.recorder.clock();
        let lost_at = clock.now();
        loop {
            let gone = Duration::from(clock.now().saturating_sub(lost_at));
            let left = self.limit.saturating_sub(gone);
            let session = reconnect(self.connector, left, context).map_err(|source| {
                let client = format!("{}, connecting again", self.client);
                StepError::Session { client, source }
            })?;
            let Some(mut session) = session else {
                self.outages.add(clock.now().saturating_sub(lost_at));
                return Ok(None);
            };
            match prepare(&mut *session) {
                Ok(prepared) => {
                    self.outages.add(clock.now().saturating_sub(lost_at));
                    return Ok(Some((session, prepared)));
                }
                // It went away once more.
                Err(refused)
                    if self.rules.reaction(&refused.source) == Reaction::Reconnect
                        && !left.is_zero() =>
                {
                    context.wait_until(clock.now() + PAUSE);
                }
                Err(refused) => return Err(refused.of(self.client)),
            }
        }
    }
}
