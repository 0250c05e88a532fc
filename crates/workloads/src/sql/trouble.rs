//! What an error means to a client that runs operations.

use drivers::{Session, SessionError};

use super::client::{Ended, Own, Progress};
use super::compile::Operation;
use super::run::Common;
use super::statements::Ids;
use crate::recovery::{Next, Recovering};
use load::outages::Refused;
use load::{ClientContext, StepError};

/// A client with the operation that ended in an error, and how far it came.
struct Failed<'a> {
    own: &'a mut Own,
    common: &'a Common,
    operation: &'a Operation,
    /// The sending that failed.
    at: usize,
}

impl Own {
    /// Does what an error asks for; the end of the operation, `None` where it is tried again.
    #[cold]
    pub(super) fn react(
        &mut self,
        common: &Common,
        operation: &Operation,
        context: &mut ClientContext<'_>,
        progress: &mut Progress,
        error: SessionError,
    ) -> Result<Option<Ended>, StepError> {
        self.changes.clear();
        let place = (operation.kind, progress.tries);
        let mut failed = Failed { own: self, common, operation, at: progress.next };
        match common.recovery.react(&mut failed, context, place, error)? {
            Next::GivenUp => Ok(Some(Ended::Failed)),
            Next::Over => Ok(Some(Ended::Over)),
            Next::Again => {
                // Where each statement is a transaction of its own, those that succeeded stay.
                if operation.transaction || self.ids.is_pipelined(operation.index) {
                    progress.next = 0;
                    progress.rows = 0;
                }
                progress.last = context.recorder.clock().now();
                progress.tries += 1;
                Ok(None)
            }
        }
    }
}

impl Recovering for Failed<'_> {
    type Ready = Ids;

    fn session(&mut self) -> &mut dyn Session {
        &mut *self.own.session
    }

    fn name(&self, is_exact: bool) -> String {
        let (name, operation) = (&self.own.name, self.operation);
        if !is_exact {
            return name.clone();
        }
        let is_one = operation.sends.len() < 2 || self.own.ids.is_pipelined(operation.index);
        match operation.sends.get(self.at) {
            Some(sending) if !is_one => {
                let statement = &self.common.program.statements[sending.statement];
                format!("{name}, at `{}` of `{}`", statement.name, operation.name)
            }
            Some(_) | None => format!("{name}, at `{}`", operation.name),
        }
    }

    fn prepare(&self, session: &mut dyn Session) -> Result<Ids, Refused> {
        self.common.prepare(self.own.number, session)
    }

    fn replace(&mut self, session: Box<dyn Session>, ids: Ids) {
        (self.own.session, self.own.ids) = (session, ids);
    }

    fn is_in_transaction(&self) -> bool {
        self.operation.transaction
    }

    fn lost(&mut self) {
        if self.operation.writes {
            self.common.counts.forget();
        }
    }

    fn ignored(&mut self, _: &SessionError) {}
}
