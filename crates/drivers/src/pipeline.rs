//! How answers are read: what is done with their rows, and several that are awaited at once.

use crate::{Done, Execution, Result, Row, SessionError, StatementId};

/// Most bytes of requests that are sent before their answers are read. A server whose answers nobody reads
/// stops reading requests; both sides would then wait in a write. The socket buffers of both hold this much
/// in any case (TCP begins with 16 KB at the sender and 64 KB at the receiver), so our write ends.
pub(crate) const MOST_AHEAD: usize = 32 << 10;

/// The statement with this id; `code` is that of the error where none was prepared.
#[inline]
pub(crate) fn find<'a, S>(
    statements: &'a mut [S],
    id: StatementId,
    code: &str,
) -> Result<&'a mut S> {
    statements.get_mut(id.0 as usize).ok_or_else(|| unknown(id, code))
}

#[cold]
fn unknown(StatementId(id): StatementId, code: &str) -> SessionError {
    SessionError::server(code, format!("no statement {id} was prepared in this session"))
}

/// A session that can send several requests at once.
pub(crate) trait Pipelined {
    /// Sends as many executions as go at once, at least the first; how many. Later errors are left for later.
    fn send_ahead(&mut self, batch: &[Execution<'_>]) -> Result<usize>;

    /// Begins the answer to the next of several executions, which has the whole timeout.
    fn begin_answer(&mut self) -> Result;

    fn read_answer(&mut self, statement: StatementId, visit: impl Visit) -> Result<Done>;

    /// See [`crate::Session::execute_pipelined`]. What was sent with a failing statement runs all the same.
    fn run_ahead(
        &mut self,
        batch: &[Execution<'_>],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result {
        let mut first = 0;
        while let Some(rest @ [_, ..]) = batch.get(first..) {
            let sent = self.send_ahead(rest)?;
            let mut failed = None;
            for (index, (statement, _)) in (first..).zip(rest.iter().take(sent)) {
                if sent > 1 {
                    self.begin_answer()?;
                }
                let mut show = |row: &dyn Row| each(index, row);
                let answer = match failed {
                    None => self.read_answer(*statement, Each(&mut show)),
                    Some(_) => self.read_answer(*statement, Counted),
                };
                match answer {
                    Ok(answer) if failed.is_none() => done(index, answer),
                    Ok(_) => {}
                    Err(error @ SessionError::Server { .. }) => {
                        failed.get_or_insert(error);
                    }
                    // Nothing more will be answered.
                    Err(error) => return Err(error),
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            first += sent;
        }
        Ok(())
    }
}

/// What is done with the rows of an answer: the readers of both protocols are compiled once for each, so
/// that rows that are only counted cost no call and no place to decode into.
pub(crate) trait Visit {
    /// Does it look at them? Otherwise they are only counted.
    const LOOKS: bool;

    /// A row; called only where it looks.
    fn show(&mut self, row: &dyn Row);
}

pub(crate) struct Each<'a>(pub(crate) &'a mut dyn FnMut(&dyn Row));

impl Visit for Each<'_> {
    const LOOKS: bool = true;

    #[inline]
    fn show(&mut self, row: &dyn Row) {
        (self.0)(row);
    }
}

pub(crate) struct Counted;

impl Visit for Counted {
    const LOOKS: bool = false;

    #[inline]
    fn show(&mut self, _: &dyn Row) {}
}
