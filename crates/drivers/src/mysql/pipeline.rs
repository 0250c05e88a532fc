//! Prepared statements that are sent before the first of their answers is read.

use super::packets::Packets;
use super::results::Results;
use super::session::{read_answer, unknown_statement};
use super::statement::Statement;
use crate::visit::Each;
use crate::{Done, Param, Row, SessionError, StatementId};

/// An execution: which statement, and its parameters.
type Execution<'a> = (StatementId, &'a [Param<'a>]);

/// The parts of a session that a batch needs.
pub(super) struct Pipeline<'a> {
    pub(super) packets: &'a mut Packets,
    pub(super) results: &'a mut Results,
    pub(super) statements: &'a mut [Statement],
}

impl Pipeline<'_> {
    /// See [`crate::Session::execute_pipelined`]. What does not fit into the buffers on the way is sent
    /// when the answers to what did fit were read.
    pub(super) fn execute(
        &mut self,
        batch: &[Execution<'_>],
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result<(), SessionError> {
        let mut first = 0;
        while let Some(rest @ [_, ..]) = batch.get(first..) {
            let sent = self.send(rest)?;
            let answered = rest.get(..sent).unwrap_or(rest);
            self.read(answered, first, each, done)?;
            first += sent;
        }
        Ok(())
    }

    /// Sends as many executions as go at once; returns how many.
    fn send(&mut self, batch: &[Execution<'_>]) -> Result<usize, SessionError> {
        let statements = &*self.statements;
        let find = |index: usize| {
            let (id, params) = batch.get(index)?;
            Some((*id, statements.get(id.0 as usize), *params))
        };
        let sent = self
            .packets
            .send_ahead(batch.len(), |index, out| match find(index) {
                Some((_, Some(statement), params)) => statement.put(out, params),
                Some((id, None, _)) => Err(unknown_statement(id)),
                None => Ok(()),
            });
        sent.map_err(|error| match find(0) {
            Some((_, Some(statement), _)) => error.about(&statement.sql),
            _ => error,
        })
    }

    /// Reads the answers to `batch`, whose indices begin at `first`. Those after an error are dropped.
    fn read(
        &mut self,
        batch: &[Execution<'_>],
        first: usize,
        each: &mut dyn FnMut(usize, &dyn Row),
        done: &mut dyn FnMut(usize, Done),
    ) -> Result<(), SessionError> {
        let mut failed = None;
        for (index, (id, _)) in (first..).zip(batch) {
            let Some(statement) = self.statements.get_mut(id.0 as usize) else {
                return Err(unknown_statement(*id));
            };
            if batch.len() > 1 {
                self.packets.begin_answer()?;
            }
            let heard = failed.is_none();
            let answer = read_answer(
                self.packets,
                self.results,
                statement,
                Each(&mut |row| {
                    if heard {
                        each(index, row);
                    }
                }),
            );
            match answer {
                Ok(answer) if heard => done(index, answer),
                Ok(_) => {}
                Err(error @ SessionError::Server { .. }) => {
                    failed.get_or_insert(error);
                }
                // Nothing more will be answered.
                Err(error) => return Err(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
