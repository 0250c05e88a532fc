//! Several prepared statements in one send.

use super::answer::{self, Columns};
use super::statement::Prepared;
use super::wire::Wire;
use super::{fault, settle};
use crate::visit::Each;
use crate::{Done, Param, Row, SessionError, StatementId};

/// Bytes of requests that are sent before their answers are read. A server whose answers nobody reads
/// stops reading requests; both sides would then wait in a write. The socket buffers of both hold
/// this much in any case (TCP begins with 16 KB at the sender and 64 KB at the receiver), so that our
/// write ends whatever the server does.
const PORTION: usize = 32 << 10;

/// The parts of a session that a pipeline needs.
pub(super) struct Pipeline<'a> {
    pub(super) wire: &'a mut Wire,
    pub(super) statements: &'a mut [Prepared],
    /// The requests of one portion.
    pub(super) request: &'a mut Vec<u8>,
}

/// What [`crate::Session::execute_pipelined`] is given.
type Batch<'a, 'p> = [(StatementId, &'a [Param<'p>])];

impl Pipeline<'_> {
    /// Runs the statements, portion by portion.
    pub(super) fn run(
        &mut self,
        batch: &Batch<'_, '_>,
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result<(), SessionError> {
        let mut first = 0;
        while first < batch.len() {
            let (end, refused) = self.collect(batch, first);
            if first < end {
                self.send()
                    .map_err(|error| self.settle(batch, first, error))?;
            }
            for index in first..end {
                let answer = self
                    .answer(batch, index, &mut |row| each(index, row))
                    .map_err(|error| self.give_up(batch, index, end, error))?;
                done(index, answer);
            }
            if let Some(error) = refused {
                return Err(error);
            }
            first = end;
        }
        Ok(())
    }

    /// Collects the requests of the statements from `first` on: as many as make a portion, at least
    /// one. Returns where the portion ends, and the error of the statement that ended it because it
    /// cannot be sent; those before it are run first.
    fn collect(&mut self, batch: &Batch<'_, '_>, first: usize) -> (usize, Option<SessionError>) {
        self.request.clear();
        for (index, (id, params)) in batch.iter().enumerate().skip(first) {
            let Some(prepared) = self.statements.get_mut(id.0 as usize) else {
                return (index, Some(fault::unknown_statement(*id)));
            };
            if let Err(error) = prepared.encode(params) {
                return (index, Some(error.about(&prepared.sql)));
            }
            let request = prepared.request();
            if index > first && self.request.len() + request.len() > PORTION {
                return (index, None);
            }
            self.request.extend_from_slice(request);
        }
        (batch.len(), None)
    }

    fn send(&mut self) -> Result<(), SessionError> {
        self.wire.send(self.request)
    }

    /// Reads the answer to one statement. Each has the whole timeout, as it would by itself.
    fn answer(
        &mut self,
        batch: &Batch<'_, '_>,
        index: usize,
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        self.wire.begin_answer()?;
        let columns = prepared(self.statements, batch, index)
            .map_or(Columns::Prepared(&[]), Prepared::columns);
        answer::read(self.wire, columns, Each(each))
    }

    /// After an error of the statement `index`: reads and drops the answers of those up to `end`. An
    /// end of the session on the way is what the caller must know of instead.
    fn give_up(
        &mut self,
        batch: &Batch<'_, '_>,
        index: usize,
        end: usize,
        error: SessionError,
    ) -> SessionError {
        let mut outcome = error;
        if matches!(outcome, SessionError::Server { .. }) {
            let skipped = (index + 1..end).try_for_each(|_| {
                self.wire.begin_answer()?;
                answer::skip(self.wire, true)
            });
            if let Err(end_of_session) = skipped {
                outcome = end_of_session;
            }
        }
        self.settle(batch, index, outcome)
    }

    fn settle(&mut self, batch: &Batch<'_, '_>, index: usize, error: SessionError) -> SessionError {
        let sql = prepared(self.statements, batch, index)
            .map(|prepared| prepared.sql.as_str())
            .unwrap_or_default();
        settle(self.wire, error, sql)
    }
}

/// The statement that the batch runs at `index`.
fn prepared<'a>(
    statements: &'a [Prepared],
    batch: &Batch<'_, '_>,
    index: usize,
) -> Option<&'a Prepared> {
    let (id, _) = batch.get(index)?;
    statements.get(id.0 as usize)
}
